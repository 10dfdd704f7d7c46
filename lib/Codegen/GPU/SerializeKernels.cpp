//===- SerializeKernels.cpp - kernels to what the driver loads -------------===//
#include "Codegen/Passes.h"
#include "DeviceMath.h"
#include "DeviceTarget.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

namespace strata {
#define GEN_PASS_DEF_SERIALIZEKERNELS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

static std::unique_ptr<llvm::TargetMachine> createMachine(const DeviceTarget &device, StringRef chip,
                                                          std::string &error) {
  static const bool initialized = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  (void)initialized;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(device.triple().str(), error);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      device.triple(), chip, device.features(chip), {}, llvm::Reloc::PIC_, {}, llvm::CodeGenOptLevel::Aggressive));
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine, unsigned level) {
  if (level == 0)
    return;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(level == 1 ? llvm::OptimizationLevel::O1 : llvm::OptimizationLevel::O3)
      .run(module, modules);
}

/// All lanes of a warp must reach these together; LLVM 19 does not say so of its own, and could move them into
/// branches.
static void markWarpOperations(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (function.getName().starts_with("llvm.nvvm.mma.") || function.getName().starts_with("llvm.nvvm.ldmatrix."))
      for (llvm::User *user : function.users())
        llvm::cast<llvm::CallBase>(user)->setConvergent();
  // Nor of PTX, which warps or warpgroups execute together.
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block)
        if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && call->isInlineAsm())
          call->setConvergent();
}

/// LLVM 19 keeps what annotations say of functions (how many threads a block has) by the addresses of module and
/// function until its AsmPrinter has written that module: kernels that come to lie there later would be optimised by what
/// was true of these. The functions are given up.
static llvm::Error forgetAnnotations(llvm::Module &module, llvm::TargetMachine &machine) {
  for (llvm::Function &function : module)
    function.deleteBody();
  return generateCode(module, machine, llvm::CodeGenFileType::AssemblyFile).takeError();
}

/// LLVM's wrapper says how long it is; a driver is not told.
static std::string wrappedBitcode(const llvm::Module &module) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::WriteBitcodeToFile(module, os);
  std::string result;
  for (uint32_t word : {0x0B17C0DEu, 0u, 20u, static_cast<uint32_t>(bytes.size()), 0u})
    result.append(reinterpret_cast<const char *>(&word), sizeof(word));
  return result + os.str().str();
}

namespace {
struct SerializeKernelsPass : strata::impl::SerializeKernelsBase<SerializeKernelsPass> {
  using SerializeKernelsBase::SerializeKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SerializeKernelsBase::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
    registerROCDLDialectTranslation(registry);
  }

  void runOnOperation() override {
    for (auto kernels : llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
      if (failed(serialize(kernels)))
        return signalPassFailure();
  }

private:
  LogicalResult serialize(gpu::GPUModuleOp kernels) {
    const DeviceTarget &device = DeviceTarget::ofChip(chip);
    std::string error;
    std::unique_ptr<llvm::TargetMachine> machine = createMachine(device, chip, error);
    if (!machine)
      return kernels.emitError("this build of LLVM has no ") << device.triple() << ": " << error;
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(kernels, context, "kernels");
    if (!ir)
      return failure();
    ir->setTargetTriple(device.triple());
    ir->setDataLayout(machine->createDataLayout());
    if (llvm::Error failure = strata::linkDeviceLibrary(*ir, device.library()))
      return kernels.emitError(llvm::toString(std::move(failure)));
    for (llvm::Function &function : *ir)
      if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
        return kernels.emitError("the kernels call '") << function.getName().str() << "', which nobody defines";
    markWarpOperations(*ir);
    optimize(*ir, *machine, optLevel);

    DeviceTarget::Object object;
    if (format == "bitcode") {
      object = {wrappedBitcode(*ir), gpu::CompilationTarget::Offload};
      if (llvm::Error failure = forgetAnnotations(*ir, *machine))
        return kernels.emitError(llvm::toString(std::move(failure)));
    } else {
      auto made = device.makeObject(*ir, *machine, format);
      if (!made)
        return kernels.emitError(llvm::toString(made.takeError()));
      object = std::move(*made);
    }
    OpBuilder b(kernels);
    Attribute attr = gpu::ObjectAttr::get(&getContext(), device.attribute(&getContext(), chip), object.kind,
                                          b.getStringAttr(object.bytes), DictionaryAttr());
    b.create<gpu::BinaryOp>(kernels.getLoc(), kernels.getName(), Attribute(), ArrayRef<Attribute>{attr});
    kernels.erase();
    return success();
  }
};
} // namespace
