//===- Sampling.h - reading between elements --------------------*- C++ -*-===//
//
// Coordinates that are data: any floating-point value, NaN and infinities
// included, becomes a position that cannot leave the tensor.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_SAMPLING_H
#define STRATA_LIB_DIALECT_ONNX_OPS_SAMPLING_H

#include "Compute.h"

namespace strata::sampling {

/// `x` in [low, high]; NaN becomes `low`.
inline Value clamp(ImplicitLocOpBuilder &b, Value x, double low, double high) {
  Value above = b.create<arith::MaxNumFOp>(x, constantFloat(b, x.getType(), low));
  return b.create<arith::MinNumFOp>(above, constantFloat(b, x.getType(), high));
}

/// A coordinate that integers near it can be computed with: far beyond any size, but far from overflowing.
inline Value bounded(ImplicitLocOpBuilder &b, Value x) { return clamp(b, x, -1e9, 1e9); }

/// A whole number in floating point, bounded, as an index. (Few vectors become integers of 64 bits.)
inline Value toIndex(ImplicitLocOpBuilder &b, Value x) {
  return b.create<arith::IndexCastOp>(b.getIndexType(), b.create<arith::FPToSIOp>(b.getI32Type(), x));
}
inline Value fromIndex(ImplicitLocOpBuilder &b, Type type, Value index) {
  return b.create<arith::SIToFPOp>(type, b.create<arith::IndexCastOp>(b.getI64Type(), index));
}

/// `index` moved into [0, size).
inline Value clampIndex(ImplicitLocOpBuilder &b, Value index, Value size) {
  Value zero = b.create<arith::ConstantIndexOp>(0), one = b.create<arith::ConstantIndexOp>(1);
  Value last = b.createOrFold<arith::SubIOp>(size, one);
  return b.create<arith::MaxSIOp>(b.create<arith::MinSIOp>(index, last), zero);
}
/// Whether `index` is in [0, size).
inline Value isInside(ImplicitLocOpBuilder &b, Value index, Value size) {
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, index, size);
}

/// From one floating-point type to another.
inline Value convertFloat(ImplicitLocOpBuilder &b, Value x, Type to) {
  unsigned from = x.getType().getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
  if (from == width)
    return x;
  if (from < width)
    return b.create<arith::ExtFOp>(to, x);
  return b.create<arith::TruncFOp>(to, x);
}

} // namespace strata::sampling

#endif // STRATA_LIB_DIALECT_ONNX_OPS_SAMPLING_H
