//===- Session.h - a compiled model, its threads and buffers ----*- C++ -*-===//
//
// The runtime's sessions (Runtime/strata.h) with C++ types. Nothing of LLVM is
// needed here: who only runs models does not load a compiler.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_EXECUTION_SESSION_H
#define STRATA_EXECUTION_SESSION_H

#include "Execution/Tensor.h"
#include "Execution/ValueInfo.h"
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

/// A version of a model for known sizes (Execution/Specialize.h).
struct ModelVersion {
  enum State { Counted, Compiling, InUse, Failed };
  std::vector<std::vector<int64_t>> shapes; ///< of the inputs; -1 where it takes any size
  State state = InUse;
  std::string why;    ///< It failed.
  uint64_t bytes = 0; ///< What one from the background takes: code, and constants that the model itself has not.
};

class Session {
public:
  /// A session of `model`, which lives longer, with these versions of it. Null, and why in `failure`.
  static std::unique_ptr<Session> open(strata_model *model, std::vector<const strata_model_descriptor *> versions,
                                       const SessionOptions &options, std::string &failure);
  /// Of what strata-compile --emit=lib wrote.
  static std::unique_ptr<Session> load(const std::string &path, const SessionOptions &options, std::string &failure);
  ~Session();
  Session(const Session &) = delete;

  const std::string &name() const { return modelName; }
  const std::vector<ValueInfo> &inputs() const { return interface.inputs; }
  const std::vector<ValueInfo> &outputs() const { return interface.outputs; }
  int threads() const { return strata_session_threads(session); }

  /// Runs once. Says in `failure` why there are no outputs.
  std::vector<Tensor> run(const Tensor *inputs, size_t count, std::string &failure);

  /// The versions that were compiled with the model, in the order in which a run looks for one.
  const std::vector<const strata_model_descriptor *> &fixedVersions() const { return fixed; }
  std::vector<ModelVersion> versions() const;

  std::vector<ProfileEntry> profile() const;
  void resetProfile();

  strata_session *native() { return session; }

private:
  Session() = default;

  std::string modelName;
  ModelInterface interface;
  uint64_t runs = 0;
  std::vector<const strata_model_descriptor *> fixed;
  strata_model *loaded = nullptr; ///< null: the model is somebody else's
  strata_session *session = nullptr;
};

} // namespace strata

#endif // STRATA_EXECUTION_SESSION_H
