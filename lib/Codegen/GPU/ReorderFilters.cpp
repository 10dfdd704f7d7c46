//===- ReorderFilters.cpp - operands in the order of their products' steps -===//
//
// Steps of a product that are neighbours in both operands travel together. What
// is computed lies as it lies; constants can be brought in its order once. So are
// computed operands that warpgroups could not read, where many rows use them.
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

/// What warpgroups multiply that they cannot transpose.
struct Warpgroups {
  bool bytes = false, floats = false;

  bool cannotTranspose(Type element) const { return (bytes && element.isInteger(8)) || (floats && element.isF32()); }
};

/// Whether bringing an operand in another order in each run pays: what it costs, a read and a write of each element, is
/// less than what it saves in about a thousand products of the element.
static bool paysInEachRun(GenericOp op, OpOperand *operand, unsigned step, const Warpgroups &warpgroups) {
  constexpr int64_t uses = 1024, copyBits = 128;
  auto type = cast<RankedTensorType>(operand->get().getType());
  return warpgroups.cannotTranspose(type.getElementType()) && strata::getUses(op, operand) >= uses &&
         type.getDimSize(step) * type.getElementTypeBitWidth() % copyBits == 0;
}

/// The dimension of an operand that the other one, which is computed, walks one by one, where it should be the last
/// one.
static std::optional<unsigned> findDimension(GenericOp op, unsigned number,
                                             const strata::ConstantExpressions &constants,
                                             const Warpgroups &warpgroups) {
  if (!op.hasPureTensorSemantics() || !strata::matchProductSum(op))
    return std::nullopt;
  OpOperand *operand = op.getDpsInputOperand(number), *data = op.getDpsInputOperand(1 - number);
  AffineMap map = op.getMatchingIndexingMap(operand), dataMap = op.getMatchingIndexingMap(data);
  auto type = cast<RankedTensorType>(operand->get().getType());
  if (constants.isConstant(data->get()) || !type.hasStaticShape() || !map.isProjectedPermutation() ||
      !map.getNumResults() || !dataMap.getNumResults())
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
  if (!constants.usesWeights(operand->get()) &&
      (constants.isConstant(operand->get()) || !paysInEachRun(op, operand, *position, warpgroups)))
    return std::nullopt;
  // Neighbouring columns are copied and read as they are, but for elements that no instruction transposes.
  Type element = type.getElementType();
  if (!isStep(last) && !element.isInteger(8) && !warpgroups.cannotTranspose(element))
    return std::nullopt;
  return position;
}

static void moveToEnd(GenericOp op, unsigned number, unsigned dimension) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  OpOperand *operand = op.getDpsInputOperand(number);
  auto type = cast<RankedTensorType>(operand->get().getType());
  auto toEnd = [&](auto &list) { std::rotate(list.begin() + dimension, list.begin() + dimension + 1, list.end()); };
  SmallVector<int64_t> shape(type.getShape()), order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  toEnd(shape);
  toEnd(order);
  Value empty = b.create<tensor::EmptyOp>(loc, shape, type.getElementType());
  Value ordered = b.create<linalg::TransposeOp>(loc, operand->get(), empty, order)->getResult(0);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &map = maps[operand->getOperandNumber()];
  SmallVector<AffineExpr> results(map.getResults());
  toEnd(results);
  map = AffineMap::get(map.getNumDims(), 0, results, b.getContext());
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  operand->set(ordered);
}

namespace {
struct ReorderFiltersPass : strata::impl::ReorderFiltersBase<ReorderFiltersPass> {
  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    auto module = getOperation()->getParentOfType<ModuleOp>();
    auto chip = module->getAttrOfType<StringAttr>(strata::kChip);
    Warpgroups warpgroups;
    warpgroups.bytes = chip && chip.getValue() == "sm_90a";
    warpgroups.floats = warpgroups.bytes && module->hasAttr(strata::kTensorFloat);
    getOperation().walk([&](GenericOp op) {
      for (unsigned number : {0u, 1u})
        if (std::optional<unsigned> dimension = findDimension(op, number, constants, warpgroups))
          moveToEnd(op, number, *dimension);
    });
  }
};
} // namespace
