//===- Export.h - the versioned dialects to ONNX models ---------*- C++ -*-===//
//
// The inverse of Import.h: a module of versioned ops becomes a ModelProto of
// the opset that its ops belong to. Names come from the locations.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_EXPORT_EXPORT_H
#define STRATA_EXPORT_EXPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace strata {

/// Writes a serialised ModelProto. Fails with a diagnostic where an op has no form in ONNX, or where the ops of a
/// domain belong to no common opset.
llvm::LogicalResult exportOnnx(mlir::ModuleOp module, llvm::raw_ostream &out);

/// Writes ONNX's text syntax.
llvm::LogicalResult exportOnnxText(mlir::ModuleOp module, llvm::raw_ostream &out);

} // namespace strata

#endif // STRATA_EXPORT_EXPORT_H
