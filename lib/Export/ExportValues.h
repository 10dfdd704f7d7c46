//===- ExportValues.h - types, tensors and attributes to protobuf *- C++ -*-===//

#ifndef STRATA_LIB_EXPORT_EXPORTVALUES_H
#define STRATA_LIB_EXPORT_EXPORTVALUES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "onnx/onnx_pb.h"

namespace strata::exporter {
/// ONNX's protobuf classes; `onnx` is the dialect.
namespace proto = ::onnx;

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

llvm::LogicalResult exportType(mlir::Type type, proto::TypeProto &out, EmitError error);

/// The elements as raw data (strings apart), packed as ONNX packs them.
llvm::LogicalResult exportTensor(mlir::ElementsAttr value, proto::TensorProto &out, EmitError error);

/// The elements of a dense tensor that are not zero; indices linear or as coordinates.
llvm::LogicalResult exportSparse(mlir::ElementsAttr dense, bool linear, proto::SparseTensorProto &out, EmitError error);

/// Everything but the name.
llvm::LogicalResult exportAttribute(mlir::Attribute value, proto::AttributeProto &out, EmitError error);

} // namespace strata::exporter

#endif // STRATA_LIB_EXPORT_EXPORTVALUES_H
