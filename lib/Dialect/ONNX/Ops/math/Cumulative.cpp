//===- Cumulative.cpp - CumSum and CumProd --------------------------------===//
//
// A loop along the axis carries the sum (product) of the elements or slices so far.
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

namespace {
/// What the operator computes of one element.
struct Accumulation {
  Accumulation(Operation *op, bool isProduct)
      : onnx(getElementType(op->getOperand(0))), compute(scalar::getComputeType(onnx)), isProduct(isProduct),
        exclusive(isSet(op, "exclusive")), reverse(isSet(op, "reverse")) {}

  /// The next sum, and the element of the result.
  std::pair<Value, Value> step(ImplicitLocOpBuilder &b, Value sum, Value element) const {
    Value y = scalar::decode(b, element, onnx), next;
    if (isa<FloatType>(compute))
      next = isProduct ? b.create<arith::MulFOp>(sum, y).getResult() : b.create<arith::AddFOp>(sum, y).getResult();
    else
      next = isProduct ? b.create<arith::MulIOp>(sum, y).getResult() : b.create<arith::AddIOp>(sum, y).getResult();
    return {next, scalar::encode(b, exclusive ? sum : next, onnx)};
  }

  Type onnx, compute;
  bool isProduct, exclusive, reverse;

private:
  static bool isSet(Operation *op, StringRef name) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    return attr && attr.getInt() != 0;
  }
};
} // namespace

// Along the last axis: element after element of a row, the sum in a register.
static Value accumulateRows(const Accumulation &a, LinalgBuilder &b, Value data) {
  auto type = cast<RankedTensorType>(data.getType());
  Sizes sizes = b.sizes(data), outer(ArrayRef(sizes).drop_back());
  OpFoldResult last = b.sub(sizes.back(), b.getIndexAttr(1));
  Value result = b.empty(sizes, type.getElementType()), none = b.scalarInt(a.compute, a.isProduct);
  return b.loopNest(outer, result, [&](ValueRange row, ValueRange rows) -> SmallVector<Value> {
    return {b.loopNest({sizes.back()}, {rows[0], none}, [&](ValueRange i, ValueRange carried) -> SmallVector<Value> {
      SmallVector<Value> at(row);
      at.push_back(a.reverse ? b.index(b.sub(last, i[0])) : i[0]);
      auto [next, stored] = a.step(b, carried[1], b.create<tensor::ExtractOp>(data, at));
      return {b.create<tensor::InsertOp>(stored, carried[0], at), next};
    })[0]};
  })[0];
}

// Along another one: slice after slice, which are vectors. Their sums stay in the first-level cache: of a larger slice
// it is one part after the other.
static Value accumulateSlices(const Accumulation &a, LinalgBuilder &b, Value data, int64_t axis) {
  auto type = cast<RankedTensorType>(data.getType());
  int64_t rank = type.getRank(), room = 2048;
  Sizes sizes = b.sizes(data), slice = sizes, parts(rank, b.getIndexAttr(1));
  slice[axis] = b.getIndexAttr(1);
  for (int64_t i = rank - 1; i >= 0 && llvm::none_of(type.getShape(), ShapedType::isDynamic); --i) {
    if (i == axis || type.getDimSize(i) == 0)
      continue;
    int64_t part = std::min(type.getDimSize(i), std::max<int64_t>(room, 1));
    while (type.getDimSize(i) % part != 0)
      --part;
    slice[i] = b.getIndexAttr(part);
    parts[i] = b.getIndexAttr(type.getDimSize(i) / part);
    room /= part;
  }
  OpFoldResult last = b.sub(sizes[axis], b.getIndexAttr(1));
  SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
  Value result = b.empty(sizes, type.getElementType());
  return b.loopNest(parts, result, [&](ValueRange part, ValueRange whole) -> SmallVector<Value> {
    Value none = b.fill(slice, b.scalarInt(a.compute, a.isProduct));
    return {b.loopNest({sizes[axis]}, {whole[0], none}, [&](ValueRange i, ValueRange carried) -> SmallVector<Value> {
      SmallVector<OpFoldResult> offsets;
      for (int64_t d = 0; d < rank; ++d)
        offsets.push_back(b.mul(part[d], slice[d]));
      offsets[axis] = a.reverse ? b.sub(last, i[0]) : OpFoldResult(i[0]);
      Value x = b.slice(data, offsets, slice), place = b.slice(carried[0], offsets, slice);
      SmallVector<AffineMap> maps(3, b.getMultiDimIdentityMap(rank));
      SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
      auto both = b.create<linalg::GenericOp>(
          TypeRange{carried[1].getType(), place.getType()}, x, ValueRange{carried[1], place}, maps, iterators,
          [&](OpBuilder &nested, Location loc, ValueRange args) {
            ImplicitLocOpBuilder body(loc, nested);
            auto [next, stored] = a.step(body, args[1], args[0]);
            body.create<linalg::YieldOp>(ValueRange{next, stored});
          });
      return {b.create<tensor::InsertSliceOp>(both.getResult(1), carried[0], offsets, slice, ones), both.getResult(0)};
    })[0]};
  })[0];
}

// The operator along a known axis.
static Value accumulateAlong(Operation *op, LinalgBuilder &b, Value data, int64_t axis, bool isProduct) {
  Accumulation a(op, isProduct);
  return axis == getRank(data) - 1 ? accumulateRows(a, b, data) : accumulateSlices(a, b, data, axis);
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
