//===- ScalarOps.h - scalar semantics of ONNX's element types ---*- C++ -*-===//
//
// One definition for every lowering. Scalars are at the seam's types; the onnx
// element type beside them tells signedness and the encoding of bytes.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_CONVERSION_SCALAROPS_H
#define STRATA_CONVERSION_SCALAROPS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace strata::scalar {

/// uint8..uint64, uint4, uint2 and bool.
bool isUnsigned(mlir::Type onnxElement);

/// The type that arithmetic on elements of `onnxElement` is done in: f32 for the floating-point types narrower than it,
/// the seam's type otherwise.
mlir::Type getComputeType(mlir::Type onnxElement);

/// How float8e8m0 rounds to a power of two; the other types round to nearest even.
enum class RoundMode { up, down, nearest };

/// An element as a value of its compute type: exact where it is read from memory; what `encode` makes of a value of f32
/// in the same loop may be left as it was (ONNX Runtime and OpenVINO do the same), but not what `convert` makes.
mlir::Value decode(mlir::ImplicitLocOpBuilder &b, mlir::Value element, mlir::Type onnxElement);

/// A value of the compute type as an element: floating-point values are rounded to nearest even; out of the range of an
/// 8-bit or narrower type they saturate, or become infinity or NaN where `saturate` is false and the type has them.
mlir::Value encode(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type onnxElement, bool saturate = true,
                   RoundMode mode = RoundMode::up);

/// Conversion between element types as the operator Cast defines it: floating point to integer truncates (out of range:
/// saturates, NaN: 0, where the specification leaves it open; 4 bits and less wrap), integers wrap, anything to bool
/// compares with zero.
mlir::Value convert(mlir::ImplicitLocOpBuilder &b, mlir::Value element, mlir::Type from, mlir::Type to,
                    bool saturate = true, RoundMode mode = RoundMode::up);

/// exp(x - most) for an x that is at most `most`, as a term of a sum with exp(0): what would be subnormal counts for
/// nothing in it and may be 0, since processors take a hundred times as long for it.
mlir::Value expBelow(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value most);

/// On the math.exp of expBelow: its operand is not positive. Without it, the same slower and more accurate.
constexpr llvm::StringLiteral kNotPositive = "strata.not_positive";

/// The logistic function, 1 / (1 + exp(-x)), of a floating-point x: below 3.2 units in the last place where the result is a
/// normal f32.
mlir::Value logistic(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// The smallest value of a compute type for `onnxElement` (-inf for floating point), and the largest.
mlir::TypedAttr getLowest(mlir::Type onnxElement);
mlir::TypedAttr getHighest(mlir::Type onnxElement);

} // namespace strata::scalar

#endif // STRATA_CONVERSION_SCALAROPS_H
