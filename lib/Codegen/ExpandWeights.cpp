//===- ExpandWeights.cpp - weights of f32 for products that want such -----===//
//
// Units that multiply matrices take operands from memory, or many rows share what
// would be computed for each of them: there weights are dequantized once, when a
// model is loaded.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "ComputedWeights.h"
#include "ConstantExpressions.h"
#include "Conversions.h"
#include "NarrowWords.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace strata {
#define GEN_PASS_DEF_EXPANDWEIGHTS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using strata::ComputedWeights;

namespace {
struct ExpandWeightsPass : strata::impl::ExpandWeightsBase<ExpandWeightsPass> {
  using ExpandWeightsBase::ExpandWeightsBase;

  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    SmallVector<std::pair<linalg::GenericOp, ComputedWeights>> found;
    getOperation().walk([&](linalg::GenericOp op) {
      std::optional<ComputedWeights> weights =
          op.hasPureTensorSemantics() ? strata::matchComputedWeights(op) : std::nullopt;
      if (weights && weights->areConstant(op, constants) && llvm::all_of(weights->inputs, [&](BlockArgument input) {
            return strata::isPlain(op.getIndexingMapsArray()[input.getArgNumber()]);
          }))
        found.push_back({op, *weights});
    });
    for (auto &[op, weights] : found) {
      // Of all that weights are made of, what depends on most of the reduction is read least often.
      auto uses = llvm::map_range(weights.inputs, [&op = op](BlockArgument input) {
        return strata::getUses(op, op.getDpsInputOperand(input.getArgNumber()));
      });
      if (*std::min_element(uses.begin(), uses.end()) >= strata::kManyRows)
        expand(op, weights);
      else if (blockSums)
        sumBlocks(op, weights);
    }
  }

private:
  /// `value` of the body, which it makes of weights, for the loops that they depend on, as `element`s; and how the
  /// operation reads it.
  static std::pair<Value, AffineMap> made(linalg::GenericOp op, const ComputedWeights &weights, Value value,
                                          Type element);
  void expand(linalg::GenericOp op, const ComputedWeights &weights) const;
  static void sumBlocks(linalg::GenericOp op, const ComputedWeights &weights);
};
} // namespace

/// `sums` and the products of two operands.
static linalg::GenericOp multiply(OpBuilder &b, Location loc, ValueRange operands, Value sums, ArrayRef<AffineMap> maps,
                                  ArrayRef<utils::IteratorType> kinds) {
  return b.create<linalg::GenericOp>(loc, sums.getType(), operands, sums, maps, kinds, strata::buildProductSum);
}

std::pair<Value, AffineMap> ExpandWeightsPass::made(linalg::GenericOp op, const ComputedWeights &weights, Value value,
                                                    Type element) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), shape;
  // In the order of the input that depends on most of the loops, which is that of the integers.
  SmallVector<BlockArgument> inputs(weights.inputs);
  llvm::stable_sort(inputs, [&](BlockArgument x, BlockArgument y) {
    return maps[x.getArgNumber()].getNumResults() > maps[y.getArgNumber()].getNumResults();
  });
  SmallVector<AffineExpr> exprs, dims(op.getNumLoops()); // of the operation, and what becomes of them
  for (BlockArgument input : inputs)
    for (AffineExpr expr : maps[input.getArgNumber()].getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && !dims[dim.getPosition()]) {
        dims[dim.getPosition()] = b.getAffineDimExpr(exprs.size());
        shape.push_back(ranges[dim.getPosition()]);
        exprs.push_back(dim);
      }
  SmallVector<Value> operands;
  SmallVector<AffineMap> read;
  for (BlockArgument input : inputs) {
    operands.push_back(op.getDpsInputs()[input.getArgNumber()]);
    read.push_back(maps[input.getArgNumber()].replaceDimsAndSymbols(dims, {}, shape.size(), 0));
  }
  read.push_back(b.getMultiDimIdentityMap(shape.size()));
  SmallVector<utils::IteratorType> kinds(shape.size(), utils::IteratorType::parallel);
  Value empty = b.create<tensor::EmptyOp>(loc, shape, element);
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    IRMapping mapping;
    mapping.map(ArrayRef<BlockArgument>(inputs), args.take_front(inputs.size()));
    for (Operation *inner : weights.operations) {
      b.clone(*inner, mapping);
      if (inner->getResult(0) == value)
        break;
    }
    Value result = mapping.lookup(value);
    if (result.getType() != element)
      result = isa<FloatType>(element) ? b.create<arith::TruncFOp>(loc, element, result).getResult()
                                       : b.create<arith::TruncIOp>(loc, element, result).getResult();
    b.create<linalg::YieldOp>(loc, result);
  };
  auto maker = b.create<linalg::GenericOp>(loc, empty.getType(), operands, empty, read, kinds, body);
  return {maker.getResult(0), AffineMap::get(op.getNumLoops(), 0, exprs, b.getContext())};
}

