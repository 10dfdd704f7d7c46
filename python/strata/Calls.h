//===- Calls.h - calls from Python that may take long or fail ---*- C++ -*-===//
#ifndef STRATA_PYTHON_CALLS_H
#define STRATA_PYTHON_CALLS_H

#include <nanobind/nanobind.h>
#include <string>

namespace strata::python {

[[noreturn]] inline void raise(const char *error, const std::string &message) {
  nanobind::object type = nanobind::module_::import_("strata._errors").attr(error);
  PyErr_SetString(type.ptr(), message.c_str());
  throw nanobind::python_error();
}

/// Compiling and running take long and touch no Python object: other threads
/// may run.
template <typename Function> auto withoutLock(const char *error, Function function) {
  std::string failure;
  auto result = [&] {
    nanobind::gil_scoped_release released;
    return function(failure);
  }();
  if (!failure.empty())
    raise(error, failure);
  return result;
}

} // namespace strata::python

#endif // STRATA_PYTHON_CALLS_H
