//===- Unique.cpp - Unique ------------------------------------------------===//
//
// The candidates (elements, or slices along the axis) are ordered by a stable
// merge sort of their positions; equal ones are then neighbours, the first one
// in front. NaNs are equal to each other and greater than every number.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"
#include "Conversion/RuntimeCalls.h"

static LogicalResult inferUnique(ShapeContext &c) {
  for (unsigned i = 1; i < 4; ++i)
    c.setShape(i, Dim());
  std::optional<Shape> shape = c.shape(0);
  if (!c.hasAttr("axis")) {
    c.setShape(0, Dim());
    return success();
  }
  if (!shape)
    return success();
  FailureOr<int64_t> axis = c.normalizeAxis(c.integer("axis", 0), shape->size());
  if (failed(axis))
    return failure();
  (*shape)[*axis] = Dim();
  c.setShape(0, *shape);
  return success();
}

// Whether x comes before y.
static Value isBefore(ImplicitLocOpBuilder &b, Value x, Value y, Type onnx) {
  if (auto complexType = dyn_cast<ComplexType>(onnx)) {
    Type part = complexType.getElementType();
    Value xr = b.create<complex::ReOp>(x), yr = b.create<complex::ReOp>(y);
    Value less = isBefore(b, xr, yr, part), greater = isBefore(b, yr, xr, part);
    Value imaginary = isBefore(b, b.create<complex::ImOp>(x), b.create<complex::ImOp>(y), part);
    return b.create<arith::OrIOp>(
        less, b.create<arith::AndIOp>(
                  imaginary, b.create<arith::XOrIOp>(greater, b.create<arith::ConstantOp>(b.getBoolAttr(true)))));
  }
  x = scalar::decode(b, x, onnx);
  y = scalar::decode(b, y, onnx);
  if (!isa<FloatType>(x.getType()))
    return b.create<arith::CmpIOp>(scalar::isUnsigned(onnx) ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, x,
                                   y);
  // ULT holds for a NaN on either side: x must be a number.
  return b.create<arith::AndIOp>(b.create<arith::CmpFOp>(arith::CmpFPredicate::ULT, x, y),
                                 b.create<arith::CmpFOp>(arith::CmpFPredicate::ORD, x, x));
}

namespace {
struct Sorter {
  LinalgBuilder &b;
  Value keys; // [candidates, elements of one]
  Type onnx;

  Value at(Value positions, Value i) {
    return b.create<arith::IndexCastOp>(b.getIndexType(), b.create<tensor::ExtractOp>(positions, i));
  }

  // Whether candidate x comes before candidate y, in lexicographic order.
  Value isLess(Value x, Value y) {
    OpFoldResult length = b.dim(keys, 1);
    auto compare = [&](Value i) {
      Value ex = b.create<tensor::ExtractOp>(keys, ValueRange{x, i}),
            ey = b.create<tensor::ExtractOp>(keys, ValueRange{y, i});
      if (isa<StringType>(onnx)) {
        Value order = callRuntime(b, "strata_rt_string_compare", {ex, ey}, b.getI64Type());
        Value zero = b.scalarInt(b.getI64Type(), 0);
        return std::pair<Value, Value>(b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, order, zero),
                                       b.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, order, zero));
      }
      return std::pair(isBefore(b, ex, ey, onnx), isBefore(b, ey, ex, onnx));
    };
    if (isConstantIntValue(length, 1))
      return compare(b.index(int64_t(0))).first;
    Value no = b.scalarInt(b.getI1Type(), 0), yes = b.scalarInt(b.getI1Type(), 1);
    // Less, and still equal.
    return b.loopNest({length}, {no, yes}, [&](ValueRange i, ValueRange state) -> SmallVector<Value> {
      auto [less, greater] = compare(i[0]);
      Value nowLess = b.create<arith::AndIOp>(state[1], less);
      Value differs = b.create<arith::OrIOp>(less, greater);
      return {b.create<arith::OrIOp>(state[0], nowLess),
              b.create<arith::AndIOp>(state[1], b.create<arith::XOrIOp>(differs, yes))};
    })[0];
  }

  // The positions in order.
  Value sort(Value count) {
    Type i64 = b.getI64Type();
    Value zero = b.index(int64_t(0)), one = b.index(int64_t(1)), number = b.create<arith::IndexCastOp>(i64, count);
    Value start = b.generate({OpFoldResult(count)}, i64, [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
      return n.create<arith::IndexCastOp>(i64, i[0]);
    });
    // Passes until runs of 2^passes hold all.
    Value below = b.create<arith::MaxSIOp>(b.create<arith::SubIOp>(number, b.scalarInt(i64, 1)), b.scalarInt(i64, 0));
    Value passes = b.create<arith::SubIOp>(b.scalarInt(i64, 64), b.create<math::CountLeadingZerosOp>(below));
    passes = b.create<arith::IndexCastOp>(b.getIndexType(), passes);
    return b.loopNest({OpFoldResult(passes)}, start, [&](ValueRange pass, ValueRange carried) -> SmallVector<Value> {
      Value positions = carried[0], width = b.create<arith::ShLIOp>(one, pass[0]);
      Value two = b.create<arith::ShLIOp>(width, one), last = b.create<arith::SubIOp>(count, one);
      Value into = b.empty({OpFoldResult(count)}, i64);
      // `left` and `right` are the next positions of the two runs that are being merged.
      return {b.loopNest(
          {OpFoldResult(count)}, {into, zero, zero}, [&](ValueRange k, ValueRange state) -> SmallVector<Value> {
            using P = arith::CmpIPredicate;
            Value offset = b.create<arith::RemUIOp>(k[0], two), low = b.create<arith::SubIOp>(k[0], offset);
            Value middle = b.create<arith::MinUIOp>(b.create<arith::AddIOp>(low, width), count);
            Value high = b.create<arith::MinUIOp>(b.create<arith::AddIOp>(low, two), count);
            Value isStart = b.create<arith::CmpIOp>(P::eq, offset, zero);
            Value left = b.create<arith::SelectOp>(isStart, low, state[1]);
            Value right = b.create<arith::SelectOp>(isStart, middle, state[2]);
            Value x = at(positions, b.create<arith::MinUIOp>(left, last)),
                  y = at(positions, b.create<arith::MinUIOp>(right, last));
            Value hasLeft = b.create<arith::CmpIOp>(P::ult, left, middle),
                  noRight = b.create<arith::CmpIOp>(P::uge, right, high);
            Value rightFirst = isLess(y, x);
            Value leftFirst = b.create<arith::XOrIOp>(rightFirst, b.scalarInt(b.getI1Type(), 1));
            Value takesLeft = b.create<arith::AndIOp>(hasLeft, b.create<arith::OrIOp>(noRight, leftFirst));
            Value taken = b.create<arith::IndexCastOp>(i64, b.create<arith::SelectOp>(takesLeft, x, y));
            return {b.create<tensor::InsertOp>(taken, state[0], k[0]),
                    b.create<arith::SelectOp>(takesLeft, b.create<arith::AddIOp>(left, one), left),
                    b.create<arith::SelectOp>(takesLeft, right, b.create<arith::AddIOp>(right, one))};
          })[0]};
    })[0];
  }
};
} // namespace

