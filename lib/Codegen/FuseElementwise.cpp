//===- FuseElementwise.cpp - chains of elementwise operations become one --===//
#include "ApproximateMath.h"
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"
#include "Conversions.h"
#include "ProductSums.h"
#include "QuantisedBodies.h"
#include "RowTiles.h"
#include "UnknownReshapes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace strata {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

/// Whether each index counts as a loop does, or stays in all iterations, where the tensor turns out to have one element
/// along it.
static bool isBroadcast(tensor::ExtractOp element) {
  return llvm::all_of(element.getIndices(), [&](Value index) {
    if (auto choice = index.getDefiningOp<arith::SelectOp>()) {
      bool stays = choice.getCondition().getParentBlock() != element->getBlock();
      index = stays && matchPattern(choice.getTrueValue(), m_Zero()) ? choice.getFalseValue() : Value();
    }
    return index && (index.getDefiningOp<linalg::IndexOp>() || matchPattern(index, m_Zero()));
  });
}

bool strata::isIrregular(linalg::GenericOp op) {
  return llvm::any_of(op.getBody()->without_terminator(), [](Operation &inner) {
    if (auto element = dyn_cast<tensor::ExtractOp>(inner))
      return !isBroadcast(element);
    return inner.getNumRegions() || !isMemoryEffectFree(&inner);
  });
}

/// Every loop by its own dimension of the operand: nothing is computed twice.
static bool readsEachElementOnce(linalg::GenericOp op, OpOperand *operand) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  if (!map.isProjectedPermutation())
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
    if (!map.isFunctionOfDim(loop) && ranges[loop] != 1)
      return false;
  return true;
}

/// Whether a product would no longer end in its columns: dimensions of 1 behind them would take their place, and parts
/// of them would be packed one by one, with vectors of their own. Columns of tensors that are contiguous either way are
/// one loop again in the end, those of packed weights are not: of constant ones, and of those that are read in groups.
static bool hidesColumns(tensor::ExpandShapeOp expand, linalg::GenericOp product, bool packsWeights) {
  if (!strata::matchProductSum(product) || !expand.getSrcType().getRank())
    return false;
  auto endsInOne = [](RankedTensorType type) { return type.getRank() && type.getShape().back() == 1; };
  if (endsInOne(expand.getResultType()))
    return !endsInOne(expand.getSrcType());
  ArrayRef<int64_t> shape = expand.getResultType().getShape();
  bool splits =
      llvm::count_if(expand.getReassociationIndices().back(), [&](int64_t dim) { return shape[dim] != 1; }) > 1;
  if (!packsWeights || !splits || ShapedType::isDynamic(shape.back()))
    return false;
  return llvm::any_of(ArrayRef({0u, 1u}), [&](unsigned weights) {
    Value packed = product.getDpsInputs()[weights];
    return strata::getLaneOf(product, weights) &&
           (getElementTypeOrSelf(packed).getIntOrFloatBitWidth() < 32 || !strata::elementsBehind(packed).first.empty());
  });
}

static bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || strata::isIrregular(producer) || strata::isIrregular(consumer))
    return false;
  // Not into reductions, which round products and sums at once: a random number
  // is the same wherever it is computed.
  if (producer.hasIndexSemantics() && consumer.getNumReductionLoops() > 0)
    return false;
  // Spreading a value that needs no computation costs nothing, wherever.
  bool trivial = producer.getBody()->getOperations().size() == 1;
  bool contracts = consumer.getNumReductionLoops() > 0 && consumer.getNumDpsInputs() > 1;
  if (contracts)
    return false;
  if (!readsEachElementOnce(consumer, operand))
    return trivial && consumer.getNumReductionLoops() == 0;
  return producer->hasOneUse() && !strata::finishesSums(producer, consumer);
}

linalg::GenericOp strata::mapElements(OpBuilder &b, Location loc, Value tensor, Type element,
                                      function_ref<Value(OpBuilder &, Value)> of, AffineMap read) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  if (!read)
    read = identity;
  // To ask the tensor for its sizes would be a use of it, which fusion would keep it for.
  auto maker = tensor.getDefiningOp<linalg::GenericOp>();
  auto into = maker ? strata::emptyBehind(maker.getTiedOpOperand(cast<OpResult>(tensor))->get()) : nullptr;
  SmallVector<OpFoldResult> sizes(rank);
  for (auto [i, size] : llvm::enumerate(into ? into.getMixedSizes() : tensor::getMixedSizes(b, loc, tensor)))
    sizes[read.getDimPosition(i)] = size;
  Value empty = b.create<tensor::EmptyOp>(loc, sizes, element);
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  return b.create<linalg::GenericOp>(
      loc, empty.getType(), tensor, empty, ArrayRef{read, identity}, kinds,
      [&](OpBuilder &b, Location loc, ValueRange arguments) { b.create<linalg::YieldOp>(loc, of(b, arguments[0])); });
}

