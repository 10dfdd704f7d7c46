//===- Driver.h - from a file to a phase ------------------------*- C++ -*-===//
//
// What every tool does first: read a model, lower it to some phase.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_EXECUTION_DRIVER_H
#define STRATA_EXECUTION_DRIVER_H

#include "Execution/Model.h"
#include "Pipeline/CompileOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <optional>

namespace strata {

/// In the order of the flow; see docs/architecture.md.
enum class Phase {
  Import,
  Upgrade,
  Shapes,
  Linalg,
  Fused,
  Tiled,
  Buffers,
  GPU, ///< only if the target is one
  Vector,
  LLVM,
  Object
};

struct SpecializeOptions;

llvm::StringRef nameOf(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);

/// A context that knows every dialect of the flow, and how to say where an
/// error is.
std::shared_ptr<mlir::MLIRContext> createContext();

/// Writes a diagnostic and its notes as "place: error: message", a line each.
void printDiagnostic(llvm::raw_ostream &os, mlir::Diagnostic &diagnostic);

/// Reads a model: .onnx, or .mlir (text or bytecode) of any phase. Errors are
/// diagnostics.
mlir::OwningOpRef<mlir::ModuleOp> loadModule(llvm::StringRef path, mlir::MLIRContext &context);

/// What a module is made of.
struct ModelSource {
  std::function<mlir::OwningOpRef<mlir::ModuleOp>(mlir::MLIRContext &)> load;
  /// Writes all bytes that `load` reads: where they are the same, so is the module.
  std::function<mlir::LogicalResult(mlir::MLIRContext &, llvm::raw_ostream &)> write;
};

/// A file that `loadModule` reads.
ModelSource sourceOf(const std::string &path);

/// Finds mistakes in options (an unknown CPU, a name that is no identifier)
/// before the work starts.
llvm::Error checkOptions(const CompileOptions &options);

/// Called with the name of a phase when it starts and when it has ended.
using Progress = std::function<void(llvm::StringRef phase, bool ended, double seconds)>;

/// Where a module is: the attribute strata.phase; without one it is at the seam, or before it if it has operators.
Phase phaseOf(mlir::ModuleOp module);

/// Says in the module where it is.
void setPhase(mlir::ModuleOp module, Phase phase);

/// Lowers from wherever the module is up to `phase` (at most LLVM).
mlir::LogicalResult lowerTo(mlir::ModuleOp module, Phase phase, const CompileOptions &options,
                            const Progress &progress = {});

/// A model ready to run, with versions for known sizes if they are wanted: a module of any phase, compiled into this
/// process. With a folder `cache`, what is compiled is kept there (Execution/Cache.h), and what is there is not even
/// loaded as a module. Null: the diagnostics said why.
std::unique_ptr<Model> buildModel(std::shared_ptr<mlir::MLIRContext> context, const ModelSource &source,
                                  const CompileOptions &options, const SessionOptions &session,
                                  const SpecializeOptions &specialize, llvm::StringRef cache = {},
                                  const Progress &progress = {});

/// The same of a file: .onnx, .mlir, or a compiled shared object, which has the versions that it has.
std::unique_ptr<Model> openModel(llvm::StringRef path, const CompileOptions &options, const SessionOptions &session,
                                 const SpecializeOptions &specialize, llvm::StringRef cache = {},
                                 const Progress &progress = {});

} // namespace strata

#endif // STRATA_EXECUTION_DRIVER_H
