//===- UnitDims.cpp - reshapes by dimensions of 1 are read through --------===//
#include "UnitDims.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using linalg::GenericOp;

/// Spreading one value over all is a fill.
static void recognizeFill(GenericOp op) {
  if (op.getNumDpsInputs() || op.getNumDpsInits() != 1 || op.getBody()->getOperations().size() != 1)
    return;
  Value value = op.getBody()->getTerminator()->getOperand(0);
  if (value.getParentBlock() == op.getBody())
    return;
  OpBuilder b(op);
  op->replaceAllUsesWith(b.create<linalg::FillOp>(op.getLoc(), value, op.getDpsInits()[0]));
  op->erase();
}

/// By dimension of the smaller type, which dimension of the larger one it is; the others of the larger one are 1.
static std::optional<SmallVector<int64_t>> matchUnitDims(ArrayRef<ReassociationIndices> groups,
                                                         ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result;
  for (const ReassociationIndices &group : groups) {
    int64_t chosen = group.front();
    for (int64_t dim : group)
      if (shape[dim] != 1)
        chosen = dim;
    if (llvm::any_of(group, [&](int64_t dim) { return dim != chosen && shape[dim] != 1; }))
      return std::nullopt;
    result.push_back(chosen);
  }
  return result;
}

/// How an operation that adds up all parts of a split dimension reads the whole one: by the parts' loops, for which the
/// other operand tells how far they go. That is how the groups of a reduction read a result of their own function.
static std::optional<SmallVector<AffineExpr>> matchSplitReduction(GenericOp op, tensor::ExpandShapeOp expand,
                                                                  AffineMap map) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  ArrayRef<int64_t> shape = expand.getResultType().getShape();
  SmallVector<AffineExpr> results;
  if (!expand.getSrc().getDefiningOp<GenericOp>())
    return std::nullopt;
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    AffineExpr whole = map.getResult(group.front());
    for (int64_t dim : ArrayRef(group).drop_front()) {
      for (AffineExpr part : {map.getResult(group.front()), map.getResult(dim)})
        if (auto loop = dyn_cast<AffineDimExpr>(part);
            !loop || kinds[loop.getPosition()] != utils::IteratorType::reduction || ShapedType::isDynamic(shape[dim]))
          return std::nullopt;
      whole = whole * shape[dim] + map.getResult(dim);
    }
    results.push_back(whole);
  }
  return results;
}

/// A tensor to which a reshape only adds dimensions of 1, or from which it takes such, is read where it lies.
static void readThrough(GenericOp op) {
  MLIRContext *context = op.getContext();
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    SmallVector<AffineExpr> results;
    Value source;
    if (auto expand = input->get().getDefiningOp<tensor::ExpandShapeOp>()) {
      source = expand.getSrc();
      auto dims = matchUnitDims(expand.getReassociationIndices(), expand.getResultType().getShape());
      if (source.getType() == input->get().getType())
        continue;
      if (dims)
        for (int64_t dim : *dims)
          results.push_back(map.getResult(dim));
      else if (auto split = matchSplitReduction(op, expand, map))
        results = *split;
      else
        continue;
    } else if (auto collapse = input->get().getDefiningOp<tensor::CollapseShapeOp>()) {
      source = collapse.getSrc();
      auto dims = matchUnitDims(collapse.getReassociationIndices(), collapse.getSrcType().getShape());
      if (!dims)
        continue;
      results.assign(collapse.getSrcType().getRank(), getAffineConstantExpr(0, context));
      for (auto [number, dim] : llvm::enumerate(*dims))
        results[dim] = map.getResult(number);
    } else {
      continue;
    }
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[input->getOperandNumber()] = AffineMap::get(map.getNumDims(), 0, results, context);
    // Some operand must still tell how far each loop goes.
    if (!inversePermutation(concatAffineMaps(maps)))
      continue;
    op.setIndexingMapsAttr(Builder(context).getAffineMapArrayAttr(maps));
    input->set(source);
  }
}

/// Accumulators start in an empty tensor, not in a view of one, and no view is left that nobody reads: it would count
/// as a reader.
static void tidy(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::FillOp::getCanonicalizationPatterns(patterns, function.getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns);
  (void)applyPatternsAndFoldGreedily(function, std::move(patterns));
}

void strata::readThroughUnitDims(func::FuncOp function) {
  function.walk(recognizeFill);
  function.walk([](GenericOp op) { readThrough(op); });
  tidy(function);
}
