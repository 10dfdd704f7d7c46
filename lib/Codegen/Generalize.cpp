//===- Generalize.cpp - one form for every structured operation -----------===//
//
// The passes behind this one know linalg.generic, linalg.fill and
// linalg.transpose only.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
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

/// The size of a dimension as its maker says it; null where it does not.
static OpFoldResult sizeOf(Value tensor, int64_t dim) {
  Builder b(tensor.getContext());
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return b.getIndexAttr(type.getDimSize(dim));
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes()[dim];
  if (auto expanded = tensor.getDefiningOp<tensor::ExpandShapeOp>())
    return getMixedValues(expanded.getStaticOutputShape(), expanded.getOutputShape(), b)[dim];
  if (auto maker = tensor.getDefiningOp<linalg::LinalgOp>())
    return sizeOf(maker.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim);
  return {};
}

static bool isSizeOf(OpFoldResult size, Value tensor, int64_t dim) {
  auto value = dyn_cast<Value>(size);
  auto read = value ? value.getDefiningOp<tensor::DimOp>() : nullptr;
  if (read && read.getSource() == tensor && read.getConstantIndex() == dim)
    return true;
  OpFoldResult known = sizeOf(tensor, dim);
  return known && isEqualConstantIntOrValue(size, known);
}

/// Whether a loop takes so many steps.
static bool isSizeOfLoop(OpFoldResult size, linalg::GenericOp op, unsigned loop) {
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    std::optional<unsigned> dim =
        op.getMatchingIndexingMap(&operand).getResultPosition(getAffineDimExpr(loop, op.getContext()));
    return dim && isSizeOf(size, operand.get(), *dim);
  });
}

/// What is read at 0 where its size is one, as a broadcast is, and at the loop's place elsewhere: where the loop takes
/// as many steps as that size, its place is 0, too.
struct ReadOwnPlace : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    bool changed = false;
    for (auto choice : llvm::make_early_inc_range(op.getBody()->getOps<arith::SelectOp>())) {
      auto isOne = choice.getCondition().getDefiningOp<arith::CmpIOp>();
      auto place = choice.getFalseValue().getDefiningOp<linalg::IndexOp>();
      if (!isOne || !place || isOne.getPredicate() != arith::CmpIPredicate::eq ||
          !matchPattern(isOne.getRhs(), m_One()) || !matchPattern(choice.getTrueValue(), m_Zero()) ||
          !isSizeOfLoop(isOne.getLhs(), op, place.getDim()))
        continue;
      rewriter.replaceOp(choice, place);
      changed = true;
    }
    return success(changed);
  }
};

/// Tensors that are read by the loops' own places are operands.
struct ReadAsOperands : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    auto elements = llvm::to_vector(op.getBody()->getOps<tensor::ExtractOp>());
    if (!op.hasPureTensorSemantics() || elements.empty())
      return failure();
    SmallVector<AffineMap> maps;
    for (tensor::ExtractOp element : elements) {
      std::optional<AffineMap> map = mapOf(element, op);
      if (!map)
        return failure();
      maps.push_back(*map);
    }
    SmallVector<Value> inputs(op.getDpsInputs());
    SmallVector<AffineMap> all = op.getIndexingMapsArray();
    all.insert(all.begin() + inputs.size(), maps.begin(), maps.end());
    for (tensor::ExtractOp element : elements)
      inputs.push_back(element.getTensor());
    auto result = rewriter.create<linalg::GenericOp>(op.getLoc(), op->getResultTypes(), inputs, op.getDpsInits(), all,
                                                     op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getRegion(), result.getRegion(), result.getRegion().begin());
    unsigned next = op.getNumDpsInputs();
    for (tensor::ExtractOp element : elements) {
      Value argument = result.getBody()->insertArgument(next++, element.getType(), element.getLoc());
      rewriter.replaceOp(element, argument);
    }
    rewriter.replaceOp(op, result.getResults());
    return success();
  }

private:
  /// The loops that the indices are, each along the whole of its dimension.
  static std::optional<AffineMap> mapOf(tensor::ExtractOp element, linalg::GenericOp op) {
    Value tensor = element.getTensor();
    if (tensor.getParentRegion() == &op.getRegion())
      return std::nullopt;
    SmallVector<AffineExpr> places;
    for (auto [dim, index] : llvm::enumerate(element.getIndices())) {
      bool isOne = cast<RankedTensorType>(tensor.getType()).getDimSize(dim) == 1;
      if (isOne && matchPattern(index, m_Zero())) {
        places.push_back(getAffineConstantExpr(0, op.getContext()));
        continue;
      }
      auto place = index.getDefiningOp<linalg::IndexOp>();
      if (!place || !isWhole(tensor, dim, op, place.getDim()))
        return std::nullopt;
      places.push_back(getAffineDimExpr(place.getDim(), op.getContext()));
    }
    AffineMap map = AffineMap::get(op.getNumLoops(), 0, places, op.getContext());
    return map.isProjectedPermutation(/*allowZeroInResults=*/true) ? std::optional(map) : std::nullopt;
  }

  static bool isWhole(Value tensor, int64_t dim, linalg::GenericOp op, unsigned loop) {
    if (OpFoldResult size = sizeOf(tensor, dim))
      return isSizeOfLoop(size, op, loop);
    return llvm::any_of(tensor.getUsers(), [&](Operation *user) {
      auto read = dyn_cast<tensor::DimOp>(user);
      return read && read.getConstantIndex() == dim && isSizeOfLoop(read.getResult(), op, loop);
    });
  }
};

/// Behind a check that two sizes are equal they are one value: a constant, or the one that was there first.
static void useChecks(Operation *function) {
  DominanceInfo dominance(function);
  function->walk([&](cf::AssertOp check) {
    auto equal = check.getArg().getDefiningOp<arith::CmpIOp>();
    if (!equal || equal.getPredicate() != arith::CmpIPredicate::eq || !equal.getLhs().getType().isIndex())
      return;
    Value kept = equal.getLhs(), other = equal.getRhs();
    Operation *maker = kept.getDefiningOp();
    if (!matchPattern(kept, m_Constant()) &&
        (matchPattern(other, m_Constant()) || (maker && dominance.properlyDominates(other, maker))))
      std::swap(kept, other);
    other.replaceUsesWithIf(kept, [&](OpOperand &use) {
      Operation *user = check->getBlock()->findAncestorOpInBlock(*use.getOwner());
      return user && check->isBeforeInBlock(user);
    });
  });
}

struct GeneralizePass : strata::impl::GeneralizeBase<GeneralizePass> {
  void runOnOperation() override {
    useChecks(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<DecomposeAggregate, GeneralizeNamed, RecognizeTranspose, SumOverNothing, ReadOwnPlace, ReadAsOperands,
                 LowerWith<tensor::PackOp, linalg::lowerPack>, LowerWith<tensor::UnPackOp, linalg::lowerUnPack>>(
        &getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};
} // namespace
