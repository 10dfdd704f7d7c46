//===- ReorderFilters.cpp - constant operands in their products' order ----===//
//
// Steps of a product that are neighbours in both operands travel together. What
// is computed lies as it lies; constants can be brought in its order once.
//
//===----------------------------------------------------------------------===//
#include "../ConstantExpressions.h"
#include "../ProductSums.h"
#include "Codegen/GPUPasses.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace strata {
#define GEN_PASS_DEF_REORDERFILTERS
#include "Codegen/GPUPasses.h.inc"
} // namespace strata

using namespace mlir;
using linalg::GenericOp;

/// The dimension of the constant operand that the computed one walks one by one, where it should be the last one.
static std::optional<unsigned> findDimension(GenericOp op, unsigned weights,
                                             const strata::ConstantExpressions &constants) {
  if (!op.hasPureTensorSemantics() || !strata::matchProductSum(op))
    return std::nullopt;
  OpOperand *constant = op.getDpsInputOperand(weights), *data = op.getDpsInputOperand(1 - weights);
  AffineMap map = op.getMatchingIndexingMap(constant), dataMap = op.getMatchingIndexingMap(data);
  auto type = cast<RankedTensorType>(constant->get().getType());
  if (!constants.usesWeights(constant->get()) || constants.isConstant(data->get()) || !type.hasStaticShape() ||
      !map.isProjectedPermutation() || !map.getNumResults() || !dataMap.getNumResults())
    return std::nullopt;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  auto isStep = [&](AffineExpr expr) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return dim && kinds[dim.getPosition()] == utils::IteratorType::reduction;
  };
  AffineExpr step = dataMap.getResults().back(), last = map.getResults().back();
  std::optional<unsigned> position = map.getResultPosition(step);
  if (!isStep(step) || !position || last == step)
    return std::nullopt;
  // Neighbouring columns are copied and read as they are, but for elements that no instruction transposes.
  if (!isStep(last) && !type.getElementType().isInteger(8))
    return std::nullopt;
  return position;
}

static void moveToEnd(GenericOp op, unsigned weights, unsigned dimension) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  OpOperand *constant = op.getDpsInputOperand(weights);
  auto type = cast<RankedTensorType>(constant->get().getType());
  auto toEnd = [&](auto &list) { std::rotate(list.begin() + dimension, list.begin() + dimension + 1, list.end()); };
  SmallVector<int64_t> shape(type.getShape()), order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  toEnd(shape);
  toEnd(order);
  Value empty = b.create<tensor::EmptyOp>(loc, shape, type.getElementType());
  Value ordered = b.create<linalg::TransposeOp>(loc, constant->get(), empty, order)->getResult(0);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &map = maps[constant->getOperandNumber()];
  SmallVector<AffineExpr> results(map.getResults());
  toEnd(results);
  map = AffineMap::get(map.getNumDims(), 0, results, b.getContext());
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  constant->set(ordered);
}

namespace {
struct ReorderFiltersPass : strata::impl::ReorderFiltersBase<ReorderFiltersPass> {
  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    getOperation().walk([&](GenericOp op) {
      for (unsigned weights : {0u, 1u})
        if (std::optional<unsigned> dimension = findDimension(op, weights, constants))
          moveToEnd(op, weights, *dimension);
    });
  }
};
} // namespace
