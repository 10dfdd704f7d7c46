//===- Model.h - models, as the Python modules see them ---------*- C++ -*-===//
//
// No LLVM header and no exception crosses this line: the modules in front of it
// are compiled with exceptions and RTTI, LLVM and all of Strata without.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_PYTHON_MODEL_H
#define STRATA_PYTHON_MODEL_H

#include "Execution/Session.h"

namespace strata::python {

/// What strata.compile and strata.load may be told; empty fields and zeros mean
/// the defaults.
struct Options {
  std::string name, cpu, features;
  std::string cache; ///< a folder that keeps what is compiled
  bool tune = false;
  std::string tuningFile;
  std::string target = "cpu", gpuFormat = "auto", precision = "f32"; ///< as the tools' flags
  unsigned optLevel = 3;
  bool winograd = true;
  int threads = 0;
  std::optional<uint64_t> seed;
  uint64_t memoryLimit = 0;
  bool profile = false;
  bool advanceSeeds = false;
  std::optional<int> device;
  bool deviceResults = false;
  std::vector<std::vector<std::string>> specialize; ///< sets of NAME=SIZE
  uint64_t specializeAfter = 0, specializeMemory = 0;
  unsigned specializeLimit = 8;
};

SessionOptions sessionOptions(const Options &options);

/// A compiled model: its session, and what a compiler adds to it.
class Model {
public:
  virtual ~Model() = default;
  virtual Session &session() = 0;
  virtual std::vector<ModelVersion> versions() { return session().versions(); }
  virtual void settle() {}
  virtual void stopSpecializing() {}
  /// Says in `failure` why there are no outputs.
  virtual std::vector<Tensor> run(const std::vector<Tensor> &inputs, std::string &failure) {
    return session().run(inputs.data(), inputs.size(), failure);
  }
};

/// Null, and why in `failure`.
std::unique_ptr<Model> load(const std::string &path, const Options &options, std::string &failure);

/// Copies a result that is in a GPU's memory. Empty, or why not.
std::string copyToHost(const Tensor &tensor, void *to);

} // namespace strata::python

#endif // STRATA_PYTHON_MODEL_H
