//===- SerializeKernels.cpp - kernels to PTX or machine code --------------===//
#include "Codegen/Passes.h"
#include "DeviceMath.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

namespace strata {
#define GEN_PASS_DEF_SERIALIZEKERNELS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

static constexpr const char *kTriple = "nvptx64-nvidia-cuda";
/// CUDA 12.0 and newer drivers read it.
static constexpr const char *kFeatures = "+ptx80";

static std::unique_ptr<llvm::TargetMachine> createMachine(StringRef chip, std::string &error) {
  static const bool initialized = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  (void)initialized;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(kTriple, chip, kFeatures, {}, {}, {}, llvm::CodeGenOptLevel::Aggressive));
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
}

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

/// PTX to machine code by the vendor's assembler.
static llvm::Expected<std::string> assemble(StringRef ptx, StringRef chip, const std::string &ptxas) {
  llvm::SmallString<128> input, output, log;
  for (auto [path, suffix] : {std::pair(&input, "ptx"), std::pair(&output, "cubin"), std::pair(&log, "log")})
    if (std::error_code error = llvm::sys::fs::createTemporaryFile("strata-kernels", suffix, *path))
      return llvm::createStringError(error, "cannot create a temporary file");
  auto cleanUp = llvm::make_scope_exit([&] {
    for (auto *path : {&input, &output, &log})
      llvm::sys::fs::remove(*path);
  });
  {
    std::error_code error;
    llvm::raw_fd_ostream os(input, error);
    os << ptx;
  }
  std::string arch = ("-arch=" + chip).str();
  StringRef arguments[] = {ptxas, arch, "-O3", input, "-o", output};
  std::optional<StringRef> redirects[] = {StringRef(""), log.str(), log.str()};
  std::string message;
  if (llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt, redirects, 0, 0, &message)) {
    if (auto text = llvm::MemoryBuffer::getFile(log))
      message += (*text)->getBuffer().trim();
    return llvm::createStringError("ptxas failed: %s", message.c_str());
  }
  auto code = llvm::MemoryBuffer::getFile(output);
  if (!code)
    return llvm::createStringError("ptxas has written nothing");
  return (*code)->getBuffer().str();
}

namespace {
struct SerializeKernelsPass : strata::impl::SerializeKernelsBase<SerializeKernelsPass> {
  using SerializeKernelsBase::SerializeKernelsBase;

  void runOnOperation() override {
    for (auto kernels : llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
      if (failed(serialize(kernels)))
        return signalPassFailure();
  }

private:
  LogicalResult serialize(gpu::GPUModuleOp kernels) {
    std::string error;
    std::unique_ptr<llvm::TargetMachine> machine = createMachine(chip, error);
    if (!machine)
      return kernels.emitError("this build of LLVM has no NVPTX: ") << error;
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(kernels, context, "kernels");
    if (!ir)
      return failure();
    ir->setTargetTriple(kTriple);
    ir->setDataLayout(machine->createDataLayout());
    if (llvm::Error failure = strata::linkDeviceLibrary(*ir))
      return kernels.emitError(llvm::toString(std::move(failure)));
    for (llvm::Function &function : *ir)
      if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
        return kernels.emitError("the kernels call '") << function.getName().str() << "', which nobody defines";
    markWarpOperations(*ir);
    optimize(*ir, *machine, optLevel);

    auto kind = gpu::CompilationTarget::Assembly;
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream os(bytes);
    std::string object;
    if (format == "bitcode") {
      llvm::WriteBitcodeToFile(*ir, os);
      kind = gpu::CompilationTarget::Offload;
      // LLVM's wrapper says how long it is; a driver is not told.
      for (uint32_t word : {0x0B17C0DEu, 0u, 20u, static_cast<uint32_t>(bytes.size()), 0u})
        object.append(reinterpret_cast<const char *>(&word), sizeof(word));
      object += os.str();
    } else {
      llvm::legacy::PassManager passes;
      if (machine->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::AssemblyFile))
        return kernels.emitError("LLVM cannot write PTX for ") << chip;
      passes.run(*ir);
      object = os.str().str();
      std::string ptxas = format == "ptx" ? std::string() : findPtxas();
      if (format == "cubin" && ptxas.empty())
        return kernels.emitError("machine code for a GPU needs ptxas of the CUDA toolkit, which was found neither in "
                                 "CUDA_HOME, CUDA_PATH nor PATH");
      if (!ptxas.empty()) {
        auto code = assemble(object, chip, ptxas);
        if (!code)
          return kernels.emitError(llvm::toString(code.takeError()));
        object = std::move(*code);
        kind = gpu::CompilationTarget::Binary;
      }
    }
    OpBuilder b(kernels);
    auto target = NVVM::NVVMTargetAttr::get(&getContext(), /*optLevel=*/3, kTriple, chip, kFeatures);
    Attribute attr = gpu::ObjectAttr::get(&getContext(), target, kind, b.getStringAttr(object), DictionaryAttr());
    b.create<gpu::BinaryOp>(kernels.getLoc(), kernels.getName(), Attribute(), ArrayRef<Attribute>{attr});
    kernels.erase();
    return success();
  }
};
} // namespace
