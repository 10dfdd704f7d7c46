//===- Compiler.h - the compiler, as the Python module sees it --*- C++ -*-===//
#ifndef STRATA_PYTHON_COMPILER_H
#define STRATA_PYTHON_COMPILER_H

#include "Model.h"

namespace strata::python {

/// These return null and say why in `failure`: all diagnostics, one per line.
std::unique_ptr<Model> compileFile(const std::string &path, const Options &options, std::string &failure);
std::unique_ptr<Model> compileBytes(const char *data, size_t size, const Options &options, std::string &failure);

/// The serialised model at these opsets (`13`, `ai.onnx.ml:3`); empty with the
/// reasons in `failure` if an operator cannot be converted.
std::string convertBytes(const char *data, size_t size, const std::vector<std::string> &opsets, std::string &failure);

} // namespace strata::python

#endif // STRATA_PYTHON_COMPILER_H
