//===- LinkDeviceLibrary.cpp - functions that kernels call ----------------===//
#include "DeviceMath.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

Error strata::linkDeviceLibrary(Module &kernels, ArrayRef<unsigned char> library) {
  auto module =
      parseBitcodeFile(MemoryBufferRef(toStringRef(library), "device library"), kernels.getContext());
  if (!module)
    return module.takeError();
  (*module)->setTargetTriple(kernels.getTargetTriple());
  (*module)->setDataLayout(kernels.getDataLayout());
  std::vector<std::string> names;
  for (Function &function : **module) {
    // The kernels' target is theirs, too.
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
    if (!function.isDeclaration())
      names.push_back(function.getName().str());
  }
  if (Linker::linkModules(kernels, std::move(*module), Linker::LinkOnlyNeeded))
    return createStringError("the device library does not fit the kernels");
  for (const std::string &name : names)
    if (Function *function = kernels.getFunction(name); function && !function->isDeclaration())
      function->setLinkage(GlobalValue::InternalLinkage);
  return Error::success();
}
