//===- Moments.h - mean and variance in slices ------------------*- C++ -*-===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_MOMENTS_H
#define STRATA_LIB_DIALECT_ONNX_OPS_MOMENTS_H

#include "Compute.h"

namespace strata {

/// An element in a wider (or the same) floating-point type.
inline Value extend(ImplicitLocOpBuilder &b, Value v, Type type) {
  if (type == scalar::getComputeType(v.getType()))
    return scalar::decode(b, v, v.getType());
  return b.create<arith::ExtFOp>(type, v);
}
/// A floating-point value in another floating-point type.
inline Value convertFloat(ImplicitLocOpBuilder &b, Value v, Type type) {
  unsigned from = v.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (v.getType() == type)
    return v;
  if (v.getType() == scalar::getComputeType(type))
    return scalar::encode(b, v, type);
  if (from > to)
    return b.create<arith::TruncFOp>(type, v);
  return extend(b, v, type);
}

/// Over `axes`, which are dropped, in the type `compute`.
inline Value getMean(LinalgBuilder &b, Value x, ArrayRef<int64_t> axes, Type compute) {
  Value sum = reduceMany(b, x, b.getMultiDimIdentityMap(getRank(x)), axes, b.scalar(compute, 0),
                         [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
                           return n.create<arith::AddFOp>(v[1], extend(n, v[0], compute));
                         });
  Value count = countAs(b, x, axes, compute);
  return b.elementwise(sum, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    return n.create<arith::DivFOp>(v[0], count);
  });
}

/// The mean of the squared distances from `mean`: the variance of the population.
inline Value getVariance(LinalgBuilder &b, Value x, Value mean, ArrayRef<int64_t> axes, Type compute) {
  int64_t rank = getRank(x);
  Value sum = reduceMany(b, {x, mean}, {b.getMultiDimIdentityMap(rank), mapWithout(b.getContext(), rank, axes)}, axes,
                         b.scalar(compute, 0), [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
                           Value d = n.create<arith::SubFOp>(extend(n, v[0], compute), v[1]);
                           return n.create<arith::AddFOp>(v[2], n.create<arith::MulFOp>(d, d));
                         });
  Value count = countAs(b, x, axes, compute);
  return b.elementwise(sum, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    return n.create<arith::DivFOp>(v[0], count);
  });
}

/// 1 / sqrt(x + epsilon).
inline Value getInverseRoot(LinalgBuilder &b, Value x, double epsilon) {
  Type type = getElementType(x);
  return b.elementwise(x, type, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    Value root = n.create<math::SqrtOp>(n.create<arith::AddFOp>(v[0], constantFloat(n, type, epsilon)));
    return n.create<arith::DivFOp>(constantFloat(n, type, 1), root);
  });
}

/// How loops over `sizes` read an operand whose dimensions are aligned with the last ones of `sizes`. Broadcasts the
/// operand if only the run tells where it repeats.
inline AffineMap readTrailing(LinalgBuilder &b, Value &operand, ArrayRef<OpFoldResult> sizes) {
  int64_t rank = getRank(operand), lead = sizes.size() - rank;
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < rank; ++i) {
    OpFoldResult own = b.dim(operand, i), target = sizes[lead + i];
    if (isConstantIntValue(own, 1) && !isConstantIntValue(target, 1)) {
      exprs.push_back(b.getAffineConstantExpr(0));
      continue;
    }
    if (!getConstantIntValue(own) && !isEqualConstantIntOrValue(own, target)) {
      operand = b.broadcast(operand, sizes);
      return b.getMultiDimIdentityMap(sizes.size());
    }
    b.checkEqual(own, target, "an operand does not broadcast in dimension " + Twine(lead + i));
    exprs.push_back(b.getAffineDimExpr(lead + i));
  }
  return AffineMap::get(sizes.size(), 0, exprs, b.getContext());
}

} // namespace strata

#endif // STRATA_LIB_DIALECT_ONNX_OPS_MOMENTS_H
