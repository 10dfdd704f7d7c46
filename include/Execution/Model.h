//===- Model.h - a model ready to run ---------------------------*- C++ -*-===//
//
// A model from the JIT or from a compiled shared object. Both run through the
// runtime's sessions (Runtime/strata.h), so checks and messages are the same.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_EXECUTION_MODEL_H
#define STRATA_EXECUTION_MODEL_H

#include "Execution/Interface.h"
#include "Execution/Tensor.h"
#include "Pipeline/CompileOptions.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>

namespace strata {

struct SessionOptions {
  int threads = 0; ///< 0: all cores.
  std::optional<uint64_t> seed;
  uint64_t memoryLimit = 0; ///< In bytes; 0: the machine's memory.
  bool profile = false;
  /// Random operators with a seed of their own give new values in every run.
  bool advanceSeeds = false;
  /// Which GPU, of models that are compiled for one.
  std::optional<int> device;
  /// Results that a GPU has computed stay in its memory.
  bool deviceResults = false;
};

/// Time of the code of one node (or of several that were merged), over `runs`
/// runs; what it computed and moved in them, as far as that is known.
struct ProfileEntry {
  std::string name;
  uint64_t runs = 0, nanoseconds = 0;
  uint64_t operations = 0, bytes = 0;
};

class Model {
public:
  /// Compiles a module in the LLVM dialect (after buildLLVMPhase) into this
  /// process. Weights are not copied: `keepAlive` (the context, usually) owns
  /// them and lives as long as the model. Errors are diagnostics.
  static mlir::FailureOr<std::unique_ptr<Model>> jit(mlir::ModuleOp module, const CompileOptions &options,
                                                     const SessionOptions &session = {},
                                                     std::shared_ptr<void> keepAlive = nullptr);

  /// Opens what strata-compile --emit=lib wrote.
  static llvm::Expected<std::unique_ptr<Model>> load(const std::string &path, const SessionOptions &session = {});

  ~Model();

  const std::string &name() const { return modelName; }
  llvm::ArrayRef<ValueInfo> inputs() const { return interface.inputs; }
  llvm::ArrayRef<ValueInfo> outputs() const { return interface.outputs; }
  int threads() const;

  /// Runs once. Checks count, types and shapes; the error says which input is
  /// wrong and why. Contiguous inputs are not copied; results own their
  /// memory and outlive the model.
  llvm::Expected<std::vector<Tensor>> run(llvm::ArrayRef<Tensor> inputs);

  /// Time per node over the runs so far, if the session profiles.
  std::vector<ProfileEntry> profile();
  /// Forgets the runs so far.
  void resetProfile();

private:
  struct Code;
  Model() = default;
  llvm::Error start(const SessionOptions &options);

  std::string modelName;
  ModelInterface interface;
  uint64_t runs = 0;
  std::unique_ptr<Code> code;
  strata_model *model = nullptr;
  strata_session *session = nullptr;
};

/// Adds what the JIT and the object emitter need to translate to LLVM IR.
void registerTranslationDialects(mlir::DialectRegistry &registry);

} // namespace strata

#endif // STRATA_EXECUTION_MODEL_H
