//===- native.cpp - the module strata._native -----------------------------===//
//
// The smallest bridge that the Python package can be written on: compile, open,
// describe, run. Arrays cross it as flat bytes with a shape; what they mean
// (names, element types, errors of use) is the Python side's business.
//
//===----------------------------------------------------------------------===//

#include "Compiler.h"
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace strata::python;
using strata::Tensor;

namespace {

using Bytes =
    nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OwnedBytes = nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>;
/// The elements and the shape of an array.
using Input = std::tuple<Bytes, std::vector<int64_t>>;
using Output = std::tuple<OwnedBytes, nb::tuple>;

[[noreturn]] void raise(const char *error, const std::string &message) {
  nb::object type = nb::module_::import_("strata._errors").attr(error);
  PyErr_SetString(type.ptr(), message.c_str());
  throw nb::python_error();
}

/// Compiling and running take long and touch no Python object: other threads
/// may run.
template <typename Function>
auto withoutLock(const char *error, Function function) {
  std::string failure;
  auto result = [&] {
    nb::gil_scoped_release released;
    return function(failure);
  }();
  if (!failure.empty())
    raise(error, failure);
  return result;
}

/// The tensor's bytes in place; the array keeps them alive.
Output wrap(const Tensor &tensor) {
  nb::list shape;
  for (int64_t dim : tensor.shape)
    shape.append(dim);
  nb::capsule owner(new std::shared_ptr<void>(tensor.owner),
                    [](void *pointer) noexcept {
                      delete static_cast<std::shared_ptr<void> *>(pointer);
                    });
  return {OwnedBytes(tensor.data, {tensor.bytes()}, owner), nb::tuple(shape)};
}

std::vector<Output> run(Model &model, const std::vector<Input> &arrays) {
  std::vector<Value> values = model.inputs();
  std::vector<Tensor> inputs(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto &[bytes, shape] = arrays[i];
    inputs[i].dtype = static_cast<strata_dtype>(
        i < values.size() ? std::get<1>(values[i]) : STRATA_UNDEFINED);
    inputs[i].shape = shape;
    inputs[i].data =
        const_cast<uint8_t *>(bytes.data()); // inputs are only read
  }
  std::vector<Tensor> outputs =
      withoutLock("RunError", [&](std::string &failure) {
        return model.run(inputs, failure);
      });
  std::vector<Output> results;
  for (const Tensor &output : outputs)
    results.push_back(wrap(output));
  return results;
}

} // namespace

NB_MODULE(_native, m) {
  m.doc() = "The native half of the strata package.";
  m.def("version", &strata_version);

  nb::class_<Options>(m, "Options")
      .def(nb::init<>())
      .def_rw("name", &Options::name)
      .def_rw("cpu", &Options::cpu)
      .def_rw("features", &Options::features)
      .def_rw("opt_level", &Options::optLevel)
      .def_rw("threads", &Options::threads)
      .def_rw("seed", &Options::seed, nb::arg().none())
      .def_rw("memory_limit", &Options::memoryLimit)
      .def_rw("profile", &Options::profile)
      .def_rw("advance_seeds", &Options::advanceSeeds);

  nb::class_<Model>(m, "Model")
      .def("name", &Model::name)
      .def("threads", &Model::threads)
      .def("inputs", &Model::inputs)
      .def("outputs", &Model::outputs)
      .def("profile", &Model::profile)
      .def("run", &run, nb::arg("arrays"));

  m.def(
      "compile_file",
      [](const std::string &path, const Options &options) {
        return withoutLock("CompileError", [&](std::string &failure) {
          return compileFile(path, options, failure);
        });
      },
      nb::arg("path"), nb::arg("options"));
  m.def(
      "compile_bytes",
      [](const nb::bytes &model, const Options &options) {
        return withoutLock("CompileError", [&](std::string &failure) {
          return compileBytes(model.c_str(), model.size(), options, failure);
        });
      },
      nb::arg("model"), nb::arg("options"));
  m.def(
      "load",
      [](const std::string &path, const Options &options) {
        return withoutLock("Error", [&](std::string &failure) {
          return load(path, options, failure);
        });
      },
      nb::arg("path"), nb::arg("options"));
}
