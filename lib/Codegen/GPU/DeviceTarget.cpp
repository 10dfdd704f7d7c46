//===- DeviceTarget.cpp - what the vendors' targets share -----------------===//
#include "DeviceTarget.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace strata;

const DeviceTarget &DeviceTarget::ofChip(StringRef chip) {
  return chip.starts_with("gfx") ? amdTarget() : nvidiaTarget();
}

Expected<std::string> strata::generateCode(Module &kernels, TargetMachine &machine, CodeGenFileType type) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream os(bytes);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr, type))
    return createStringError("LLVM cannot write code for %s", machine.getTargetCPU().str().c_str());
  passes.run(kernels);
  return os.str().str();
}

Expected<std::string> strata::runTool(StringRef program, ArrayRef<std::string> arguments, StringRef input) {
  SmallString<128> in, out, log;
  for (SmallString<128> *path : {&in, &out, &log})
    if (std::error_code error = sys::fs::createTemporaryFile("strata-kernels", "", *path))
      return createStringError(error, "cannot create a temporary file");
  auto cleanUp = make_scope_exit([&] {
    for (SmallString<128> *path : {&in, &out, &log})
      sys::fs::remove(*path);
  });
  {
    std::error_code error;
    raw_fd_ostream os(in, error);
    os << input;
  }
  SmallVector<StringRef> all = {program};
  for (const std::string &argument : arguments)
    all.push_back(argument == "$in" ? StringRef(in) : argument == "$out" ? StringRef(out) : StringRef(argument));
  std::optional<StringRef> redirects[] = {StringRef(""), log.str(), log.str()};
  std::string message;
  std::string name = sys::path::filename(program).str();
  if (sys::ExecuteAndWait(program, all, std::nullopt, redirects, 0, 0, &message)) {
    if (auto text = MemoryBuffer::getFile(log))
      message += (*text)->getBuffer().trim();
    return createStringError("%s failed: %s", name.c_str(), message.c_str());
  }
  auto result = MemoryBuffer::getFile(out);
  if (!result)
    return createStringError("%s has written nothing", name.c_str());
  return (*result)->getBuffer().str();
}
