//===- FuseElementwise.cpp - chains of elementwise operations become one --===//
#include "Codegen/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace strata {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

/// Reads tensors by computed position, or branches: has no vector form.
static bool isIrregular(linalg::GenericOp op) {
  return llvm::any_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return inner.getNumRegions() || isa<tensor::ExtractOp>(inner) || !isMemoryEffectFree(&inner);
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

static bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || isIrregular(producer) || isIrregular(consumer))
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
  return producer->hasOneUse();
}

namespace {
struct FuseElementwisePass : strata::impl::FuseElementwiseBase<FuseElementwisePass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    // Reshapes between operations go behind or before the whole chain.
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *operand) {
      auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
      auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
      auto stays = [](linalg::GenericOp op) {
        return isIrregular(op) || op.hasIndexSemantics(); // one loop, one number
      };
      return !(consumer && stays(consumer)) && !(producer && (stays(producer) || !producer->hasOneUse()));
    });
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
