//===- ArgMax.cpp - ArgMax and ArgMin -------------------------------------===//
//
// The index of the first (or last) extreme element; a NaN is extreme.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"
#include "Dialect/VersionSteps.h"

static LogicalResult inferArg(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  FailureOr<int64_t> axis = c.normalizeAxis(c.integer("axis", 0), shape->size());
  if (failed(axis))
    return failure();
  if ((*shape)[*axis].is(0))
    return c.emitError() << "looks for an element along dimension " << *axis << ", which has none";
  if (c.integer("keepdims", 1))
    (*shape)[*axis] = Dim(1);
  else
    shape->erase(shape->begin() + *axis);
  c.setShape(0, *shape);
  return success();
}

/// Along the last dimension, whose elements are lanes of a vector: the extreme one, and then where it is.
template <bool isMax> static Value findInRows(LinalgBuilder &b, Value x, Type onnx, bool last) {
  int64_t axis = getRank(x) - 1;
  AffineMap full = b.getMultiDimIdentityMap(axis + 1), row = mapWithout(b.getContext(), axis + 1, {axis});
  Value worst = b.create<arith::ConstantOp>(isMax ? scalar::getLowest(onnx) : scalar::getHighest(onnx));
  Value best = reduceMany(b, x, full, {axis}, worst, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    auto extreme = isMax ? maximumOf : minimumOf;
    return extreme(n, scalar::decode(n, v[0], onnx), v[1], scalar::isUnsigned(onnx));
  });
  return findAlong(b, {x, best}, {full, row}, axis, last, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    Value value = scalar::decode(n, v[0], onnx);
    if (!isa<FloatType>(value.getType()))
      return n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, value, v[1]);
    Value isNaN = n.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
    return n.create<arith::OrIOp>(n.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, value, v[1]), isNaN);
  });
}

template <bool isMax>
static FailureOr<SmallVector<Value>> lowerArg(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto getFlag = [&](StringRef name, int64_t absent) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : absent;
  };
  auto type = cast<RankedTensorType>(operands[0].getType());
  int64_t rank = type.getRank(), axis = getFlag("axis", 0);
  axis = axis < 0 ? axis + rank : axis;
  bool last = getFlag("select_last_index", 0), keepDims = getFlag("keepdims", 1);
  Type onnx = getElementType(op->getOperand(0)), compute = scalar::getComputeType(onnx);
  if (!isConstantIntValue(b.dim(operands[0], axis), 0) && !getConstantIntValue(b.dim(operands[0], axis)))
    b.check(b.compare(arith::CmpIPredicate::sgt, b.dim(operands[0], axis), b.getIndexAttr(0)),
            "there is no element along the axis");

  auto finish = [&](Value result) { return SmallVector<Value>{keepDims ? b.unsqueeze(result, axis) : result}; };
  // Of short rows, rows are the lanes.
  if (axis == rank - 1 && getConstantIntValue(b.dim(operands[0], axis)).value_or(16) >= 16) {
    Value where = findInRows<isMax>(b, operands[0], onnx, last);
    return finish(b.elementwise(where, b.getI64Type(), [](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
      return v[0].getType().isInteger(64) ? v[0] : n.create<arith::ExtSIOp>(n.getI64Type(), v[0]);
    }));
  }
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators[axis] = utils::IteratorType::reduction;
  SmallVector<AffineExpr> kept;
  Sizes sizes;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis) {
      kept.push_back(b.getAffineDimExpr(i));
      sizes.push_back(b.dim(operands[0], i));
    }
  AffineMap map = AffineMap::get(rank, 0, kept, b.getContext());
  Value best = b.fill(sizes, b.create<arith::ConstantOp>(isMax ? scalar::getLowest(onnx) : scalar::getHighest(onnx)));
  Value where = b.fill(sizes, b.scalarInt(b.getI64Type(), 0));
  bool isUnsigned = scalar::isUnsigned(onnx);
  auto generic = b.create<linalg::GenericOp>(
      TypeRange{best.getType(), where.getType()}, operands[0], ValueRange{best, where},
      ArrayRef<AffineMap>{b.getMultiDimIdentityMap(rank), map, map}, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder body(loc, nested);
        Value x = scalar::decode(body, args[0], onnx), better;
        if (isa<FloatType>(compute)) {
          // Unordered comparisons hold for a NaN; nothing is better than one (the last of equals is).
          auto predicate = isMax ? (last ? arith::CmpFPredicate::UGE : arith::CmpFPredicate::UGT)
                                 : (last ? arith::CmpFPredicate::ULE : arith::CmpFPredicate::ULT);
          better = body.create<arith::CmpFOp>(predicate, x, args[1]);
          Value isNumber = body.create<arith::CmpFOp>(arith::CmpFPredicate::ORD, args[1], args[1]);
          if (last)
            isNumber = body.create<arith::OrIOp>(isNumber, body.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x));
          better = body.create<arith::AndIOp>(better, isNumber);
        } else {
          using P = arith::CmpIPredicate;
          P predicate = isUnsigned ? (isMax ? (last ? P::uge : P::ugt) : (last ? P::ule : P::ult))
                                   : (isMax ? (last ? P::sge : P::sgt) : (last ? P::sle : P::slt));
          better = body.create<arith::CmpIOp>(predicate, x, args[1]);
        }
        Value here = body.create<arith::IndexCastOp>(body.getI64Type(), body.create<linalg::IndexOp>(axis));
        Value nextBest = body.create<arith::SelectOp>(better, x, args[1]);
        Value nextWhere = body.create<arith::SelectOp>(better, here, args[2]);
        body.create<linalg::YieldOp>(ValueRange{nextBest, nextWhere});
      });
  return finish(generic.getResult(1));
}

static LogicalResult downgradeArg(Operation *op, PatternRewriter &rewriter) {
  return downgradeStep(op, rewriter, {{"select_last_index", 0}});
}

STRATA_SLICE(ArgMax) {
  ops.add("ArgMax",
          {.inferShapes = inferArg, .upgrade = keepAttributes, .downgrade = downgradeArg, .lower = lowerArg<true>});
  ops.add("ArgMin",
          {.inferShapes = inferArg, .upgrade = keepAttributes, .downgrade = downgradeArg, .lower = lowerArg<false>});
}
