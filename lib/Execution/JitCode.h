//===- JitCode.h - code of a model in this process --------------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_JITCODE_H
#define STRATA_LIB_EXECUTION_JITCODE_H

#include "Constants.h"
#include "Descriptor.h"
#include "Jit.h"
#include "Pipeline/CompileOptions.h"
#include <atomic>

namespace strata {

/// What a model from the JIT, or a version of one, stands on. Weights are not copied: the module's context owns them.
class JitCode {
public:
  /// Compiles a module in the LLVM dialect and fills its constants. With a pool it shares constants with other versions
  /// of the model, and leaves those of them alone that later ones may read. Gives up where `stop` becomes true. Errors
  /// are diagnostics.
  static mlir::FailureOr<std::unique_ptr<JitCode>> compile(mlir::ModuleOp module, const CompileOptions &options,
                                                           ConstantPool *pool = nullptr,
                                                           const std::atomic<bool> *stop = nullptr);
  ~JitCode();

  const strata_model_descriptor &descriptor() const { return description->descriptor; }
  strata_model *model() const { return opened; }
  /// What it takes for itself: code, and constants that no version before it had.
  uint64_t bytes() const { return ownBytes; }

private:
  JitCode() = default;

  std::vector<Constant> constants;
  std::vector<void *> table;
  std::unique_ptr<Descriptor> description;
  LoadedCode loaded;
  strata_model *opened = nullptr;
  uint64_t ownBytes = 0;
};

} // namespace strata

#endif // STRATA_LIB_EXECUTION_JITCODE_H
