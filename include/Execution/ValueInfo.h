//===- ValueInfo.h - an input or output of a model --------------*- C++ -*-===//
#ifndef STRATA_EXECUTION_VALUEINFO_H
#define STRATA_EXECUTION_VALUEINFO_H

#include "Runtime/strata.h"
#include <string>
#include <vector>

namespace strata {

struct ValueInfo {
  std::string name;
  strata_dtype dtype = STRATA_UNDEFINED;
  std::vector<int64_t> shape;        ///< -1: known at run time only.
  std::vector<std::string> dimNames; ///< Symbolic names, "" for none.
  bool ranked = true;                ///< False for elements whose rank only the run tells.
  /// What is in a sequence or an optional; keys and values of a map.
  std::vector<ValueInfo> elements;
};

struct ModelInterface {
  std::vector<ValueInfo> inputs, outputs;
};

/// What a compiled model says of itself.
ModelInterface readInterface(const strata_model_descriptor &descriptor);

} // namespace strata

#endif // STRATA_EXECUTION_VALUEINFO_H
