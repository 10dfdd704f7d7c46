//===- UnknownReshapes.cpp - reshapes between unknown sizes ---------------===//
#include "UnknownReshapes.h"
#include "Conversions.h"
#include "LinalgQueries.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace strata;

std::optional<SmallVector<ReassociationIndices>> strata::splitOne(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  auto stays = [](int64_t before, int64_t after) { return before == after && before > 0; };
  size_t first = 0, last = 0;
  while (first + 1 < from.size() && first < to.size() && stays(from[first], to[first]))
    ++first;
  while (first + last + 1 < from.size() && first + last < to.size() &&
         stays(from[from.size() - 1 - last], to[to.size() - 1 - last]))
    ++last;
  if (first + 1 + last != from.size() || to.size() < from.size())
    return std::nullopt;
  SmallVector<ReassociationIndices> groups;
  for (size_t dim = 0; dim < to.size(); ++dim)
    if (dim <= first || dim >= to.size() - last)
      groups.push_back({static_cast<int64_t>(dim)});
    else
      groups.back().push_back(dim);
  return groups;
}

/// The loops in place of each, where each becomes so many.
static SmallVector<ReassociationIndices> partsOf(ArrayRef<int64_t> counts) {
  SmallVector<ReassociationIndices> parts;
  int64_t next = 0;
  for (int64_t count : counts) {
    parts.push_back(llvm::to_vector<2>(llvm::seq(next, next + count)));
    next += count;
  }
  return parts;
}

/// Whether a group has several dimensions whose sizes only the run tells.
static bool areUnknown(const ReassociationIndices &group, RankedTensorType type) {
  return llvm::count_if(group, [&](int64_t dim) { return type.isDynamicDim(dim); }) > 1;
}

/// An operation whose loops may become others: it reads place by place, and has one result that starts with nothing.
static bool canExpand(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op->getNumResults() == 1 && !isIrregular(op) && !op.hasIndexSemantics() &&
         isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(op.getDpsInits()[0].getDefiningOp()) &&
         op.getIndexingMapsArray().back().isProjectedPermutation() &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(/*allowZeroInResults=*/true); });
}

static AffineMap expanded(AffineMap map, ArrayRef<ReassociationIndices> parts) {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults())
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      for (int64_t part : parts[loop.getPosition()])
        results.push_back(getAffineDimExpr(part, map.getContext()));
    else
      results.push_back(expr);
  return AffineMap::get(parts.back().back() + 1, 0, results, map.getContext());
}

/// The operation with the loops `parts`, which reads `inputs` and makes a tensor of `sizes`.
static Value expand(RewriterBase &b, linalg::GenericOp op, ArrayRef<ReassociationIndices> parts, ValueRange inputs,
                    ArrayRef<OpFoldResult> sizes) {
  SmallVector<AffineMap> maps =
      llvm::map_to_vector(op.getIndexingMapsArray(), [&](AffineMap map) { return expanded(map, parts); });
  SmallVector<utils::IteratorType> kinds;
  for (auto [kind, part] : llvm::zip_equal(op.getIteratorTypesArray(), parts))
    kinds.append(part.size(), kind);
  Value init = b.create<tensor::EmptyOp>(op.getLoc(), sizes, getElementTypeOrSelf(op.getType(0)));
  if (auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    init = b.create<linalg::FillOp>(fill.getLoc(), fill.value(), init).getResult(0);
  auto larger = b.create<linalg::GenericOp>(op.getLoc(), init.getType(), inputs, init, maps, kinds);
  b.inlineRegionBefore(op.getRegion(), larger.getRegion(), larger.getRegion().begin());
  return larger.getResult(0);
}

namespace {
/// elementwise(collapse(x)): the reshape goes behind, and the operation can be computed with what x is.
struct MoveBeforeCollapse : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!canExpand(op) || op.getNumReductionLoops())
      return failure();
    SmallVector<OpOperand *> reads = op.getDpsInputOperands();
    llvm::erase_if(
        reads, [](OpOperand *input) { return !isUnknownJoin(input->get().getDefiningOp<tensor::CollapseShapeOp>()); });
    if (reads.size() != 1)
      return failure();
    OpOperand *read = reads.front();
    AffineMap map = op.getMatchingIndexingMap(read), out = op.getIndexingMapsArray().back();
    if (!map.isPermutation())
      return failure();
    auto collapse = read->get().getDefiningOp<tensor::CollapseShapeOp>();
    SmallVector<int64_t> counts(op.getNumLoops());
    for (auto [group, expr] : llvm::zip_equal(collapse.getReassociationIndices(), map.getResults()))
      counts[cast<AffineDimExpr>(expr).getPosition()] = group.size();
    // Else it would have to be reshaped itself.
    auto readsJoined = [&](OpOperand *other) {
      return other != read && llvm::any_of(llvm::seq<unsigned>(0, counts.size()), [&](unsigned loop) {
               return counts[loop] > 1 && op.getMatchingIndexingMap(other).isFunctionOfDim(loop);
             });
    };
    if (llvm::any_of(op.getDpsInputOperands(), readsJoined))
      return failure();
    SmallVector<ReassociationIndices> parts = partsOf(counts), joined;
    SmallVector<OpFoldResult> source = tensor::getMixedSizes(rewriter, op.getLoc(), collapse.getSrc()), sizes;
    for (AffineExpr expr : out.getResults()) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      for (int64_t dim : collapse.getReassociationIndices()[*positionOf(map, loop)])
        sizes.push_back(source[dim]);
      joined.push_back(llvm::to_vector<2>(llvm::seq<int64_t>(sizes.size() - parts[loop].size(), sizes.size())));
    }
    SmallVector<Value> inputs(op.getDpsInputs());
    inputs[read->getOperandNumber()] = collapse.getSrc();
    Value moved = expand(rewriter, op, parts, inputs, sizes);
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, op.getType(0), moved, joined);
    return success();
  }

