//===- Cumulative.cpp - CumSum and CumProd --------------------------------===//
//
// A loop along the axis carries the sum (product) of the slices so far.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"
#include "Conversion/ScalarOps.h"

static LogicalResult inferCumulative(ShapeContext &c) {
  if (auto rank = c.rank(0))
    if (auto axis = c.integers(1); axis && axis->size() == 1 && failed(c.normalizeAxis((*axis)[0], *rank)))
      return failure();
  c.copyShape(0);
  return success();
}

// The operator along a known axis.
static Value accumulate(Operation *op, LinalgBuilder &b, Value data, int64_t axis, bool isProduct) {
  auto type = cast<RankedTensorType>(data.getType());
  Type onnx = getElementType(op->getOperand(0)), compute = scalar::getComputeType(onnx);
  auto getFlag = [&](StringRef name) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    return attr && attr.getInt() != 0;
  };
  bool exclusive = getFlag("exclusive"), reverse = getFlag("reverse");
  Sizes sizes = b.sizes(data), slice = sizes;
  slice[axis] = b.getIndexAttr(1);
  Value sum = b.fill(slice, b.scalarInt(compute, isProduct)), result = b.empty(sizes, type.getElementType());
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
  OpFoldResult last = b.sub(sizes[axis], b.getIndexAttr(1));
  return b.loopNest({sizes[axis]}, {result, sum}, [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
    offsets[axis] = reverse ? b.sub(last, at[0]) : OpFoldResult(at[0]);
    Value x = b.slice(data, offsets, slice);
    Value next = b.elementwise({carried[1], x}, compute, [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
      Value y = scalar::decode(nested, args[1], onnx);
      if (isa<FloatType>(compute))
        return isProduct ? nested.create<arith::MulFOp>(args[0], y).getResult()
                         : nested.create<arith::AddFOp>(args[0], y).getResult();
      return isProduct ? nested.create<arith::MulIOp>(args[0], y).getResult()
                       : nested.create<arith::AddIOp>(args[0], y).getResult();
    });
    Value stored = exclusive ? carried[1] : next;
    if (compute != type.getElementType())
      stored = b.elementwise(stored, type.getElementType(), [&](ImplicitLocOpBuilder &nested, ValueRange args) {
        return scalar::encode(nested, args[0], onnx);
      });
    return {b.create<tensor::InsertSliceOp>(stored, carried[0], offsets, slice, ones), next};
  })[0];
}

// Elements of the last axis lie side by side, and those of all rows far apart: they change places.
static Value accumulateAlong(Operation *op, LinalgBuilder &b, Value data, int64_t axis, bool isProduct) {
  int64_t rank = getRank(data);
  if (axis != rank - 1 || rank == 1)
    return accumulate(op, b, data, axis, isProduct);
  SmallVector<int64_t> first{axis}, back;
  for (int64_t i = 0; i < rank - 1; ++i) {
    first.push_back(i);
    back.push_back(i + 1);
  }
  back.push_back(0);
  return b.transpose(accumulate(op, b, b.transpose(data, first), 0, isProduct), back);
}

template <bool isProduct>
static FailureOr<SmallVector<Value>> lowerCumulative(Operation *op, ValueRange operands, LinalgBuilder &b) {
  int64_t rank = getRank(operands[0]);
  if (rank == 0)
    return op->emitOpError("cannot be compiled: its input is a scalar");
  if (auto axis = b.getIntegers(op->getOperand(1)))
    return SmallVector<Value>{
        accumulateAlong(op, b, operands[0], axis->front() < 0 ? axis->front() + rank : axis->front(), isProduct)};
  // Only the run tells the axis: one branch per axis.
  Value axis = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), b.extractScalar(operands[1]));
  Value negative = b.compare(arith::CmpIPredicate::slt, axis, b.getIndexAttr(0));
  axis = b.index(b.select(negative, b.add(axis, b.getIndexAttr(rank)), axis));
  b.check(b.compare(arith::CmpIPredicate::ult, axis, b.getIndexAttr(rank)), "the axis is out of range");
  auto build = [&](auto &self, int64_t i) -> Value {
    if (i == rank - 1)
      return accumulateAlong(op, b, operands[0], i, isProduct);
    auto branch =
        b.create<scf::IfOp>(operands[0].getType(), b.compare(arith::CmpIPredicate::eq, axis, b.getIndexAttr(i)),
                            /*withElseRegion=*/true);
    for (bool isThen : {true, false}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(isThen ? branch.thenBlock() : branch.elseBlock());
      Value result = isThen ? accumulateAlong(op, b, operands[0], i, isProduct) : self(self, i + 1);
      b.create<scf::YieldOp>(b.castTo(result, operands[0].getType()));
    }
    return branch.getResult(0);
  };
  return SmallVector<Value>{build(build, 0)};
}

STRATA_SLICE(Cumulative) {
  ops.add("CumSum", {.inferShapes = inferCumulative, .lower = lowerCumulative<false>});
  ops.add("CumProd", {.inferShapes = inferCumulative, .lower = lowerCumulative<true>});
}
