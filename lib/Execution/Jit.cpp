//===- Jit.cpp - load object code into this process -----------------------===//

#include "Jit.h"
#include "Runtime/strata_runtime.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/MapperJITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/MemoryMapper.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>

using namespace llvm;
using namespace llvm::orc;

namespace strata {

std::string runtimeLibraryPath() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&strata_rt_alloc), &info) || !info.dli_fname)
    return "libstrata_runtime.so";
  return info.dli_fname;
}

std::vector<RuntimePart> runtimeParts() {
  auto beside = [](StringRef name) {
    SmallString<128> path(runtimeLibraryPath());
    sys::path::remove_filename(path);
    sys::path::append(path, name);
    return path.str().str();
  };
  return {{"strata_rt_regex_", beside("libstrata_regex.so")}, {"strata_rt_image_", beside("libstrata_image.so")}};
}

/// Makes the runtime's symbols visible even where nobody loaded it globally
/// (a Python extension).
static Error addRuntime(LLJIT &jit, ArrayRef<RuntimePart> parts) {
  char prefix = jit.getDataLayout().getGlobalPrefix();
  for (const RuntimePart &part : parts) {
    auto library = DynamicLibrarySearchGenerator::Load(part.path.c_str(), prefix);
    if (!library)
      return library.takeError();
    jit.getMainJITDylib().addGenerator(std::move(*library));
  }
  auto runtime = DynamicLibrarySearchGenerator::Load(runtimeLibraryPath().c_str(), prefix);
  if (!runtime)
    return runtime.takeError();
  jit.getMainJITDylib().addGenerator(std::move(*runtime));
  auto process = DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix);
  if (!process)
    return process.takeError();
  jit.getMainJITDylib().addGenerator(std::move(*process));
  return Error::success();
}

Expected<LoadedCode> loadCode(std::vector<std::unique_ptr<MemoryBuffer>> objects, const DataLayout &layout,
                              StringRef modelName, void **table) {
  LoadedCode code;
  // One reservation for all objects, so that they reach each other with 32-bit
  // offsets.
  auto makeLinker = [](ExecutionSession &session, const Triple &) -> Expected<std::unique_ptr<ObjectLayer>> {
    constexpr size_t reservation = size_t(256) << 20;
    auto memory = MapperJITLinkMemoryManager::CreateWithMapper<InProcessMemoryMapper>(reservation);
    if (!memory)
      return memory.takeError();
    return std::make_unique<ObjectLinkingLayer>(session, std::move(*memory));
  };
  auto jit = LLJITBuilder().setDataLayout(layout).setObjectLinkingLayerCreator(makeLinker).create();
  if (!jit)
    return jit.takeError();
  code.jit = std::move(*jit);
  std::vector<RuntimePart> parts = runtimeParts();
  erase_if(parts, [&](const RuntimePart &part) {
    return none_of(objects, [&](const auto &object) { return object->getBuffer().contains(part.prefix); });
  });
  if (Error error = addRuntime(*code.jit, parts))
    return std::move(error);
  SymbolMap symbols;
  symbols[code.jit->mangleAndIntern((modelName + "_constants").str())] = {ExecutorAddr::fromPtr(table),
                                                                          JITSymbolFlags::Exported};
  if (Error error = code.jit->getMainJITDylib().define(absoluteSymbols(symbols)))
    return std::move(error);
  for (std::unique_ptr<MemoryBuffer> &object : objects)
    if (Error error = code.jit->addObjectFile(std::move(object)))
      return std::move(error);
  auto main = code.jit->lookup((modelName + "_main").str());
  if (!main)
    return main.takeError();
  code.main = main->toPtr<void (*)(void **)>();
  // No init means no constants to compute.
  if (auto init = code.jit->lookup((modelName + "_init").str()))
    code.init = init->toPtr<void (*)(void **)>();
  else
    consumeError(init.takeError());
  return std::move(code);
}

} // namespace strata
