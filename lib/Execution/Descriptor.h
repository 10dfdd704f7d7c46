//===- Descriptor.h - the runtime's view of an interface --------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_DESCRIPTOR_H
#define STRATA_LIB_EXECUTION_DESCRIPTOR_H

#include "Execution/ValueInfo.h"
#include <deque>

namespace strata {

/// A strata_model_descriptor whose arrays and strings live as long as this.
class Descriptor {
public:
  Descriptor(const std::string &name, const std::string &metadata, const ModelInterface &interface);
  Descriptor(const Descriptor &) = delete;

  strata_model_descriptor descriptor = {};

private:
  void convert(const std::vector<ValueInfo> &values, std::vector<strata_value_info> &result);
  std::deque<std::vector<strata_value_info>> elements;

  std::string name, metadata;
  ModelInterface interface;
  std::vector<strata_value_info> inputs, outputs;
  std::deque<std::vector<const char *>> dimNames;
  uint32_t initDone = 0;
};

} // namespace strata

#endif // STRATA_LIB_EXECUTION_DESCRIPTOR_H
