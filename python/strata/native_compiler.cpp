//===- native_compiler.cpp - the module strata._compiler ------------------===//
//
// What needs the compiler. Its models and options are those of strata._native,
// which is imported before it.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "Compiler.h"
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace strata::python;

NB_MODULE(_compiler, m) {
  m.doc() = "The compiler's half of the strata package.";

  m.def(
      "compile_file",
      [](const std::string &path, const Options &options) {
        return withoutLock("CompileError", [&](std::string &failure) { return compileFile(path, options, failure); });
      },
      nb::arg("path"), nb::arg("options"),
      nb::sig("def compile_file(path: str, options: strata._native.Options) -> strata._native.Model"));
  m.def(
      "compile_bytes",
      [](const nb::bytes &model, const Options &options) {
        return withoutLock("CompileError", [&](std::string &failure) {
          return compileBytes(model.c_str(), model.size(), options, failure);
        });
      },
      nb::arg("model"), nb::arg("options"),
      nb::sig("def compile_bytes(model: bytes, options: strata._native.Options) -> strata._native.Model"));
  m.def(
      "convert_bytes",
      [](const nb::bytes &model, const std::vector<std::string> &opsets) {
        std::string converted = withoutLock("CompileError", [&](std::string &failure) {
          return convertBytes(model.c_str(), model.size(), opsets, failure);
        });
        return nb::bytes(converted.data(), converted.size());
      },
      nb::arg("model"), nb::arg("opsets"));
}
