//===- EqualSizes.cpp - sizes that turn out to be one value ---------------===//
#include "EqualSizes.h"
#include "Conversion/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

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
  if (auto reshaped = tensor.getDefiningOp<tensor::ReshapeOp>())
    if (auto sizes = reshaped.getShape().getDefiningOp<tensor::FromElementsOp>())
      return sizes.getElements()[dim];
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

void strata::setInsertionPointBehindChecks(OpBuilder &b, Value value) {
  b.setInsertionPointAfterValue(value);
  auto readsTensor = [](Operation &op) {
    return llvm::any_of(op.getOperandTypes(), [](Type type) { return isa<TensorType>(type); });
  };
  for (Operation &op : llvm::make_range(b.getInsertionPoint(), b.getInsertionBlock()->end()))
    if (isa<cf::AssertOp>(op))
      b.setInsertionPointAfter(&op);
    else if (op.getNumRegions() || !isPure(&op) || (readsTensor(op) && !isa<tensor::DimOp>(op)))
      return;
}

/// Whether a loop takes so many steps.
static bool isSizeOfLoop(OpFoldResult size, linalg::GenericOp op, unsigned loop) {
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    std::optional<unsigned> dim =
        op.getMatchingIndexingMap(&operand).getResultPosition(getAffineDimExpr(loop, op.getContext()));
    return dim && isSizeOf(size, operand.get(), *dim);
  });
}

/// Whether a loop takes so many steps as a check says that the size is.
static bool isCheckedSizeOfLoop(tensor::DimOp size, linalg::GenericOp op, unsigned loop) {
  return llvm::any_of(size->getUsers(), [&](Operation *user) {
    auto equal = dyn_cast<arith::CmpIOp>(user);
    if (!equal || equal.getPredicate() != arith::CmpIPredicate::eq)
      return false;
    bool isChecked = llvm::any_of(equal->getUsers(), [&](Operation *check) {
      return isa<cf::AssertOp>(check) && check->getBlock() == op->getBlock();
    });
    Value other = equal.getLhs() == size ? equal.getRhs() : equal.getLhs();
    return isChecked && isSizeOfLoop(other, op, loop);
  });
}

/// Whether a loop takes as many steps as the tensor has places along the dimension.
static bool isWhole(Value tensor, int64_t dim, linalg::GenericOp op, unsigned loop) {
  if (OpFoldResult size = sizeOf(tensor, dim))
    return isSizeOfLoop(size, op, loop);
  for (Operation *user : tensor.getUsers()) {
    auto read = dyn_cast<tensor::DimOp>(user);
    if (!read || read.getConstantIndex() != dim)
      continue;
    if (isSizeOfLoop(read.getResult(), op, loop) || isCheckedSizeOfLoop(read, op, loop))
      return true;
  }
  return false;
}

namespace {
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
};

/// A tensor that is resampled to the sizes that it has stays as it is.
struct KeepUnresampled : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op->hasAttr(strata::kResamples) || !op.hasPureTensorSemantics())
      return failure();
    auto reads = llvm::to_vector(op.getBody()->getOps<tensor::ExtractOp>());
    Value data = reads.empty() ? Value() : reads.back().getTensor();
    auto type = cast<RankedTensorType>(op.getType(0));
    AffineMap out = op.getIndexingMapsArray().back();
    auto keepsSize = [&](int64_t dim) { return isWhole(data, dim, op, out.getDimPosition(dim)); };
    if (!data || cast<RankedTensorType>(data.getType()).getRank() != type.getRank() || !out.isProjectedPermutation() ||
        !llvm::all_of(llvm::seq(type.getRank()), keepsSize))
      return failure();
    if (data.getType() != type)
      data = rewriter.create<tensor::CastOp>(op.getLoc(), type, data);
    rewriter.replaceOp(op, data);
    return success();
  }
};
} // namespace

void strata::populateEqualSizePatterns(RewritePatternSet &patterns) {
  patterns.add<ReadOwnPlace, ReadAsOperands, KeepUnresampled>(patterns.getContext());
}

void strata::useSizeChecks(Operation *function) {
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
