//===- Import.h - ONNX models to the versioned dialects ---------*- C++ -*-===//
//
// An imported model is a module with the function @main. Every node becomes
// the op of its operator at the newest since-version that the model's opset
// import allows; nothing is converted. Names, documentation and metadata stay
// as locations and attributes (see docs/importer.md), weights as resources
// that point into the mapped file.
//
// Whatever is wrong with a model is a diagnostic of the context that names the
// file, graph, node and operator; the result is then null.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_IMPORT_IMPORT_H
#define STRATA_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace strata {

struct ImportOptions {
  /// What diagnostics call the model; the path if it is empty.
  std::string name;
  /// Folder of external data; the model file's folder if it is empty. External data of a model in memory needs it.
  std::string externalDataFolder;
};

/// Imports a model file. `.onnxtxt` files are ONNX's text syntax, all others protobuf.
mlir::OwningOpRef<mlir::ModuleOp> importOnnxFile(llvm::StringRef path, mlir::MLIRContext *context,
                                                 const ImportOptions &options = {});

/// Writes all that `importOnnxFile` makes a module of: the bytes of the model file and of its external data.
llvm::LogicalResult writeSources(llvm::StringRef path, mlir::MLIRContext *context, llvm::raw_ostream &os);

/// Imports a serialised ModelProto. Weights point into `bytes`, which lives as long as the context.
mlir::OwningOpRef<mlir::ModuleOp> importOnnxBytes(std::unique_ptr<llvm::MemoryBuffer> bytes, mlir::MLIRContext *context,
                                                  const ImportOptions &options = {});

/// Imports ONNX's text syntax.
mlir::OwningOpRef<mlir::ModuleOp> importOnnxText(llvm::StringRef text, mlir::MLIRContext *context,
                                                 const ImportOptions &options = {});

/// Loads the dialects that imported modules consist of.
void loadImportDialects(mlir::MLIRContext *context);

} // namespace strata

#endif // STRATA_IMPORT_IMPORT_H
