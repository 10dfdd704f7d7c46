//===- ElementKinds.h - ONNX's element types and type sets ------*- C++ -*-===//

#ifndef STRATA_DIALECT_ONNX_IR_ELEMENTKINDS_H
#define STRATA_DIALECT_ONNX_IR_ELEMENTKINDS_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace strata::onnx {

/// The element types of ONNX tensors. The order is that of the E_* records of ONNXTypes.td.
enum class ElementKind : uint8_t {
  float16,
  float32,
  float64,
  bfloat16,
  float8e4m3fn,
  float8e4m3fnuz,
  float8e5m2,
  float8e5m2fnuz,
  float8e8m0,
  float6e2m3,
  float6e3m2,
  float4e2m1,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  int4,
  uint4,
  int2,
  uint2,
  boolean,
  string,
  complex64,
  complex128,
}; // clang-format: one table
inline constexpr unsigned kNumElementKinds = 28;

/// The kind of an element type of the onnx dialect; none if ONNX has no such type.
std::optional<ElementKind> getElementKind(mlir::Type type);
/// The type of the onnx dialect for a kind.
mlir::Type getElementType(mlir::MLIRContext *context, ElementKind kind);
/// ONNX's name: `float`, `uint8`, `float8e4m3fn`.
llvm::StringRef getElementName(ElementKind kind);
std::optional<ElementKind> parseElementName(llvm::StringRef name);
/// The number in TensorProto.DataType, and back (none for 0 and unknown numbers).
int64_t getDataType(ElementKind kind);
std::optional<ElementKind> getElementKindOfDataType(int64_t dataType);

/// The types that a formal parameter allows: one bit per element kind (per map kind) for each form of type.
struct TypeSet {
  uint32_t tensor, seq, optional, optionalSeq, maps, seqMaps;
  bool contains(mlir::Type type) const;
};

/// As ONNX spells it, without shape: `tensor(float)`, `seq(tensor(int64))`.
std::string getTypeString(mlir::Type type);

} // namespace strata::onnx

#endif // STRATA_DIALECT_ONNX_IR_ELEMENTKINDS_H
