//===- Specialize.h - versions of a model for known sizes -------*- C++ -*-===//
//
// A model whose inputs have symbolic dimensions may have versions: the same model compiled for known sizes, which the
// runtime takes where the inputs have them (strata.h, strata_model_descriptor). They are made ahead for sets of sizes,
// or in the background for the shapes that a model is often run with.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_EXECUTION_SPECIALIZE_H
#define STRATA_EXECUTION_SPECIALIZE_H

#include "Dialect/ONNX/Transforms/SpecializeShapes.h"
#include "Execution/Driver.h"

namespace strata {

struct SpecializeOptions {
  /// Versions that are compiled with the model.
  std::vector<ShapeSet> sets;
  /// After so many runs with the same shapes, a version for these is compiled in the background; 0: never.
  uint64_t after = 0;
  /// How many versions from the background there may be at once; the one that was not run for longest goes.
  unsigned limit = 8;
  /// What they may take together: code, and the constants that the model itself has not. In bytes, 0: no bound.
  uint64_t memory = 0;
};

/// What compiles versions in the background, and counts which are wanted.
class Specializer;

/// Reads "batch=1,seq=128" for each set.
llvm::Expected<std::vector<ShapeSet>> parseShapeSets(llvm::ArrayRef<std::string> sets);

/// A copy of an imported module for inputs of these shapes.
struct VersionModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  InputShapes shapes;
  std::string sizes; ///< "batch=1, seq=128"
};

/// Makes the ranks of a module those that all its versions have. Fails if it can have no versions; the diagnostic says
/// why.
mlir::LogicalResult prepareForVersions(mlir::ModuleOp module, const CompileOptions &options);

/// The versions that the sets ask for: those that say more sizes first, so that they are found first. Errors are
/// diagnostics: a name that no input has, two equal sets, a module without operators.
mlir::FailureOr<std::vector<VersionModule>> makeVersions(mlir::ModuleOp module, llvm::ArrayRef<ShapeSet> sets,
                                                         const CompileOptions &options);

/// Lowers a model with versions, or one of these, to the LLVM dialect. Constants whose keys are `known` are not
/// computed again. Gives up where `stop` becomes true, without a diagnostic.
mlir::LogicalResult lowerVersion(mlir::ModuleOp module, const CompileOptions &options,
                                 llvm::function_ref<bool(llvm::StringRef key)> known, const Progress &progress = {},
                                 llvm::function_ref<bool()> stop = {});

/// Says of the phases of a version whose they are; of the model itself where `sizes` is empty.
Progress progressOf(const Progress &progress, const std::string &sizes);

/// Whether a module of operators has an input with a dimension that is not known.
bool hasUnknownSizes(mlir::ModuleOp module);

} // namespace strata

#endif // STRATA_EXECUTION_SPECIALIZE_H
