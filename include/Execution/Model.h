//===- Model.h - a model ready to run ---------------------------*- C++ -*-===//
//
// A model from the JIT or from a compiled shared object. Both run through the
// runtime's sessions (Runtime/strata.h), so checks and messages are the same.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_EXECUTION_MODEL_H
#define STRATA_EXECUTION_MODEL_H

#include "Execution/Interface.h"
#include "Execution/Session.h"
#include "Pipeline/CompileOptions.h"
#include "llvm/Support/Error.h"

namespace strata {

class JitCode;
class Specializer;

class Model {
public:
  /// Runs code that was compiled into this process, and versions of it. Weights are not copied: `keepAlive` (the
  /// context, usually) owns them and lives as long as the model.
  static llvm::Expected<std::unique_ptr<Model>> start(std::unique_ptr<JitCode> code,
                                                      std::vector<std::unique_ptr<JitCode>> versions,
                                                      const SessionOptions &session, std::shared_ptr<void> keepAlive);

  /// Opens what strata-compile --emit=lib wrote.
  static llvm::Expected<std::unique_ptr<Model>> load(const std::string &path, const SessionOptions &session = {});

  ~Model();

  Session &getSession() { return *session; }
  const std::string &name() const { return session->name(); }
  const std::vector<ValueInfo> &inputs() const { return session->inputs(); }
  const std::vector<ValueInfo> &outputs() const { return session->outputs(); }
  int threads() const { return session->threads(); }

  /// Runs once. Checks count, types and shapes; the error says which input is
  /// wrong and why. Contiguous inputs are not copied; results own their
  /// memory and outlive the model.
  llvm::Expected<std::vector<Tensor>> run(llvm::ArrayRef<Tensor> inputs);

  /// From now on, versions are compiled in the background for frequent shapes.
  void specialize(llvm::function_ref<std::unique_ptr<Specializer>(llvm::ArrayRef<const strata_model_descriptor *> fixed,
                                                                  strata_session *session)>
                      make);
  /// The versions for known sizes, in the order in which a run looks for one, and those that failed.
  std::vector<ModelVersion> versions();
  /// Waits until no version is being compiled.
  void settle();
  /// No more versions are compiled; one that is being compiled is given up.
  void stopSpecializing();

  /// Time per node over the runs so far, if the session profiles.
  std::vector<ProfileEntry> profile() { return session->profile(); }
  /// Forgets the runs so far.
  void resetProfile() { session->resetProfile(); }

private:
  Model();

  std::shared_ptr<void> keepAlive;
  std::vector<std::unique_ptr<JitCode>> code; ///< the model's own, then the versions'; empty if it is from a file
  std::unique_ptr<Session> session;
  std::unique_ptr<Specializer> specializer;
};

/// Adds what the JIT and the object emitter need to translate to LLVM IR.
void registerTranslationDialects(mlir::DialectRegistry &registry);

} // namespace strata

#endif // STRATA_EXECUTION_MODEL_H
