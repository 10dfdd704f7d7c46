//===- Model.cpp - a model ready to run -----------------------------------===//

#include "Execution/Model.h"
#include "Codegen.h"
#include "Constants.h"
#include "Descriptor.h"
#include "Jit.h"
#include "Target.h"
#include "mlir/Target/LLVMIR/Dialect/AMX/AMXToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "llvm/IR/LLVMContext.h"
#include <cstring>
#include <deque>

using namespace mlir;

namespace strata {

void registerTranslationDialects(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerAMXDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerROCDLDialectTranslation(registry);
}

/// What a model from the JIT stands on.
struct Model::Code {
  std::shared_ptr<void> keepAlive;
  std::vector<Constant> constants;
  std::vector<void *> table;
  std::unique_ptr<Descriptor> descriptor;
  LoadedCode loaded;
};

Tensor Tensor::allocate(strata_dtype dtype, std::vector<int64_t> shape) {
  Tensor result;
  result.dtype = dtype;
  result.shape = std::move(shape);
  uint64_t bytes = strata_dtype_size(dtype);
  for (int64_t dim : result.shape)
    if (dim < 0 || __builtin_mul_overflow(bytes, uint64_t(dim), &bytes))
      return result;
  std::shared_ptr<char> memory = allocateConstant(bytes, 64);
  result.data = memory.get();
  result.owner = std::move(memory);
  return result;
}

Tensor Tensor::ofStrings(std::vector<int64_t> shape, const std::vector<std::string> &strings) {
  struct Storage {
    std::vector<std::string> bytes;
    std::vector<strata_string> strings;
  };
  auto storage = std::make_shared<Storage>();
  storage->bytes = strings;
  for (const std::string &string : storage->bytes)
    storage->strings.push_back({string.data(), string.size()});
  storage->strings.emplace_back(); // so that there is an address
  Tensor result;
  result.dtype = STRATA_STRING;
  result.shape = std::move(shape);
  result.data = storage->strings.data();
  result.owner = std::move(storage);
  return result;
}

Tensor Tensor::ofElements(strata_dtype dtype, std::vector<Tensor> elements) {
  Tensor result;
  result.dtype = dtype;
  if (dtype != STRATA_OPTIONAL)
    result.shape = {static_cast<int64_t>(elements.size())};
  result.elements = std::move(elements);
  return result;
}

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

static llvm::Error lastError() { return llvm::createStringError("%s", strata_last_error()); }

FailureOr<std::unique_ptr<Model>> Model::jit(ModuleOp module, const CompileOptions &options,
                                             const SessionOptions &session, std::shared_ptr<void> keepAlive) {
  auto fail = [&](llvm::Error error) { return module.emitError(llvm::toString(std::move(error))); };
  if (llvm::Error error = checkRuntime(options))
    return fail(std::move(error));
  std::unique_ptr<Model> model(new Model());
  model->modelName = options.modelName;
  model->code = std::make_unique<Code>();
  Code &code = *model->code;
  code.keepAlive = std::move(keepAlive);
  auto interface = readInterface(module);
  auto constants = readConstants(module);
  if (failed(interface) || failed(constants))
    return failure();
  model->interface = std::move(*interface);
  code.constants = std::move(*constants);
  auto table = makeTable(module, code.constants);
  if (failed(table))
    return failure();
  code.table = std::move(*table);

  auto machine = createTargetMachine(options);
  if (!machine)
    return fail(machine.takeError());
  if (!runsOnHost(**machine))
    return module.emitError("code for ") << (*machine)->getTargetTriple().str() << " with CPU '"
                                         << (*machine)->getTargetCPU()
                                         << "' and these features cannot run on this machine";
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  {
    llvm::LLVMContext context;
    auto ir = translateToLLVM(module, context, **machine, options.modelName);
    if (failed(ir))
      return failure();
    auto compiled = compileToObjects(std::move(*ir), options);
    if (!compiled)
      return fail(compiled.takeError());
    objects = std::move(*compiled);
  }
  auto loaded = loadCode(std::move(objects), (*machine)->createDataLayout(), options.modelName, code.table.data());
  if (!loaded)
    return fail(loaded.takeError());
  code.loaded = std::move(*loaded);

  code.descriptor = std::make_unique<Descriptor>(model->modelName, describe(**machine, options), model->interface);
  strata_model_descriptor &descriptor = code.descriptor->descriptor;
  descriptor.main = code.loaded.main;
  descriptor.init = code.loaded.init;
  descriptor.constants = code.table.data();
  descriptor.num_constants = code.table.size();
  {
    DropConstants drop(code.constants);
    if (strata_model_from_descriptor(&descriptor, &model->model))
      return fail(lastError());
  }
  // What only the init function read is not needed any more.
  for (auto [constant, slot] : llvm::zip(code.constants, code.table)) {
    if (constant.neededAtRunTime)
      continue;
    constant.storage.reset();
    slot = nullptr;
  }
  if (llvm::Error error = model->start(session))
    return fail(std::move(error));
  return model;
}

llvm::Expected<std::unique_ptr<Model>> Model::load(const std::string &path, const SessionOptions &options) {
  std::unique_ptr<Model> model(new Model());
  if (strata_model_load(path.c_str(), &model->model))
    return lastError();
  const strata_model_descriptor *descriptor = strata_model_get_descriptor(model->model);
  model->modelName = descriptor->name;
  model->interface = readInterface(*descriptor);
  if (llvm::Error error = model->start(options))
    return std::move(error);
  return std::move(model);
}

llvm::Error Model::start(const SessionOptions &options) {
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
  if (strata_session_create(model, &native, &session))
    return lastError();
  return llvm::Error::success();
}

Model::~Model() {
  strata_session_free(session);
  strata_model_free(model);
}

int Model::threads() const { return strata_session_threads(session); }

llvm::Expected<std::vector<Tensor>> Model::run(llvm::ArrayRef<Tensor> inputs) {
  std::deque<std::vector<strata_tensor>> storage;
  SmallVector<strata_tensor> native;
  for (const Tensor &tensor : inputs)
    native.push_back(toNative(tensor, storage));
  SmallVector<strata_tensor> results(interface.outputs.size());
  if (strata_session_run(session, native.data(), native.size(), results.data(), results.size()))
    return lastError();
  ++runs;
  std::vector<Tensor> outputs;
  for (strata_tensor &result : results) {
    std::shared_ptr<void> owner(result.owner, [result](void *) mutable { result.release(&result); });
    outputs.push_back(fromNative(result, owner));
  }
  return outputs;
}

void Model::resetProfile() {
  strata_session_profile_reset(session);
  runs = 0;
}

std::vector<ProfileEntry> Model::profile() {
  const strata_profile_entry *entries;
  size_t count = strata_session_profile(session, &entries);
  std::vector<ProfileEntry> result;
  for (size_t i = 0; i < count; ++i)
    if (entries[i].calls)
      result.push_back({entries[i].name, runs, entries[i].nanoseconds, entries[i].operations, entries[i].bytes});
  return result;
}

} // namespace strata