/// What the data of a product was before it was extended from halves, if the sums are rounded to such again: then the
/// product is that of an operator of halves, whose weights are halves as well.
static Value halvesOf(linalg::GenericOp product, Value data) {
  auto conversion = data.getDefiningOp<linalg::GenericOp>();
  if (!conversion || !strata::isConversion(conversion) || !llvm::all_equal(conversion.getIndexingMapsArray()))
    return {};
  Value halves = conversion.getDpsInputs()[0];
  Type element = getElementTypeOrSelf(halves);
  bool isRounded = llvm::all_of(product->getUsers(), [&](Operation *user) {
    return isa<linalg::GenericOp>(user) && getElementTypeOrSelf(user->getResult(0)) == element;
  });
  return isRounded && isa<Float16Type, BFloat16Type>(element) ? halves : Value();
}

void ExpandWeightsPass::expand(linalg::GenericOp op, const ComputedWeights &weights) const {
  OpBuilder b(op);
  Value data = op.getDpsInputs()[weights.data];
  if (Value halves = blockSums ? halvesOf(op, data) : Value())
    data = halves;
  auto [w, map] = made(op, weights, weights.value, getElementTypeOrSelf(data));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto product = multiply(b, op.getLoc(), {data, w}, op.getDpsInits()[0], {maps[weights.data], map, maps.back()},
                          op.getIteratorTypesArray());
  op->replaceAllUsesWith(product);
  op.erase();
}

/// Where the last thing that the body does with the weights is to scale them by blocks of the reduction.
void ExpandWeightsPass::sumBlocks(linalg::GenericOp op, const ComputedWeights &weights) {
  auto scaled = weights.value.getDefiningOp<arith::MulFOp>();
  auto real = scaled ? scaled.getLhs().getDefiningOp<arith::SIToFPOp>() : nullptr;
  auto scale = scaled ? dyn_cast<BlockArgument>(scaled.getRhs()) : BlockArgument();
  if (!real || !scale)
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  // Bytes as they are, or differences in as many bits as hold them.
  Value integer = real.getIn(), w;
  AffineMap map;
  auto extension = integer.getDefiningOp<arith::ExtSIOp>();
  auto byte = extension ? dyn_cast<BlockArgument>(extension.getIn()) : BlockArgument();
  if (byte) {
    w = op.getDpsInputs()[byte.getArgNumber()];
    map = maps[byte.getArgNumber()];
  } else {
    std::optional<strata::NarrowCodes> codes = strata::matchNarrowCodes(op);
    ComputedWeights integers = weights;
    llvm::erase(integers.inputs, scale);
    std::tie(w, map) = made(op, integers, integer, b.getIntegerType(codes && codes->bits == 4 ? 8 : 16));
  }
  // The blocks are loops over the results of the first product.
  SmallVector<AffineExpr> all(maps.back().getResults());
  SmallVector<unsigned> blocks;
  for (auto [dim, kind] : llvm::enumerate(kinds))
    if (kind == utils::IteratorType::reduction && maps[scale.getArgNumber()].isFunctionOfDim(dim))
      blocks.push_back(dim);
  for (unsigned block : blocks)
    all.insert(all.end() - 1, b.getAffineDimExpr(block));
  SmallVector<OpFoldResult> sizes;
  SmallVector<Range> ranges = cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(b, loc);
  for (AffineExpr expr : all)
    sizes.push_back(ranges[cast<AffineDimExpr>(expr).getPosition()].size);
  Value empty = b.create<tensor::EmptyOp>(loc, sizes, b.getF32Type());
  Value none = b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(0));
  Value start = b.create<linalg::FillOp>(loc, none, empty).getResult(0);
  for (unsigned block : blocks)
    kinds[block] = utils::IteratorType::parallel;
  AffineMap sumMap = AffineMap::get(op.getNumLoops(), 0, all, b.getContext());
  Value sums = multiply(b, loc, {op.getDpsInputs()[weights.data], w}, start, {maps[weights.data], map, sumMap}, kinds)
                   .getResult(0);
  // Then the loops of the sums alone.
  SmallVector<AffineExpr> dims(op.getNumLoops());
  for (auto [i, expr] : llvm::enumerate(all))
    dims[cast<AffineDimExpr>(expr).getPosition()] = b.getAffineDimExpr(i);
  auto renamed = [&](AffineMap map) { return map.replaceDimsAndSymbols(dims, {}, all.size(), 0); };
  SmallVector<utils::IteratorType> outer(all.size(), utils::IteratorType::parallel);
  for (unsigned block : blocks)
    outer[cast<AffineDimExpr>(dims[block]).getPosition()] = utils::IteratorType::reduction;
  auto result = multiply(
      b, loc, {sums, op.getDpsInputs()[scale.getArgNumber()]}, op.getDpsInits()[0],
      {b.getMultiDimIdentityMap(all.size()), renamed(maps[scale.getArgNumber()]), renamed(maps.back())}, outer);
  op->replaceAllUsesWith(result);
  op.erase();
}
