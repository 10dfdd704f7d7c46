//===- Shape.cpp - Shape and Size -----------------------------------------===//

#include "../Slice.h"
#include "Dialect/VersionSteps.h"

// The half-open range of dimensions that the attributes select, clamped to [0, rank].
static std::pair<int64_t, int64_t> getRange(Operation *op, int64_t rank) {
  auto clamp = [&](StringRef name, int64_t absent) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    int64_t value = attr ? attr.getInt() : absent;
    return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  int64_t start = clamp("start", 0), end = clamp("end", rank);
  return {start, std::max(start, end)};
}

static LogicalResult inferShape(ShapeContext &c) {
  Dim count;
  if (auto rank = c.rank(0)) {
    auto [start, end] = getRange(c.getOperation(), *rank);
    count = Dim(end - start);
  }
  c.setShape(0, count);
  return success();
}

static ValueAnalysis::Values shapeValues(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return std::nullopt;
  auto [start, end] = getRange(c.getOperation(), shape->size());
  return SmallVector<Dim>(shape->begin() + start, shape->begin() + end);
}

static FailureOr<SmallVector<Value>> lowerShape(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Sizes sizes = b.sizes(operands[0]);
  auto [start, end] = getRange(op, sizes.size());
  return SmallVector<Value>{b.shapeTensor(ArrayRef(sizes).slice(start, end - start))};
}

static LogicalResult inferSize(ShapeContext &c) {
  c.setShape(0, {});
  return success();
}

static ValueAnalysis::Values sizeValues(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return std::nullopt;
  Dim product(1);
  for (const Dim &dim : *shape)
    product = product * dim;
  return SmallVector<Dim>{product};
}

static FailureOr<SmallVector<Value>> lowerSize(Operation *, ValueRange operands, LinalgBuilder &b) {
  Value product = b.index(b.product(b.sizes(operands[0])));
  return SmallVector<Value>{b.fromScalar(b.createOrFold<arith::IndexCastOp>(b.getI64Type(), product))};
}

static LogicalResult downgradeShape(Operation *op, PatternRewriter &rewriter) {
  return downgradeStep(op, rewriter, {{"start", 0}});
}

STRATA_SLICE(Shape) {
  ops.add("Shape", {.inferShapes = inferShape,
                    .inferValues = shapeValues,
                    .upgrade = keepAttributes,
                    .downgrade = downgradeShape,
                    .lower = lowerShape,
                    .handles = true});
  ops.add("Size", {.inferShapes = inferSize, .inferValues = sizeValues, .lower = lowerSize, .handles = true});
}
