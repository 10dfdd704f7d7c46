//===- NvidiaTarget.cpp - kernels for NVIDIA's GPUs -----------------------===//
#include "DeviceTarget.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace strata;

static const unsigned char libraryBytes[] = {
#include "DeviceLibrary-nvptx64.inc"
};

static std::string findPtxas() {
  SmallVector<std::string> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
    if (std::optional<std::string> home = llvm::sys::Process::GetEnv(variable))
      folders.push_back(*home + "/bin");
  SmallVector<StringRef> paths(folders.begin(), folders.end());
  if (!paths.empty())
    if (auto found = llvm::sys::findProgramByName("ptxas", paths))
      return *found;
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  if (auto found = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"}))
    return *found;
  return {};
}

namespace {
class NvidiaTarget : public DeviceTarget {
public:
  StringRef triple() const override { return "nvptx64-nvidia-cuda"; }
  /// CUDA 12.0 and newer drivers read it; 12.4 for sm_90a, where wgmma of signed by unsigned bytes needs it.
  StringRef features(StringRef chip) const override { return chip == "sm_90a" ? "+ptx84" : "+ptx80"; }

  unsigned addressSpace(gpu::AddressSpace space) const override {
    switch (space) {
    case gpu::AddressSpace::Global:
      return NVVM::NVVMMemorySpace::kGlobalMemorySpace;
    case gpu::AddressSpace::Workgroup:
      return NVVM::NVVMMemorySpace::kSharedMemorySpace;
    case gpu::AddressSpace::Private:
      return 0;
    }
    llvm_unreachable("unknown address space");
  }

  void populatePatterns(LLVMTypeConverter &converter, RewritePatternSet &patterns) const override {
    populateGpuToNVVMConversionPatterns(converter, patterns);
  }

  Attribute attribute(MLIRContext *context, StringRef chip) const override {
    return NVVM::NVVMTargetAttr::get(context, /*optLevel=*/3, triple(), chip, features(chip));
  }

  ArrayRef<unsigned char> library() const override { return libraryBytes; }

  /// PTX, or machine code by the vendor's assembler.
  llvm::Expected<Object> makeObject(llvm::Module &kernels, llvm::TargetMachine &machine,
                                    StringRef format) const override {
    auto ptx = generateCode(kernels, machine, llvm::CodeGenFileType::AssemblyFile);
    if (!ptx)
      return ptx.takeError();
    std::string ptxas = format == "ptx" ? std::string() : findPtxas();
    if (format == "cubin" && ptxas.empty())
      return llvm::createStringError(
          "machine code for a GPU needs ptxas of the CUDA toolkit, which was found neither in "
          "CUDA_HOME, CUDA_PATH nor PATH");
    if (ptxas.empty())
      return Object{std::move(*ptx), gpu::CompilationTarget::Assembly};
    std::string arch = "-arch=" + machine.getTargetCPU().str();
    auto code = runTool(ptxas, {arch, "-O3", "$in", "-o", "$out"}, *ptx);
    if (!code)
      return code.takeError();
    return Object{std::move(*code), gpu::CompilationTarget::Binary};
  }
};
} // namespace

const DeviceTarget &strata::nvidiaTarget() {
  static const NvidiaTarget target;
  return target;
}
