//===- Generalize.cpp - one form for every structured operation -----------===//
//
// The passes behind this one know linalg.generic, linalg.fill and
// linalg.transpose only.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "EqualSizes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace strata {
#define GEN_PASS_DEF_GENERALIZE
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {
/// linalg.softmax and its like know their own decomposition.
struct DecomposeAggregate : OpInterfaceRewritePattern<linalg::AggregatedOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::AggregatedOpInterface op, PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return failure();
    rewriter.replaceOp(op, *parts);
    return success();
  }
};

template <typename OpTy, auto lower> struct LowerWith : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    return success(succeeded(lower(rewriter, op)));
  }
};

struct GeneralizeNamed : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (isa<linalg::FillOp, linalg::TransposeOp>(op))
      return failure();
    return success(succeeded(linalg::generalizeNamedOp(rewriter, op)));
  }
};

/// A generic that only permutes is a transpose.
struct RecognizeTranspose : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
        op.getBody()->getOperations().size() != 1 ||
        op.getBody()->getTerminator()->getOperand(0) != op.getBody()->getArgument(0))
      return failure();
    auto maps = op.getIndexingMapsArray();
    if (!maps[0].isPermutation() || !maps[1].isPermutation() || maps[0] == maps[1] ||
        !isa<RankedTensorType>(op.getDpsInputs()[0].getType()) ||
        getElementTypeOrSelf(op.getDpsInputs()[0]) != getElementTypeOrSelf(op.getDpsInits()[0]))
      return failure();
    SmallVector<int64_t> permutation;
    for (AffineExpr expr : maps[1].getResults())
      permutation.push_back(*maps[0].getResultPosition(expr));
    rewriter.replaceOpWithNewOp<linalg::TransposeOp>(op, op.getDpsInputs()[0], op.getDpsInits()[0], permutation);
    return success();
  }
};

/// A sum over no loop (a product of an einsum, say, of which all dimensions are kept) is no reduction: it starts with
/// the value that its result was filled with, and reads no result.
struct SumOverNothing : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops())
      return failure();
    bool changed = false;
    for (auto [init, start] : llvm::zip_equal(op.getDpsInits(), op.getRegionOutputArgs())) {
      auto fill = init.getDefiningOp<linalg::FillOp>();
      if (!fill || start.use_empty() || fill.value().getType() != start.getType())
        continue;
      rewriter.replaceAllUsesWith(start, fill.value());
      changed = true;
    }
    return success(changed);
  }
};

/// A slice that lies in one part of a concatenation is one of that part, or all of it.
struct SliceOfConcat : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp slice, PatternRewriter &rewriter) const override {
    auto concat = slice.getSource().getDefiningOp<tensor::ConcatOp>();
    if (!concat)
      return failure();
    uint64_t axis = concat.getDim();
    int64_t first = slice.getStaticOffsets()[axis], size = slice.getStaticSizes()[axis],
            stride = slice.getStaticStrides()[axis];
    if (ShapedType::isDynamic(first) || ShapedType::isDynamic(size) || ShapedType::isDynamic(stride) || size == 0)
      return failure();
    int64_t stop = first + (size - 1) * stride + 1;
    for (Value part : concat.getInputs()) {
      int64_t length = cast<RankedTensorType>(part.getType()).getDimSize(axis);
      if (ShapedType::isDynamic(length))
        return failure();
      if (first < length && stop <= length) {
        SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
        offsets[axis] = rewriter.getIndexAttr(first);
        rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(slice, slice.getType(), part, offsets,
                                                            slice.getMixedSizes(), slice.getMixedStrides());
        return success();
      }
      first -= length;
      stop -= length;
      if (first < 0)
        return failure();
    }
    return failure();
  }
};

struct GeneralizePass : strata::impl::GeneralizeBase<GeneralizePass> {
  void runOnOperation() override {
    strata::useSizeChecks(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<DecomposeAggregate, GeneralizeNamed, RecognizeTranspose, SumOverNothing, SliceOfConcat,
                 LowerWith<tensor::PackOp, linalg::lowerPack>, LowerWith<tensor::UnPackOp, linalg::lowerUnPack>>(
        &getContext());
    strata::populateEqualSizePatterns(patterns);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};
} // namespace
