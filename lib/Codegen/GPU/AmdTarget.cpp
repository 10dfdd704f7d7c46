//===- AmdTarget.cpp - kernels for AMD's GPUs -----------------------------===//
#include "DeviceTarget.h"

#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace strata;

static const unsigned char libraryBytes[] = {
#include "DeviceLibrary-amdgcn.inc"
};

static std::string findLinker() {
  std::string major = std::to_string(LLVM_VERSION_MAJOR), home = "/usr/lib/llvm-" + major + "/bin";
  for (const std::string &name : {"ld.lld-" + major, std::string("ld.lld")}) {
    if (auto found = llvm::sys::findProgramByName(name))
      return *found;
    if (auto found = llvm::sys::findProgramByName(name, {home}))
      return *found;
  }
  return {};
}

namespace {
class AmdTarget : public DeviceTarget {
public:
  StringRef triple() const override { return "amdgcn-amd-amdhsa"; }

  unsigned addressSpace(gpu::AddressSpace space) const override {
    switch (space) {
    case gpu::AddressSpace::Global:
      return 1;
    case gpu::AddressSpace::Workgroup:
      return ROCDL::ROCDLDialect::kSharedMemoryAddressSpace;
    case gpu::AddressSpace::Private:
      return ROCDL::ROCDLDialect::kPrivateMemoryAddressSpace;
    }
    llvm_unreachable("unknown address space");
  }

  void populatePatterns(LLVMTypeConverter &converter, RewritePatternSet &patterns) const override {
    populateGpuToROCDLConversionPatterns(converter, patterns, gpu::amd::Runtime::HIP);
  }

  Attribute attribute(MLIRContext *context, StringRef chip) const override {
    return ROCDL::ROCDLTargetAttr::get(context, /*optLevel=*/3, triple(), chip);
  }

  ArrayRef<unsigned char> library() const override { return libraryBytes; }

  /// The shared object that HIP calls a code object.
  llvm::Expected<Object> makeObject(llvm::Module &kernels, llvm::TargetMachine &machine, StringRef) const override {
    std::string linker = findLinker();
    if (linker.empty())
      return llvm::createStringError("machine code for AMD's GPUs needs the linker ld.lld (Debian package lld-%d)",
                                     LLVM_VERSION_MAJOR);
    auto object = generateCode(kernels, machine, llvm::CodeGenFileType::ObjectFile);
    if (!object)
      return object.takeError();
    auto shared = runTool(linker, {"-shared", "--no-undefined", "$in", "-o", "$out"}, *object);
    if (!shared)
      return shared.takeError();
    return Object{std::move(*shared), gpu::CompilationTarget::Binary};
  }
};
} // namespace

const DeviceTarget &strata::amdTarget() {
  static const AmdTarget target;
  return target;
}
