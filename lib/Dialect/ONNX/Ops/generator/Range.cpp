//===- Range.cpp - Range: numbers from start by delta up to limit ---------===//

#include "../Elementwise.h"
#include "Dialect/VersionSteps.h"
#include <cmath>

// max(ceil((limit - start) / delta), 0), where the operands tell.
static Dim inferCount(ShapeContext &c) {
  ValueAnalysis::Values start = c.values(0), limit = c.values(1), delta = c.values(2);
  auto one = [](auto &values) { return values && values->size() == 1; };
  if (one(delta) && (*delta)[0].isStatic() && (*delta)[0].size != 0 && one(start) && one(limit)) {
    Dim first = (*start)[0], last = (*limit)[0];
    int64_t step = (*delta)[0].size;
    if (step == 1 && first.is(0) && last.symbol)
      return last;
    Dim difference = last - first;
    if (!difference.isStatic())
      return Dim();
    int64_t span = difference.size;
    if ((span > 0) != (step > 0) || span == 0 || span == INT64_MIN)
      return span == INT64_MIN ? Dim() : Dim(0);
    return Dim(llvm::divideCeil(static_cast<uint64_t>(std::abs(span)), static_cast<uint64_t>(std::abs(step))));
  }
  auto first = c.floats(0), last = c.floats(1), step = c.floats(2);
  if (first && last && step && first->size() == 1 && last->size() == 1 && step->size() == 1 && (*step)[0] != 0) {
    // The difference is taken in the operands' own type.
    double span = (*last)[0] - (*first)[0];
    if (!c.elementType(0).isF64())
      span = static_cast<float>(span);
    double count = std::ceil(span / (*step)[0]);
    if (std::isfinite(count) && count < 1e15)
      return Dim(static_cast<int64_t>(std::max(count, 0.0)));
  }
  return Dim();
}

static LogicalResult inferRange(ShapeContext &c) {
  static constexpr const char *names[] = {"start", "limit", "delta"};
  for (unsigned formal = 0; formal < 3; ++formal)
    if (std::optional<Shape> shape = c.shape(formal))
      for (const Dim &dim : *shape)
        if (dim.isStatic() && !dim.is(1))
          return c.emitError() << names[formal] << " must be a scalar, but is of type " << c.input(formal).getType();
  if (auto delta = c.integers(2); delta && delta->size() == 1 && delta->front() == 0)
    return c.emitError() << "delta is 0";
  c.setShape(0, {inferCount(c)});
  return success();
}

static ValueAnalysis::Values inferElements(ShapeContext &c) {
  auto start = c.integers(0), delta = c.integers(2);
  Dim count = inferCount(c);
  if (!start || !delta || !count.isStatic() || count.size > 256)
    return std::nullopt;
  SmallVector<Dim> values;
  for (int64_t i = 0; i < count.size; ++i)
    values.push_back(Dim(wrapInteger(start->front() + i * delta->front(), c.elementType(0))));
  return values;
}

static Value countIntegers(LinalgBuilder &b, Value start, Value limit, Value delta) {
  Type wide = b.getI64Type();
  auto extend = [&](Value v) { return v.getType() == wide ? v : b.createOrFold<arith::ExtSIOp>(wide, v); };
  start = extend(start), limit = extend(limit), delta = extend(delta);
  Value zero = b.scalarInt(wide, 0), one = b.scalarInt(wide, 1);
  b.check(b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, delta, zero), "delta is 0");
  Value up = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sgt, delta, zero);
  // Distances as unsigned numbers: no difference of two int64 overflows those.
  Value span = b.createOrFold<arith::SelectOp>(up, b.createOrFold<arith::SubIOp>(limit, start),
                                               b.createOrFold<arith::SubIOp>(start, limit));
  Value step = b.createOrFold<arith::SelectOp>(up, delta, b.createOrFold<arith::SubIOp>(zero, delta));
  Value some =
      b.createOrFold<arith::SelectOp>(up, b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sgt, limit, start),
                                      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, limit, start));
  Value divisor = b.createOrFold<arith::MaxUIOp>(step, one);
  Value count = b.createOrFold<arith::AddIOp>(
      b.createOrFold<arith::DivUIOp>(b.createOrFold<arith::SubIOp>(span, one), divisor), one);
  return b.createOrFold<arith::SelectOp>(some, count, zero);
}

static Value countFloats(LinalgBuilder &b, Value start, Value limit, Value delta) {
  Type wide = b.getF64Type();
  auto extend = [&](Value v) { return v.getType() == wide ? v : b.createOrFold<arith::ExtFOp>(wide, v); };
  b.check(b.createOrFold<arith::CmpFOp>(arith::CmpFPredicate::UNE, delta, b.scalar(delta.getType(), 0)), "delta is 0");
  Value span = extend(b.createOrFold<arith::SubFOp>(limit, start));
  Value count = b.createOrFold<math::CeilOp>(b.createOrFold<arith::DivFOp>(span, extend(delta)));
  Value integer = scalar::convert(b, count, wide, b.getI64Type());
  return b.createOrFold<arith::MaxSIOp>(integer, b.scalarInt(b.getI64Type(), 0));
}

static FailureOr<SmallVector<Value>> lowerRange(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type element = type.getElementType();
  // float16 and bfloat16 count and accumulate in float.
  auto scalarOf = [&](unsigned i) { return scalar::decode(b, b.extractScalar(operands[i]), element); };
  Value start = scalarOf(0), limit = scalarOf(1), delta = scalarOf(2);
  bool isFloat = isa<FloatType>(element);
  OpFoldResult size = b.getIndexAttr(type.getDimSize(0));
  if (type.isDynamicDim(0)) {
    Value count = isFloat ? countFloats(b, start, limit, delta) : countIntegers(b, start, limit, delta);
    size = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), count);
  }
  Value result = b.generate({size}, getSeamElementType(element), [&](ImplicitLocOpBuilder &n, ValueRange indices) {
    Type compute = start.getType();
    Value i = n.create<arith::IndexCastOp>(n.getI64Type(), indices[0]);
    if (isFloat) {
      Value steps = n.create<arith::MulFOp>(n.create<arith::SIToFPOp>(compute, i), delta);
      return scalar::encode(n, n.create<arith::AddFOp>(start, steps), element);
    }
    if (compute != i.getType())
      i = n.create<arith::TruncIOp>(compute, i);
    return n.create<arith::AddIOp>(start, n.create<arith::MulIOp>(i, delta)).getResult();
  });
  return SmallVector<Value>{result};
}

static LogicalResult downgradeRange(Operation *op, PatternRewriter &rewriter) {
  return downgradeStep(op, rewriter, {{"stash_type", 1}});
}

STRATA_SLICE(Range) {
  ops.add("Range", {.inferShapes = inferRange,
                    .inferValues = inferElements,
                    .upgrade = keepAttributes,
                    .downgrade = downgradeRange,
                    .lower = lowerRange});
}
