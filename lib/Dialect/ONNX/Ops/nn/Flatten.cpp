//===- Flatten.cpp - Flatten ----------------------------------------------===//

#include "../Slice.h"

// The first dimension of the second result dimension.
static FailureOr<int64_t> getAxis(ShapeContext &c, int64_t rank) {
  int64_t axis = c.integer("axis", 1);
  if (axis > rank || axis < (c.version() >= 11 ? -rank : 0))
    return c.emitError() << "axis " << axis << " is out of range for rank " << rank;
  return axis < 0 ? axis + rank : axis;
}

static LogicalResult inferFlatten(ShapeContext &c) {
  Dim outer, inner;
  if (std::optional<Shape> shape = c.shape(0)) {
    FailureOr<int64_t> axis = getAxis(c, shape->size());
    if (failed(axis))
      return failure();
    outer = inner = Dim(1);
    for (auto [i, dim] : llvm::enumerate(*shape))
      (static_cast<int64_t>(i) < *axis ? outer : inner) = (static_cast<int64_t>(i) < *axis ? outer : inner) * dim;
  }
  c.setShape(0, {outer, inner});
  return success();
}

static ValueAnalysis::Values flattenValues(ShapeContext &c) { return c.elements(0); }

static FailureOr<SmallVector<Value>> lowerFlatten(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Sizes sizes = b.sizes(operands[0]);
  int64_t axis = cast<FlattenOp>(op).getAxis();
  ArrayRef<OpFoldResult> all(sizes);
  size_t outer = axis < 0 ? axis + all.size() : axis;
  return SmallVector<Value>{
      b.reshape(operands[0], {b.product(all.take_front(outer)), b.product(all.drop_front(outer))})};
}

STRATA_SLICE(Flatten) {
  ops.add("Flatten",
          {.inferShapes = inferFlatten, .inferValues = flattenValues, .lower = lowerFlatten, .handles = true});
}
