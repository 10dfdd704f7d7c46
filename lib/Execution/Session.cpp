//===- Session.cpp - a compiled model, its threads and buffers ------------===//

#include "Execution/Session.h"
#include <algorithm>
#include <deque>

namespace strata {

/// The C structure of a tensor; `storage` keeps the arrays of containers.
static strata_tensor toNative(const Tensor &tensor, std::deque<std::vector<strata_tensor>> &storage) {
  strata_tensor to = {};
  to.data = tensor.data;
  to.dtype = tensor.dtype;
  to.rank = tensor.shape.size();
  to.shape = tensor.shape.data();
  to.strides = tensor.strides.empty() ? nullptr : tensor.strides.data();
  to.device_type = tensor.deviceType;
  to.device_id = tensor.deviceId;
  if (tensor.isContainer() && tensor.dtype != STRATA_OPTIONAL) {
    std::vector<strata_tensor> list;
    for (const Tensor &element : tensor.elements)
      list.push_back(toNative(element, storage));
    list.emplace_back(); // so that there is an address
    to.data = storage.emplace_back(std::move(list)).data();
  }
  return to;
}

static Tensor fromNative(const strata_tensor &from, const std::shared_ptr<void> &owner) {
  Tensor tensor;
  tensor.dtype = static_cast<strata_dtype>(from.dtype);
  tensor.shape.assign(from.shape, from.shape + from.rank);
  tensor.data = from.data;
  tensor.owner = owner;
  tensor.deviceType = from.device_type;
  tensor.deviceId = from.device_id;
  if (tensor.isContainer() && from.data)
    for (int64_t i = 0; i < from.shape[0]; ++i)
      tensor.elements.push_back(fromNative(static_cast<const strata_tensor *>(from.data)[i], owner));
  return tensor;
}

static std::vector<ValueInfo> read(const strata_value_info *infos, uint32_t count) {
  std::vector<ValueInfo> values;
  for (uint32_t i = 0; i < count; ++i) {
    ValueInfo value;
    value.name = infos[i].name ? infos[i].name : "";
    value.dtype = static_cast<strata_dtype>(infos[i].dtype);
    for (int32_t j = 0; j < infos[i].rank; ++j) {
      value.shape.push_back(infos[i].dims[j]);
      value.dimNames.push_back(infos[i].dim_names[j]);
    }
    value.ranked = infos[i].rank >= 0;
    if (infos[i].element)
      value.elements = read(infos[i].element, value.dtype == STRATA_MAP ? 2 : 1);
    values.push_back(std::move(value));
  }
  return values;
}

ModelInterface readInterface(const strata_model_descriptor &descriptor) {
  return {read(descriptor.inputs, descriptor.num_inputs), read(descriptor.outputs, descriptor.num_outputs)};
}

std::unique_ptr<Session> Session::open(strata_model *model, std::vector<const strata_model_descriptor *> versions,
                                       const SessionOptions &options, std::string &failure) {
  std::unique_ptr<Session> result(new Session());
  const strata_model_descriptor *descriptor = strata_model_get_descriptor(model);
  result->modelName = descriptor->name;
  result->interface = readInterface(*descriptor);
  result->fixed = std::move(versions);
  strata_session_options native = {};
  native.threads = options.threads;
  native.has_seed = options.seed.has_value();
  native.seed = options.seed.value_or(0);
  native.memory_limit = options.memoryLimit;
  native.profile = options.profile;
  native.advance_seeds = options.advanceSeeds;
  native.has_device = options.device.has_value();
  native.device = options.device.value_or(0);
  native.device_results = options.deviceResults;
  if (!strata_session_create(model, &native, &result->session) &&
      !strata_session_set_versions(result->session, result->fixed.data(), result->fixed.size()))
    return result;
  failure = strata_last_error();
  return nullptr;
}

std::unique_ptr<Session> Session::load(const std::string &path, const SessionOptions &options, std::string &failure) {
  strata_model *model = nullptr;
  if (strata_model_load(path.c_str(), &model)) {
    failure = strata_last_error();
    return nullptr;
  }
  const strata_model_descriptor *descriptor = strata_model_get_descriptor(model);
  std::unique_ptr<Session> result =
      open(model, {descriptor->versions, descriptor->versions + descriptor->num_versions}, options, failure);
  if (result)
    result->loaded = model;
  else
    strata_model_free(model);
  return result;
}

Session::~Session() {
  strata_session_free(session);
  strata_model_free(loaded);
}

std::vector<Tensor> Session::run(const Tensor *inputs, size_t count, std::string &failure) {
  std::deque<std::vector<strata_tensor>> storage;
  std::vector<strata_tensor> native, results(interface.outputs.size());
  native.reserve(count);
  for (size_t i = 0; i < count; ++i)
    native.push_back(toNative(inputs[i], storage));
  std::vector<Tensor> outputs;
  if (strata_session_run(session, native.data(), native.size(), results.data(), results.size())) {
    failure = strata_last_error();
    return outputs;
  }
  ++runs;
  outputs.reserve(results.size());
  for (strata_tensor &result : results) {
    std::shared_ptr<void> owner(result.owner, [result](void *) mutable { result.release(&result); });
    outputs.push_back(fromNative(result, owner));
  }
  return outputs;
}

std::vector<ModelVersion> Session::versions() const {
  std::vector<ModelVersion> result;
  for (const strata_model_descriptor *version : fixed) {
    ModelVersion &known = result.emplace_back();
    for (uint32_t i = 0; i < version->num_inputs; ++i)
      known.shapes.emplace_back(version->inputs[i].dims,
                                version->inputs[i].dims + std::max(version->inputs[i].rank, 0));
  }
  return result;
}

void Session::resetProfile() {
  strata_session_profile_reset(session);
  runs = 0;
}

std::vector<ProfileEntry> Session::profile() const {
  const strata_profile_entry *entries;
  size_t count = strata_session_profile(session, &entries);
  std::vector<ProfileEntry> result;
  for (size_t i = 0; i < count; ++i)
    if (entries[i].calls)
      result.push_back({entries[i].name, runs, entries[i].nanoseconds, entries[i].operations, entries[i].bytes});
  return result;
}

} // namespace strata
