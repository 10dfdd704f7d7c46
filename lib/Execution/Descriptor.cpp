//===- Descriptor.cpp - the runtime's view of an interface ----------------===//

#include "Descriptor.h"

namespace strata {

Descriptor::Descriptor(const std::string &name, const std::string &metadata, const ModelInterface &modelInterface)
    : name(name), metadata(metadata), interface(modelInterface) {
  convert(interface.inputs, inputs);
  convert(interface.outputs, outputs);
  descriptor.abi_version = STRATA_ABI_VERSION;
  descriptor.num_inputs = inputs.size();
  descriptor.num_outputs = outputs.size();
  descriptor.name = this->name.c_str();
  descriptor.metadata = this->metadata.c_str();
  descriptor.inputs = inputs.data();
  descriptor.outputs = outputs.data();
  descriptor.init_done = &initDone;
}

void Descriptor::convert(const std::vector<ValueInfo> &values, std::vector<strata_value_info> &result) {
  for (const ValueInfo &value : values) {
    std::vector<const char *> &names = dimNames.emplace_back();
    for (const std::string &dim : value.dimNames)
      names.push_back(dim.c_str());
    const strata_value_info *inside = nullptr;
    if (!value.elements.empty()) {
      std::vector<strata_value_info> &list = elements.emplace_back();
      convert(value.elements, list);
      inside = list.data();
    }
    result.push_back({value.name.c_str(), value.dtype, value.ranked ? static_cast<int32_t>(value.shape.size()) : -1,
                      value.shape.data(), names.data(), inside});
  }
}

} // namespace strata
