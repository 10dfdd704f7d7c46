//===- FuseTransposes.cpp - sums are put in order while in the cache ------===//
//
// A network that ends with a convolution has the channels last, and its result
// has them first. As an operation of its own, the transpose reads from far away
// what the convolution has just written there. Here both run block by block.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "Codegen/Target.h"
#include "ConstantExpressions.h"
#include "LinalgQueries.h"
#include "Padding.h"
#include "WinogradMatrices.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace strata {
#define GEN_PASS_DEF_FUSETRANSPOSES
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {
struct FuseTransposesPass : strata::WithTarget<strata::impl::FuseTransposesBase<FuseTransposesPass>> {
  using WithTarget::WithTarget;

  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    SmallVector<linalg::TransposeOp> transposes;
    getOperation().walk([&](linalg::TransposeOp transpose) { transposes.push_back(transpose); });
    bool fused = false;
    for (linalg::TransposeOp transpose : transposes)
      fused |= fuse(transpose, constants);
    if (!fused)
      return;
    // What lies between the operations of a block has the size of a block.
    RewritePatternSet patterns(&getContext());
    tensor::populateFoldTensorEmptyPatterns(patterns);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

private:
  SmallVector<linalg::GenericOp> makersOf(Value value, const strata::ConstantExpressions &constants) const;
  SmallVector<int64_t> blockOf(linalg::TransposeOp transpose) const;
  bool fuse(linalg::TransposeOp transpose, const strata::ConstantExpressions &constants);
};
} // namespace

/// The sums that `value` is made of, and what follows them; none where a block of them is not as fast as all of them.
SmallVector<linalg::GenericOp> FuseTransposesPass::makersOf(Value value,
                                                            const strata::ConstantExpressions &constants) const {
  auto last = value.getDefiningOp<linalg::GenericOp>();
  if (!last || !value.hasOneUse() || last->getNumResults() != 1)
    return {};
  linalg::GenericOp sums = last;
  if (!strata::isReduction(last)) {
    for (OpOperand *input : last.getDpsInputOperands())
      if (auto maker = input->get().getDefiningOp<linalg::GenericOp>();
          maker && strata::isReduction(maker) && maker->hasOneUse() &&
          last.getMatchingIndexingMap(input) == last.getMatchingIndexingMap(last.getDpsInitOperand(0)))
        sums = maker;
    if (sums == last)
      return {};
  }
  // Minimal filtering works on tiles of pixels; which taps lie in the padding is noted by pixel. Each block reads all
  // weights, which should be near.
  if (sums->hasAttr(strata::kWinograd) || !strata::getPaddedLoops(sums).empty() || sums->getNumResults() != 1 ||
      sums.getNumDpsInputs() != 2 || sums->getBlock() != last->getBlock() ||
      !sums.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    return {};
  int64_t weights = 0;
  for (Value input : sums.getDpsInputs()) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (!type || !constants.isConstant(input))
      continue;
    if (!type.hasStaticShape())
      return {};
    weights = type.getNumElements() * strata::bytesOf(type.getElementType());
  }
  if (!weights || weights > cacheBytes / 2)
    return {};
  SmallVector<linalg::GenericOp> makers{sums};
  if (last != sums)
    makers.push_back(last);
  return makers;
}

/// By dimension of the result, how much of it is a block; 0: all. None where blocks are not worth it.
SmallVector<int64_t> FuseTransposesPass::blockOf(linalg::TransposeOp transpose) const {
  constexpr int64_t fewest = 8; // for threads to share
  auto type = cast<RankedTensorType>(transpose.getInput().getType());
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  int64_t rank = type.getRank(), bytes = strata::bytesOf(type.getElementType());
  if (!type.hasStaticShape() || permutation.back() == rank - 1)
    return {};
  int64_t channels = type.getShape().back(), line = lineBytes / bytes;
  int64_t fits = cacheBytes / 4 / std::max<int64_t>(1, channels * bytes), blocks = 1;
  SmallVector<int64_t> block(rank);
  bool isWhole = true;
  for (int64_t dim = rank; dim-- > 0;) {
    if (permutation[dim] == rank - 1)
      continue;
    int64_t size = type.getShape()[permutation[dim]];
    if (isWhole && size <= fits) {
      fits /= std::max<int64_t>(1, size);
      continue;
    }
    // Parts of a line are written several times; equal parts keep threads busy alike.
    int64_t most = isWhole ? std::clamp<int64_t>(fits, 1, llvm::divideCeil(size, fewest)) : 1;
    if (dim == rank - 1 && (most = most / line * line) == 0)
      return {};
    block[dim] = dim == rank - 1 ? most : llvm::divideCeil(size, llvm::divideCeil(size, most));
    blocks *= llvm::divideCeil(size, block[dim]);
    isWhole = false;
  }
  return blocks > 1 ? block : SmallVector<int64_t>();
}

bool FuseTransposesPass::fuse(linalg::TransposeOp transpose, const strata::ConstantExpressions &constants) {
  if (!transpose.hasPureTensorSemantics() || transpose->getParentOp() != getOperation())
    return false;
  SmallVector<linalg::GenericOp> makers = makersOf(transpose.getInput(), constants);
  SmallVector<int64_t> block = makers.empty() ? SmallVector<int64_t>() : blockOf(transpose);
  if (block.empty())
    return false;
  IRRewriter rewriter(transpose);
  scf::SCFTilingOptions tiling;
  tiling.setTileSizes(getAsIndexOpFoldResult(&getContext(), block))
      .setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  scf::SCFTileAndFuseOptions options;
  options.setTilingOptions(tiling).setFusionControlFn([&](tensor::ExtractSliceOp, OpResult producer, bool) {
    Operation *op = producer.getOwner();
    bool isMaker = llvm::is_contained(makers, op) || op == makers.front().getDpsInits()[0].getDefiningOp();
    return std::make_tuple(isMaker, false);
  });
  auto tiled =
      scf::tileConsumerAndFuseProducersUsingSCF(rewriter, cast<TilingInterface>(transpose.getOperation()), options);
  if (failed(tiled))
    return false;
  for (OpResult result : transpose->getResults())
    rewriter.replaceAllUsesWith(result, tiled->replacements.lookup(result));
  // Of packed weights, whose index is a remainder, upstream takes too small a part: each block reads all of them.
  for (Operation *op : tiled->tiledAndFusedOps) {
    auto sums = dyn_cast<linalg::GenericOp>(op);
    for (OpOperand *input : sums ? sums.getDpsInputOperands() : SmallVector<OpOperand *>())
      if (auto part = input->get().getDefiningOp<tensor::ExtractSliceOp>())
        if (constants.isConstant(part.getSource()) && llvm::all_of(part.getMixedOffsets(), isZeroIndex))
          input->set(part.getSource());
  }
  return true;
}
