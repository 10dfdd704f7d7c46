//===- Compiler.h - what strata-compile does --------------------*- C++ -*-===//
#ifndef STRATA_EXECUTION_COMPILER_H
#define STRATA_EXECUTION_COMPILER_H

#include "Execution/Specialize.h"
#include <string>

namespace strata {

enum class EmitKind {
  MLIR,          ///< The module at some phase: text, or bytecode (.mlirbc).
  LLVM,          ///< Optimised LLVM IR as text.
  Assembly,      ///< Optimised assembly.
  Kernels,       ///< What a GPU's driver loads: PTX, machine code, bitcode.
  Object,        ///< One relocatable object with code, weights, description.
  StaticLibrary, ///< The same as an archive.
  SharedLibrary  ///< What strata-run and strata_model_load open.
};

struct CompileRequest {
  std::string model;
  std::string output; ///< "" or "-": standard output, for text only.
  EmitKind emit = EmitKind::SharedLibrary;
  Phase phase = Phase::LLVM; ///< For EmitKind::MLIR.
  /// Print weights into MLIR text (bytecode always has them).
  bool printWeights = false;
  CompileOptions options;
  /// Of objects and libraries: versions for known sizes of symbolic dimensions.
  std::vector<ShapeSet> versions;
  /// The module's weights are needed afterwards: their memory is not given back when they are packed.
  bool keepWeights = false;
};

/// Compiles a model into a file that appears complete or not at all; objects
/// and libraries get a C header beside them (the same name, ending in .h).
/// The exit code: 0, or 1 after an error.
int compile(const CompileRequest &request, const Progress &progress = {});

/// Compiles a module of any phase; errors are diagnostics.
mlir::LogicalResult compileModule(mlir::ModuleOp module, const CompileRequest &request, const Progress &progress = {});

} // namespace strata

#endif // STRATA_EXECUTION_COMPILER_H