private:
  /// Of what an operation makes that this one could be computed with.
  static bool isUnknownJoin(tensor::CollapseShapeOp collapse) {
    auto maker = collapse ? collapse.getSrc().getDefiningOp<linalg::GenericOp>() : nullptr;
    if (!maker || !maker->hasOneUse() || !collapse->hasOneUse() || isIrregular(maker))
      return false;
    return llvm::any_of(collapse.getReassociationIndices(),
                        [&](const ReassociationIndices &group) { return areUnknown(group, collapse.getSrcType()); });
  }
};

/// reshape(x) of a product, or of what is computed from one element by element: the loops are those of the result,
/// which can then be written to where it is read, as into the middle of a padded image.
struct MoveBehindReshape : OpRewritePattern<tensor::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto maker = op.getSource().getDefiningOp<linalg::GenericOp>();
    auto given = op.getShape().getDefiningOp<tensor::FromElementsOp>();
    auto from = dyn_cast<RankedTensorType>(op.getSource().getType()), to = dyn_cast<RankedTensorType>(op.getType());
    if (!canExpand(maker) || maker->getBlock() != op->getBlock() || !given || !from || !to ||
        !op.getSource().hasOneUse())
      return failure();
    std::optional<SmallVector<ReassociationIndices>> groups = splitOne(from.getShape(), to.getShape());
    if (!groups)
      return failure();
    auto split = llvm::find_if(*groups, [&](const ReassociationIndices &group) { return areUnknown(group, to); });
    if (split == groups->end())
      return failure();
    unsigned loop = maker.getIndexingMapsArray().back().getDimPosition(split - groups->begin());
    OpOperand *data = dataOf(maker, loop);
    if (!data)
      return failure();
    SmallVector<int64_t> counts(maker.getNumLoops(), 1);
    counts[loop] = split->size();
    SmallVector<OpFoldResult> sizes, splitSizes;
    for (auto [size, value] : llvm::zip_equal(to.getShape(), given.getElements()))
      sizes.push_back(ShapedType::isDynamic(size) ? OpFoldResult(value) : rewriter.getIndexAttr(size));
    for (int64_t dim : *split)
      splitSizes.push_back(sizes[dim]);
    SmallVector<Value> inputs(maker.getDpsInputs());
    Value &read = inputs[data->getOperandNumber()];
    read = reshaped(rewriter, maker.getLoc(), read, *positionOf(maker.getMatchingIndexingMap(data), loop), splitSizes);
    rewriter.replaceOp(op, expand(rewriter, maker, partsOf(counts), inputs, sizes));
    rewriter.eraseOp(maker);
    return success();
  }

private:
  /// The one input that the operation reads along the loop, place by place, if that leads to a product.
  static OpOperand *dataOf(linalg::GenericOp op, unsigned loop) {
    SmallVector<OpOperand *> reads = op.getDpsInputOperands();
    llvm::erase_if(reads, [&](OpOperand *input) { return !op.getMatchingIndexingMap(input).isFunctionOfDim(loop); });
    if (reads.size() != 1)
      return nullptr;
    OpOperand *data = reads.front();
    if (matchProductSum(op))
      return data;
    auto maker = data->get().getDefiningOp<linalg::GenericOp>();
    if (op.getNumReductionLoops() || !canExpand(maker) || !maker->hasOneUse())
      return nullptr;
    unsigned place = *positionOf(op.getMatchingIndexingMap(data), loop);
    return dataOf(maker, maker.getIndexingMapsArray().back().getDimPosition(place)) ? data : nullptr;
  }

  /// An operand with several dimensions of these sizes in place of one.
  static Value reshaped(OpBuilder &b, Location loc, Value operand, unsigned dim, ArrayRef<OpFoldResult> split) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, operand);
    sizes.erase(sizes.begin() + dim);
    sizes.insert(sizes.begin() + dim, split.begin(), split.end());
    SmallVector<int64_t> shape = decomposeMixedValues(sizes).first;
    Value list = b.create<tensor::FromElementsOp>(loc, getValueOrCreateConstantIndexOp(b, loc, sizes));
    return b.create<tensor::ReshapeOp>(loc, RankedTensorType::get(shape, getElementTypeOrSelf(operand)), operand, list);
  }
};
} // namespace

void strata::populateUnknownReshapePatterns(RewritePatternSet &patterns) {
  patterns.add<MoveBeforeCollapse, MoveBehindReshape>(patterns.getContext());
}
