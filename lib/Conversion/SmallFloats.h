//===- SmallFloats.h - floating-point types of at most 8 bits ---*- C++ -*-===//

#ifndef STRATA_LIB_CONVERSION_SMALLFLOATS_H
#define STRATA_LIB_CONVERSION_SMALLFLOATS_H

#include "Conversion/ScalarOps.h"

namespace strata::scalar {

/// Bits (an i8) to the f32 of the same value.
mlir::Value decodeSmallFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value bits, mlir::Type onnxElement);

/// An f32 to bits (an i8). See scalar::encode.
mlir::Value encodeSmallFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type onnxElement, bool saturate,
                             RoundMode mode);

} // namespace strata::scalar

#endif // STRATA_LIB_CONVERSION_SMALLFLOATS_H
