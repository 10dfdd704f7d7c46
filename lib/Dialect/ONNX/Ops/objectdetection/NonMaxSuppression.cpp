//===- NonMaxSuppression.cpp - NonMaxSuppression --------------------------===//
//
// Of each batch entry and class, by the runtime: takes the box of the best score
// (of equal ones the first) that overlaps with none taken before, until none is
// left or there are enough.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"
#include "Conversion/RuntimeCalls.h"

static LogicalResult verifySuppression(Operation *op) {
  if (auto form = op->getAttrOfType<IntegerAttr>("center_point_box"); form && form.getInt() != 0 && form.getInt() != 1)
    return op->emitOpError("'center_point_box' is ") << form.getInt() << ", not 0 or 1";
  return success();
}

static LogicalResult inferSuppression(ShapeContext &c) {
  for (unsigned i = 0; i < 2; ++i)
    if (auto rank = c.rank(i); rank && *rank != 3)
      return c.emitError() << "needs " << (i == 0 ? "boxes" : "scores") << " of rank 3, not " << *rank;
  if (auto boxes = c.shape(0); boxes && boxes->back().isStatic() && boxes->back().size != 4)
    return c.emitError() << "has boxes of " << boxes->back().size << " numbers, not 4";
  c.setShape(0, {Dim(), Dim(3)});
  return success();
}

// The number in an optional input of one element; null if it is absent or empty.
static Value getNumber(LinalgBuilder &b, unsigned formal, const Twine &name) {
  Value tensor = b.operand(formal);
  if (!tensor || (getRank(tensor) > 0 && isConstantIntValue(b.dim(tensor, 0), 0)))
    return {};
  if (getRank(tensor) > 0)
    b.checkEqual(b.product(b.sizes(tensor)), b.getIndexAttr(1), name + " is not one number");
  return b.extractScalar(tensor);
}

static FailureOr<SmallVector<Value>> lowerSuppression(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value boxes = operands[0], scores = operands[1];
  bool centers = cast<NonMaxSuppressionOp>(op).getCenterPointBox() != 0;
  Type i64 = b.getI64Type(), f32 = b.getF32Type();
  Value maximum = getNumber(b, 2, "max_output_boxes_per_class"), iou = getNumber(b, 3, "iou_threshold");
  Value least = getNumber(b, 4, "score_threshold");
  if (!maximum)
    return SmallVector<Value>{b.empty({b.getIndexAttr(0), b.getIndexAttr(3)}, i64)};
  if (!iou)
    iou = b.scalar(f32, 0);
  OpFoldResult batches = b.dim(scores, 0), classes = b.dim(scores, 1), count = b.dim(scores, 2);
  b.checkEqual(b.dim(boxes, 0), batches, "the boxes and the scores differ in the number of batch entries");
  b.checkEqual(b.dim(boxes, 1), count, "the boxes and the scores differ in the number of boxes");
  b.checkEqual(b.dim(boxes, 2), b.getIndexAttr(4), "a box does not have 4 numbers");
  // Not more than there are, so that the room for them is bounded.
  Value limit = b.create<arith::MinSIOp>(maximum, b.createOrFold<arith::IndexCastOp>(i64, b.index(count)));
  limit = b.create<arith::IndexCastOp>(b.getIndexType(), b.create<arith::MaxSIOp>(limit, b.scalarInt(i64, 0)));

  Value buffer = makeBuffer(b, {b.product({batches, classes, limit}), b.getIndexAttr(3)}, i64);
  Value count64 = callRuntime(b, "strata_rt_non_max_suppression",
                              {boxes, scores, b.create<arith::IndexCastOp>(i64, limit), iou,
                               b.scalarInt(i64, least ? 1 : 0), least ? least : b.scalar(f32, 0),
                               b.scalarInt(i64, centers ? 1 : 0), buffer},
                              i64);
  OpFoldResult start = b.getIndexAttr(0);
  Value found = b.create<arith::IndexCastOp>(b.getIndexType(), count64);
  return SmallVector<Value>{b.slice(bufferToTensor(b, buffer), {start, start}, {found, b.getIndexAttr(3)})};
}

STRATA_SLICE(NonMaxSuppression) {
  ops.add("NonMaxSuppression",
          {.verify = verifySuppression, .inferShapes = inferSuppression, .lower = lowerSuppression});
}
