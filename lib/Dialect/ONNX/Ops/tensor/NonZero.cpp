//===- NonZero.cpp - NonZero and Compress ---------------------------------===//
//
// The number of results is counted first; then a loop writes each candidate
// behind the ones found so far, into a place more than there are.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"
#include "Conversion/RuntimeCalls.h"

static Value isNonZero(ImplicitLocOpBuilder &b, Value x) {
  Type type = x.getType();
  if (auto complexType = dyn_cast<ComplexType>(type)) {
    Value re = isNonZero(b, b.create<complex::ReOp>(x)), im = isNonZero(b, b.create<complex::ImOp>(x));
    return b.create<arith::OrIOp>(re, im);
  }
  Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(type));
  if (isa<FloatType>(type))
    return b.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, x, zero);
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, x, zero);
}

// How many elements are not zero.
static Value countNonZero(LinalgBuilder &b, Value tensor) {
  int64_t rank = getRank(tensor);
  Value count = b.reduce(tensor, llvm::to_vector(llvm::seq<int64_t>(0, rank)), false, b.scalarInt(b.getI64Type(), 0),
                         [](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
                           Value one = nested.create<arith::ExtUIOp>(nested.getI64Type(), isNonZero(nested, args[0]));
                           return nested.create<arith::AddIOp>(args[1], one);
                         });
  return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), b.extractScalar(count));
}

static LogicalResult inferNonZero(ShapeContext &c) {
  if (auto rank = c.rank(0))
    c.setShape(0, {Dim(*rank), Dim()});
  else
    c.setShape(0, {Dim(), Dim()});
  return success();
}

static FailureOr<SmallVector<Value>> lowerNonZero(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0];
  int64_t rank = getRank(data);
  if (isa<StringType>(getElementType(op->getOperand(0)))) // zero is what NumPy's is: the empty string
    data = mapElements(b, data, b.getI64Type(), [&](ValueRange element) {
      return callRuntime(b, "strata_rt_string_length", element[0], b.getI64Type());
    });
  Value count = countNonZero(b, data), one = b.index(int64_t(1));
  Type i64 = b.getI64Type();
  if (rank == 0) // A scalar has no indices: 0 rows.
    return SmallVector<Value>{b.empty({b.getIndexAttr(0), count}, i64)};
  Value room = b.empty({b.getIndexAttr(rank), b.add(count, one)}, i64);
  SmallVector<Value> found = b.loopNest(
      b.sizes(data), {room, b.index(int64_t(0))}, [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
        Value list = carried[0], next = b.create<arith::AddIOp>(carried[1], one);
        for (auto [i, index] : llvm::enumerate(at))
          list = b.create<tensor::InsertOp>(b.create<arith::IndexCastOp>(i64, index), list,
                                            ValueRange{b.index(static_cast<int64_t>(i)), carried[1]});
        Value is = isNonZero(b, b.create<tensor::ExtractOp>(data, at));
        return {list, b.create<arith::SelectOp>(is, next, carried[1])};
      });
  OpFoldResult zero = b.getIndexAttr(0);
  return SmallVector<Value>{b.slice(found[0], {zero, zero}, {b.getIndexAttr(rank), count})};
}

//===----------------------------------------------------------------------===//
// Compress: the slices along the axis (of the flattened input without one) whose condition is true
//===----------------------------------------------------------------------===//

static LogicalResult inferCompress(ShapeContext &c) {
  if (auto rank = c.rank(1); rank && *rank != 1)
    return c.emitError() << "needs a condition of rank 1, not " << *rank;
  if (!c.hasAttr("axis")) {
    c.setShape(0, Dim());
    return success();
  }
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  FailureOr<int64_t> axis = c.normalizeAxis(c.integer("axis", 0), shape->size());
  if (failed(axis))
    return failure();
  Dim count;
  if (auto condition = c.integers(1))
    count = Dim(llvm::count_if(*condition, [](int64_t i) { return i != 0; }));
  (*shape)[*axis] = count;
  c.setShape(0, *shape);
  return success();
}

static FailureOr<SmallVector<Value>> lowerCompress(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0], condition = operands[1];
  int64_t axis = 0;
  if (auto attr = op->getAttrOfType<IntegerAttr>("axis"))
    axis = attr.getInt() < 0 ? attr.getInt() + getRank(data) : attr.getInt();
  else
    data = b.reshape(data, {b.product(b.sizes(data))});
  auto type = cast<RankedTensorType>(data.getType());
  OpFoldResult length = b.dim(condition, 0);
  b.check(b.compare(arith::CmpIPredicate::sle, length, b.dim(data, axis)),
          "the condition has more elements than the dimension");
  Value count = countNonZero(b, condition), one = b.index(int64_t(1));
  Value room = b.empty({b.add(count, one)}, b.getI64Type());
  Value list =
      b.loopNest({length}, {room, b.index(int64_t(0))}, [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
        Value position = b.create<arith::IndexCastOp>(b.getI64Type(), at[0]);
        Value next = b.create<arith::AddIOp>(carried[1], one);
        Value is = b.create<tensor::ExtractOp>(condition, at);
        return {b.create<tensor::InsertOp>(position, carried[0], carried[1]),
                b.create<arith::SelectOp>(is, next, carried[1])};
      })[0];
  Sizes sizes = b.sizes(data);
  sizes[axis] = count;
  return SmallVector<Value>{
      b.generate(sizes, type.getElementType(), [&](ImplicitLocOpBuilder &body, ValueRange at) -> Value {
        SmallVector<Value> source(at);
        source[axis] =
            body.create<arith::IndexCastOp>(body.getIndexType(), body.create<tensor::ExtractOp>(list, at[axis]));
        return body.create<tensor::ExtractOp>(data, source);
      })};
}

STRATA_SLICE(NonZero) {
  ops.add("NonZero", {.inferShapes = inferNonZero, .lower = lowerNonZero, .handles = true});
  ops.add("Compress", {.inferShapes = inferCompress, .lower = lowerCompress, .handles = true});
}
