//===- Model.cpp - models that were compiled before -----------------------===//

#include "Model.h"

namespace strata::python {
namespace {
class LoadedModel : public Model {
public:
  explicit LoadedModel(std::unique_ptr<Session> session) : owned(std::move(session)) {}
  Session &session() override { return *owned; }

private:
  std::unique_ptr<Session> owned;
};
} // namespace

SessionOptions sessionOptions(const Options &options) {
  return {options.threads,      options.seed,   options.memoryLimit,  options.profile,
          options.advanceSeeds, options.device, options.deviceResults};
}

std::unique_ptr<Model> load(const std::string &path, const Options &options, std::string &failure) {
  std::unique_ptr<Session> session = Session::load(path, sessionOptions(options), failure);
  return session ? std::make_unique<LoadedModel>(std::move(session)) : nullptr;
}

std::string copyToHost(const Tensor &tensor, void *to) {
  strata_tensor native = {};
  native.data = tensor.data;
  native.dtype = tensor.dtype;
  native.rank = tensor.shape.size();
  native.shape = tensor.shape.data();
  native.device_type = tensor.deviceType;
  native.owner = tensor.owner.get();
  return strata_result_read(&native, to) ? strata_last_error() : "";
}

} // namespace strata::python