bool strata::isConversion(linalg::GenericOp op) {
  auto isWidening = [](Operation &op) {
    Type type = op.getResult(0).getType();
    return isa<arith::ExtUIOp, arith::ExtSIOp>(op) ? type.isInteger(16) : isa<arith::ExtFOp>(op) && type.isF32();
  };
  return op.hasPureTensorSemantics() && op.getNumDpsInputs() == 1 && op.getNumDpsInits() == 1 &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }) &&
         op.getBody()->getOperations().size() == 2 &&
         (isa<arith::TruncFOp>(op.getBody()->front()) || isWidening(op.getBody()->front()));
}

linalg::GenericOp strata::fuseWithMaker(OpOperand &use) {
  if (!linalg::areElementwiseOpsFusable(&use))
    return nullptr;
  Operation *reader = use.getOwner(), *maker = use.get().getDefiningOp();
  IRRewriter rewriter(reader);
  FailureOr<linalg::ElementwiseOpFusionResult> fused = linalg::fuseElementwiseOps(rewriter, &use);
  if (failed(fused))
    return nullptr;
  for (auto [before, after] : fused->replacements)
    before.replaceAllUsesWith(after);
  reader->erase();
  if (maker->use_empty())
    maker->erase();
  return cast<linalg::GenericOp>(fused->fusedOp);
}

void strata::joinWithProducer(linalg::GenericOp conversion) {
  auto result = dyn_cast<OpResult>(conversion.getDpsInputs()[0]);
  auto producer = result ? dyn_cast<linalg::GenericOp>(result.getOwner()) : nullptr;
  if (!producer || producer.getNumReductionLoops() || strata::isIrregular(producer) ||
      producer->getBlock() != conversion->getBlock())
    return;
  OpBuilder b(producer);
  Location loc = conversion.getLoc();
  Type element = getElementTypeOrSelf(conversion.getType(0));
  SmallVector<Value> inits(producer.getDpsInits());
  inits.push_back(
      b.create<tensor::EmptyOp>(loc, tensor::getMixedSizes(b, loc, inits[result.getResultNumber()]), element));
  SmallVector<AffineMap> maps = producer.getIndexingMapsArray();
  maps.push_back(producer.getIndexingMapMatchingResult(result));
  auto joined = b.create<linalg::GenericOp>(producer.getLoc(), ValueRange(inits).getTypes(), producer.getDpsInputs(),
                                            inits, maps, producer.getIteratorTypesArray());
  joined.getRegion().takeBody(producer.getRegion());
  joined.getBody()->addArgument(element, loc);
  Operation *yield = joined.getBody()->getTerminator();
  b.setInsertionPoint(yield);
  IRMapping mapping;
  mapping.map(conversion.getBody()->getArgument(0), yield->getOperand(result.getResultNumber()));
  yield->insertOperands(yield->getNumOperands(), b.clone(conversion.getBody()->front(), mapping)->getResult(0));
  conversion.getResult(0).replaceAllUsesWith(joined->getResults().back());
  conversion.erase();
  producer->replaceAllUsesWith(joined->getResults().drop_back());
  producer.erase();
}

namespace {
struct FuseElementwisePass : strata::impl::FuseElementwiseBase<FuseElementwisePass> {
  using FuseElementwiseBase::FuseElementwiseBase;

  void runOnOperation() override {
    fuse();
    strata::simplifyQuantisedBodies(getOperation());
    while (strata::keepQuantised(getOperation())) {
      fuse();
      strata::simplifyQuantisedBodies(getOperation());
    }
    SmallVector<linalg::GenericOp> conversions;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (strata::isConversion(op))
        conversions.push_back(op);
    });
    for (linalg::GenericOp conversion : conversions)
      strata::joinWithProducer(conversion);
  }

private:
  void fuse() {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    strata::populateConstantMathPatterns(patterns);
    // Reshapes between operations go behind or before the whole chain.
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [this](OpOperand *operand) {
      auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
      auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
      auto stays = [](linalg::GenericOp op) {
        return strata::isIrregular(op) || op.hasIndexSemantics(); // one loop, one number
      };
      auto expand = dyn_cast<tensor::ExpandShapeOp>(operand->getOwner());
      return !(consumer && stays(consumer)) &&
             !(producer &&
               (stays(producer) || !producer->hasOneUse() || (expand && hidesColumns(expand, producer, packsWeights))));
    });
    strata::populateUnknownReshapePatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
    tensor::DimOp::getCanonicalizationPatterns(patterns, context);
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
    GreedyRewriteConfig config;
    config.useTopDownTraversal = true;
    config.maxIterations = 20;
    (void)applyPatternsAndFoldGreedily(getOperation(), std::move(patterns), config);
  }
};
} // namespace