static FailureOr<SmallVector<Value>> lowerUnique(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto unique = cast<UniqueOp>(op);
  Value data = operands[0];
  Type i64 = b.getI64Type(), onnx = getElementType(op->getOperand(0));
  int64_t axis = 0;
  if (auto attr = op->getAttrOfType<IntegerAttr>("axis"))
    axis = attr.getInt() < 0 ? attr.getInt() + getRank(data) : attr.getInt();
  else
    data = b.reshape(data, {b.product(b.sizes(data))});
  Sizes sizes = b.sizes(data), rest = sizes;
  SmallVector<int64_t> permutation{axis};
  for (int64_t i = 0, rank = sizes.size(); i < rank; ++i)
    if (i != axis)
      permutation.push_back(i);
  rest.erase(rest.begin() + axis);
  Value keys = b.reshape(b.transpose(data, permutation), {sizes[axis], b.product(rest)});
  Sorter sorter{b, keys, onnx};
  Value count = b.index(sizes[axis]), zero = b.index(int64_t(0)), one = b.index(int64_t(1));
  Value order = sorter.sort(count);

  // The first candidate that is equal to each one: in order, a new one begins where the one before is less.
  Value unset = b.fill({sizes[axis]}, b.scalarInt(i64, 0));
  Value firsts = b.loopNest({sizes[axis]}, {unset, zero}, [&](ValueRange k, ValueRange state) -> SmallVector<Value> {
    Value candidate = sorter.at(order, k[0]);
    Value isStart = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, k[0], zero);
    Value previous = b.create<arith::SelectOp>(isStart, candidate, state[1]);
    Value isNew = b.create<arith::OrIOp>(isStart, sorter.isLess(previous, candidate));
    Value first = b.create<arith::SelectOp>(isNew, candidate, previous);
    return {b.create<tensor::InsertOp>(b.create<arith::IndexCastOp>(i64, first), state[0], candidate), first};
  })[0];

  // Numbers them, in order or as they come. The first one comes before those that are equal to it in both.
  bool sorted = unique.getSorted() != 0;
  Value room = b.fill({b.add(sizes[axis], b.getIndexAttr(1))}, b.scalarInt(i64, 0));
  SmallVector<Value> start{room, room, unset, zero};
  SmallVector<Value> found =
      b.loopNest({sizes[axis]}, start, [&](ValueRange k, ValueRange state) -> SmallVector<Value> {
        Value candidate = sorted ? sorter.at(order, k[0]) : k[0], first = sorter.at(firsts, candidate);
        Value isNew = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, candidate, first);
        Value number = b.create<arith::SelectOp>(isNew, state[3], sorter.at(state[2], first));
        Value numbers = b.create<tensor::InsertOp>(b.create<arith::IndexCastOp>(i64, number), state[2], candidate);
        Value indices = b.create<tensor::InsertOp>(b.create<arith::IndexCastOp>(i64, first), state[0], number);
        Value more = b.create<arith::AddIOp>(b.create<tensor::ExtractOp>(state[1], number), b.scalarInt(i64, 1));
        Value counts = b.create<tensor::InsertOp>(more, state[1], number);
        return {indices, counts, numbers,
                b.create<arith::SelectOp>(isNew, b.create<arith::AddIOp>(state[3], one), state[3])};
      });
  OpFoldResult number = found[3], none = b.getIndexAttr(0);
  Value indices = b.slice(found[0], none, number);
  sizes[axis] = number;
  SmallVector<Value> results{
      b.generate(sizes, getElementType(data), [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
        SmallVector<Value> source(i);
        source[axis] = n.create<arith::IndexCastOp>(n.getIndexType(), n.create<tensor::ExtractOp>(indices, i[axis]));
        return n.create<tensor::ExtractOp>(data, source);
      })};
  if (unique.getIndices())
    results.push_back(indices);
  if (unique.getInverseIndices())
    results.push_back(found[2]);
  if (unique.getCounts())
    results.push_back(b.slice(found[1], none, number));
  return results;
}

STRATA_SLICE(Unique) { ops.add("Unique", {.inferShapes = inferUnique, .lower = lowerUnique, .handles = true}); }
