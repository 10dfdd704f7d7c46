//===- Model.cpp - a model ready to run -----------------------------------===//

#include "Execution/Model.h"
#include "Specializer.h"
#include "mlir/Target/LLVMIR/Dialect/AMX/AMXToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;

namespace strata {

void registerTranslationDialects(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerAMXDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

Model::Model() = default;
Model::~Model() = default;

static llvm::Error asError(const std::string &failure) { return llvm::createStringError("%s", failure.c_str()); }

llvm::Expected<std::unique_ptr<Model>> Model::start(std::unique_ptr<JitCode> code,
                                                    std::vector<std::unique_ptr<JitCode>> versions,
                                                    const SessionOptions &options, std::shared_ptr<void> keepAlive) {
  std::unique_ptr<Model> model(new Model());
  model->keepAlive = std::move(keepAlive);
  std::vector<const strata_model_descriptor *> descriptors;
  for (const auto &version : versions)
    descriptors.push_back(&version->descriptor());
  std::string failure;
  model->session = Session::open(code->model(), std::move(descriptors), options, failure);
  model->code.push_back(std::move(code));
  llvm::move(versions, std::back_inserter(model->code));
  if (!model->session)
    return asError(failure);
  return std::move(model);
}

llvm::Expected<std::unique_ptr<Model>> Model::load(const std::string &path, const SessionOptions &options) {
  std::unique_ptr<Model> model(new Model());
  std::string failure;
  model->session = Session::load(path, options, failure);
  if (!model->session)
    return asError(failure);
  return std::move(model);
}

void Model::specialize(
    llvm::function_ref<std::unique_ptr<Specializer>(ArrayRef<const strata_model_descriptor *>, strata_session *)>
        make) {
  specializer = make(session->fixedVersions(), session->native());
}

std::vector<ModelVersion> Model::versions() {
  std::vector<ModelVersion> result;
  if (specializer)
    result = specializer->versions();
  llvm::append_range(result, session->versions());
  return result;
}

void Model::settle() {
  if (specializer)
    specializer->settle();
}

void Model::stopSpecializing() {
  if (specializer)
    specializer->stop();
}

llvm::Expected<std::vector<Tensor>> Model::run(llvm::ArrayRef<Tensor> inputs) {
  std::string failure;
  std::vector<Tensor> outputs = session->run(inputs.data(), inputs.size(), failure);
  if (!failure.empty())
    return asError(failure);
  if (specializer)
    specializer->ran(inputs);
  return std::move(outputs);
}

} // namespace strata
