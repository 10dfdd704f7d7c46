//===- ImportTypes.h - ONNX types to MLIR types -----------------*- C++ -*-===//

#ifndef STRATA_LIB_IMPORT_IMPORTTYPES_H
#define STRATA_LIB_IMPORT_IMPORTTYPES_H

#include "Trace.h"
#include "mlir/IR/BuiltinTypes.h"
#include "onnx/onnx_pb.h"

namespace strata::importer {

/// The field of TensorProto that holds elements of a type one by one.
enum class ElementField { Float, Int32, String, Int64, Double, UInt64 };

/// How TensorProto encodes an element type.
struct ElementFormat {
  /// Bits of an element in raw data; fewer than 8 are packed. 0 for strings.
  unsigned bits;
  ElementField field;
  /// Numbers per element in the field: 2 for complex ones.
  unsigned parts;
};

/// Null if `dataType` is no TensorProto.DataType of ONNX 1.23.
const ElementFormat *getElementFormat(int32_t dataType);

/// Fails with a message for types that ONNX does not know.
llvm::FailureOr<mlir::Type> importElementType(int32_t dataType, const Trace &trace);

/// `tensor<DIMSxELEMENT>`, checked for overflow; names may be empty.
llvm::FailureOr<mlir::RankedTensorType> makeTensorType(llvm::ArrayRef<int64_t> dims,
                                                       llvm::ArrayRef<llvm::StringRef> names, mlir::Type element,
                                                       const Trace &trace);

llvm::FailureOr<mlir::Type> importType(const proto::TypeProto &type, const Trace &trace);

} // namespace strata::importer

#endif // STRATA_LIB_IMPORT_IMPORTTYPES_H
