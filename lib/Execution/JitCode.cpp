//===- JitCode.cpp - code of a model in this process ----------------------===//

#include "JitCode.h"
#include "Codegen.h"
#include "Execution/Interface.h"
#include "Target.h"
#include "llvm/IR/LLVMContext.h"

using namespace mlir;

namespace strata {

static LogicalResult fail(ModuleOp module, llvm::Error error) {
  return module.emitError(llvm::toString(std::move(error)));
}

/// Computes the constants, once.
static LogicalResult open(ModuleOp module, std::vector<Constant> &constants, bool drop,
                          const strata_model_descriptor &descriptor, strata_model *&model) {
  std::optional<DropConstants> dropping;
  if (drop)
    dropping.emplace(&constants);
  if (strata_model_from_descriptor(&descriptor, &model))
    return module.emitError(strata_last_error());
  return success();
}

FailureOr<std::unique_ptr<JitCode>> JitCode::compile(ModuleOp module, const CompileOptions &options, ConstantPool *pool,
                                                     const std::atomic<bool> *stop) {
  if (llvm::Error error = checkRuntime(options))
    return fail(module, std::move(error));
  std::unique_ptr<JitCode> code(new JitCode());
  auto interface = readInterface(module);
  auto constants = readConstants(module);
  if (failed(interface) || failed(constants))
    return failure();
  auto machine = createTargetMachine(options);
  if (!machine)
    return fail(module, machine.takeError());
  if (!runsOnHost(**machine))
    return module.emitError("code for ") << (*machine)->getTargetTriple().str() << " with CPU '"
                                         << (*machine)->getTargetCPU()
                                         << "' and these features cannot run on this machine";
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  {
    llvm::LLVMContext context;
    auto ir = translateToLLVM(module, context, **machine, options);
    if (failed(ir))
      return failure();
    auto compiled = compileToObjects(std::move(*ir), options, stop);
    if (!compiled)
      return fail(module, compiled.takeError());
    objects = std::move(*compiled);
  }
  code->constants = std::move(*constants);
  auto table = makeTable(module, code->constants, pool);
  if (failed(table))
    return failure();
  code->table = std::move(*table);
  for (const auto &object : objects)
    code->ownBytes += object->getBufferSize();
  auto loaded = loadCode(std::move(objects), (*machine)->createDataLayout(), options.modelName, code->table.data());
  if (!loaded)
    return fail(module, loaded.takeError());
  code->loaded = std::move(*loaded);

  code->description = std::make_unique<Descriptor>(options.modelName, describe(**machine, options), *interface);
  strata_model_descriptor &descriptor = code->description->descriptor;
  descriptor.main = code->loaded.main;
  descriptor.init = code->loaded.init;
  descriptor.constants = code->table.data();
  descriptor.num_constants = code->table.size();
  if (failed(open(module, code->constants, /*drop=*/!pool, descriptor, code->opened)))
    return failure();
  // What only the init function read is not needed any more.
  for (auto [constant, slot] : llvm::zip(code->constants, code->table)) {
    if (constant.neededAtRunTime)
      continue;
    constant.storage.reset();
    slot = nullptr;
  }
  for (const Constant &constant : code->constants)
    if (constant.storage && constant.storage.use_count() == 1)
      code->ownBytes += constant.bytes;
  return code;
}

JitCode::~JitCode() { strata_model_free(opened); }

} // namespace strata
