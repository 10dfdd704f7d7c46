//===- Compiler.h - the compiler, as the Python module sees it --*- C++ -*-===//
//
// No LLVM header and no exception crosses this line: the module in front of it
// is compiled with exceptions and RTTI, LLVM and all of Strata without.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_PYTHON_COMPILER_H
#define STRATA_PYTHON_COMPILER_H

#include "Execution/Tensor.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace strata::python {

/// What strata.compile and strata.load may be told; empty fields and zeros mean
/// the defaults.
struct Options {
  std::string name, cpu, features;
  std::string cache; ///< a folder that keeps what is compiled
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
};

/// An input or output: ONNX's element type, sizes (-1: not known) and symbolic
/// names ("": none) of the dimensions, and what is in a container.
struct Value {
  std::string name;
  int dtype;
  bool ranked;
  std::vector<int64_t> shape;
  std::vector<std::string> dimNames;
  std::vector<Value> elements;
};
/// Node, runs, nanoseconds.
using ProfileEntry = std::tuple<std::string, uint64_t, uint64_t>;

/// A compiled model with the threads and buffers that run it.
class Model {
public:
  virtual ~Model() = default;
  virtual std::string name() const = 0;
  virtual int threads() const = 0;
  virtual const std::vector<Value> &inputs() const = 0;
  virtual const std::vector<Value> &outputs() const = 0;
  virtual std::vector<ProfileEntry> profile() = 0;
  /// Says in `failure` why there are no outputs.
  virtual std::vector<Tensor> run(const std::vector<Tensor> &inputs, std::string &failure) = 0;
};

/// These return null and say why in `failure`: all diagnostics, one per line.
std::unique_ptr<Model> compileFile(const std::string &path, const Options &options, std::string &failure);
std::unique_ptr<Model> compileBytes(const char *data, size_t size, const Options &options, std::string &failure);
std::unique_ptr<Model> load(const std::string &path, const Options &options, std::string &failure);

/// Copies a result that is in a GPU's memory. Empty, or why not.
std::string copyToHost(const Tensor &tensor, void *to);

/// The serialised model at these opsets (`13`, `ai.onnx.ml:3`); empty with the
/// reasons in `failure` if an operator cannot be converted.
std::string convertBytes(const char *data, size_t size, const std::vector<std::string> &opsets, std::string &failure);

} // namespace strata::python

#endif // STRATA_PYTHON_COMPILER_H
