//===- VectorNorms.cpp - MeanVarianceNormalization, LpNormalization -------===//

#include "../Moments.h"
#include "../Norms.h"

static FailureOr<SmallVector<int64_t>> getAxes(ShapeContext &c, int64_t rank) {
  SmallVector<int64_t> axes;
  for (int64_t axis : c.integerArray("axes").value_or(SmallVector<int64_t>{0, 2, 3})) {
    FailureOr<int64_t> normal = c.normalizeAxis(axis, rank, "'axes' holds");
    if (failed(normal))
      return failure();
    axes.push_back(*normal);
  }
  return axes;
}

static LogicalResult inferMeanVariance(ShapeContext &c) {
  if (auto rank = c.rank(0))
    if (failed(getAxes(c, *rank)))
      return failure();
  c.copyShape(0);
  return success();
}

static LogicalResult inferLpNormalization(ShapeContext &c) {
  if (auto rank = c.rank(0))
    if (failed(c.normalizeAxis(c.integer("axis", -1), *rank)))
      return failure();
  c.copyShape(0);
  return success();
}

static LogicalResult verifyLpNormalization(Operation *op) {
  if (auto p = op->getAttrOfType<IntegerAttr>("p"); p && p.getInt() != 1 && p.getInt() != 2)
    return op->emitOpError("'p' is ") << p.getInt() << ", not 1 or 2";
  return success();
}

// (x - mean) / (standard deviation + 1e-9).
static FailureOr<SmallVector<Value>> lowerMeanVariance(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value x = operands[0];
  int64_t rank = getRank(x);
  SmallVector<int64_t> axes;
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>("axes");
  for (int64_t axis : attr ? attr.asArrayRef() : ArrayRef<int64_t>{0, 2, 3})
    if (!llvm::is_contained(axes, axis < 0 ? axis + rank : axis))
      axes.push_back(axis < 0 ? axis + rank : axis);
  Type seam = getElementType(x), compute = scalar::getComputeType(seam);
  Value mean = getMean(b, x, axes, compute);
  Value variance = getVariance(b, x, mean, axes, compute);
  Value deviation = b.elementwise(variance, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    return n.create<arith::AddFOp>(n.create<math::SqrtOp>(v[0]), constantFloat(n, compute, 1e-9));
  });
  AffineMap row = mapWithout(b.getContext(), rank, axes);
  Value y = mapElements(b, {x, mean, deviation}, {b.getMultiDimIdentityMap(rank), row, row}, b.sizes(x), seam,
                        [&](ImplicitLocOpBuilder &n, ValueRange v) {
                          Value centered = n.create<arith::SubFOp>(extend(n, v[0], compute), v[1]);
                          return convertFloat(n, n.create<arith::DivFOp>(centered, v[2]), seam);
                        });
  return SmallVector<Value>{y};
}

// x / norm, and 0 where the norm is 0.
static FailureOr<SmallVector<Value>> lowerLpNormalization(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto norm = cast<LpNormalizationOp>(op);
  Value x = operands[0];
  int64_t rank = getRank(x), p = norm.getP();
  int64_t axis = static_cast<int64_t>(norm.getAxis());
  axis += axis < 0 ? rank : 0;
  Type seam = getElementType(x), compute = scalar::getComputeType(seam);
  AffineMap full = b.getMultiDimIdentityMap(rank), row = mapWithout(b.getContext(), rank, {axis});
  Value sum = reduceMany(b, x, full, {axis}, b.scalar(compute, 0), [&](ImplicitLocOpBuilder &n, ValueRange v) {
    return addScalars(n, v[1], powerOfAbs(n, extend(n, v[0], compute), p));
  });
  Value norms = b.elementwise(sum, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) { return rootOf(n, v[0], p); });
  Value y = mapElements(b, {x, norms}, {full, row}, b.sizes(x), seam, [&](ImplicitLocOpBuilder &n, ValueRange v) {
    Value zero = constantFloat(n, compute, 0);
    Value isZero = n.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, v[1], zero);
    Value divisor = n.create<arith::SelectOp>(isZero, constantFloat(n, compute, 1), v[1]);
    return convertFloat(n, n.create<arith::DivFOp>(extend(n, v[0], compute), divisor), seam);
  });
  return SmallVector<Value>{y};
}

STRATA_SLICE(VectorNorms) {
  ops.add("LpNormalization",
          {.verify = verifyLpNormalization, .inferShapes = inferLpNormalization, .lower = lowerLpNormalization});
  ops.add("MeanVarianceNormalization", {.inferShapes = inferMeanVariance, .lower = lowerMeanVariance});
}
