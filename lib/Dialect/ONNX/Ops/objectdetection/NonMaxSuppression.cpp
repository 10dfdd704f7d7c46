//===- NonMaxSuppression.cpp - NonMaxSuppression --------------------------===//
//
// Of each batch entry and class: takes the box of the best score (of equal ones
// the first) and drops those that overlap with it, until none is left or there
// are enough.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"

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

// Whether two boxes of one batch entry overlap by more than the threshold.
static Value overlaps(ImplicitLocOpBuilder &n, Value boxes, Value batch, Value first, Value second, bool centers,
                      Value threshold) {
  using P = arith::CmpFPredicate;
  struct Range {
    Value low, high;
  };
  auto read = [&](Value box, int64_t i) -> Value {
    return n.create<tensor::ExtractOp>(boxes, ValueRange{batch, box, n.create<arith::ConstantIndexOp>(i)});
  };
  // In order of the two axes; for corners y comes first, which makes no difference.
  auto getRange = [&](Value box, int64_t axis) -> Range {
    Value x = read(box, axis), y = read(box, axis + 2);
    if (!centers)
      return {n.create<arith::MinimumFOp>(x, y), n.create<arith::MaximumFOp>(x, y)};
    Value half = n.create<arith::MulFOp>(y, constantFloat(n, y.getType(), 0.5));
    return {n.create<arith::SubFOp>(x, half), n.create<arith::AddFOp>(x, half)};
  };
  Value zero = constantFloat(n, n.getF32Type(), 0), result, common, areas[2];
  auto both = [&](Value condition) { result = result ? n.create<arith::AndIOp>(result, condition) : condition; };
  for (int64_t axis = 0; axis < 2; ++axis) {
    Range a = getRange(first, axis), c = getRange(second, axis);
    Value low = n.create<arith::MaximumFOp>(a.low, c.low), high = n.create<arith::MinimumFOp>(a.high, c.high);
    both(n.create<arith::CmpFOp>(P::OGT, high, low));
    Value side = n.create<arith::SubFOp>(high, low);
    common = axis ? n.create<arith::MulFOp>(common, side).getResult() : side;
    Range ranges[] = {a, c};
    for (auto [i, range] : llvm::enumerate(ranges)) {
      Value length = n.create<arith::SubFOp>(range.high, range.low);
      areas[i] = axis ? n.create<arith::MulFOp>(areas[i], length).getResult() : length;
    }
  }
  Value all = n.create<arith::SubFOp>(n.create<arith::AddFOp>(areas[0], areas[1]), common);
  for (Value area : {common, areas[0], areas[1], all})
    both(n.create<arith::CmpFOp>(P::OGT, area, zero));
  both(n.create<arith::CmpFOp>(P::OGT, n.create<arith::DivFOp>(common, all), threshold));
  return result;
}

static FailureOr<SmallVector<Value>> lowerSuppression(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value boxes = operands[0], scores = operands[1];
  bool centers = cast<NonMaxSuppressionOp>(op).getCenterPointBox() != 0;
  Type i64 = b.getI64Type(), i1 = b.getI1Type(), f32 = b.getF32Type();
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

  Value zero = b.index(int64_t(0)), one = b.index(int64_t(1)), none = b.scalarInt(i1, 0);
  Value room = b.empty({b.add(b.product({batches, classes, limit}), one), b.getIndexAttr(3)}, i64);
  SmallVector<Value> all = b.loopNest({batches, classes}, {room, zero}, [&](ValueRange at, ValueRange carried) {
    Value alive = b.generate({count}, i1, [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
      if (!least)
        return n.create<arith::ConstantOp>(n.getIntegerAttr(i1, 1));
      Value score = n.create<tensor::ExtractOp>(scores, ValueRange{at[0], at[1], i[0]});
      return n.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, score, least);
    });
    SmallVector<Value> taken = b.loopNest({limit}, {carried[0], carried[1], alive}, [&](ValueRange, ValueRange state) {
      Value candidates = state[2];
      SmallVector<Value> start{zero, b.scalar(f32, 0), none};
      SmallVector<Value> best = b.loopNest({count}, start, [&](ValueRange i, ValueRange so) {
        Value score = b.create<tensor::ExtractOp>(scores, ValueRange{at[0], at[1], i[0]});
        Value isCandidate = b.create<tensor::ExtractOp>(candidates, i[0]);
        Value isFirst = b.create<arith::XOrIOp>(so[2], b.scalarInt(i1, 1));
        Value better =
            b.create<arith::OrIOp>(isFirst, b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, score, so[1]));
        better = b.create<arith::AndIOp>(better, isCandidate);
        return SmallVector<Value>{b.create<arith::SelectOp>(better, i[0], so[0]),
                                  b.create<arith::SelectOp>(better, score, so[1]),
                                  b.create<arith::OrIOp>(so[2], better)};
      });
      // Without a candidate the row is written where the next one goes.
      Value rows = state[0], indices[] = {at[0], at[1], best[0]};
      for (auto [i, index] : llvm::enumerate(indices))
        rows = b.create<tensor::InsertOp>(b.create<arith::IndexCastOp>(i64, index), rows,
                                          ValueRange{state[1], b.index(static_cast<int64_t>(i))});
      Value next = b.create<arith::SelectOp>(best[2], b.create<arith::AddIOp>(state[1], one), state[1]);
      Value rest = b.generate({count}, i1, [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
        Value drop = n.create<arith::OrIOp>(n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, i[0], best[0]),
                                            overlaps(n, boxes, at[0], i[0], best[0], centers, iou));
        Value keep = n.create<arith::XOrIOp>(drop, n.create<arith::ConstantOp>(n.getIntegerAttr(i1, 1)));
        return n.create<arith::AndIOp>(keep, n.create<tensor::ExtractOp>(candidates, i[0]));
      });
      return SmallVector<Value>{rows, next, rest};
    });
    return SmallVector<Value>{taken[0], taken[1]};
  });
  OpFoldResult start = b.getIndexAttr(0);
  return SmallVector<Value>{b.slice(all[0], {start, start}, {all[1], b.getIndexAttr(3)})};
}

STRATA_SLICE(NonMaxSuppression) {
  ops.add("NonMaxSuppression",
          {.verify = verifySuppression, .inferShapes = inferSuppression, .lower = lowerSuppression});
}
