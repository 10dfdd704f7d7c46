//===- Codegen.cpp - LLVM dialect to object code --------------------------===//

#include "Codegen.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Transforms/IPO/MergeFunctions.h"

using namespace llvm;

namespace strata {

mlir::FailureOr<std::unique_ptr<Module>>
translateToLLVM(mlir::ModuleOp module, LLVMContext &context,
                TargetMachine &machine, StringRef modelName) {
  std::unique_ptr<Module> result =
      mlir::translateModuleToLLVMIR(module, context, modelName);
  if (!result)
    return mlir::failure();
  result->setTargetTriple(machine.getTargetTriple().str());
  result->setDataLayout(machine.createDataLayout());
  result->setPICLevel(PICLevel::BigPIC);
  for (Function &function : *result) {
    if (function.isDeclaration())
      continue;
    // Every function says its target, so that LLVM's cost models see it.
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    if (machine.getTargetTriple().isX86())
      function.addFnAttr("prefer-vector-width", "512");
    function.setDoesNotThrow();
  }
  if (GlobalVariable *table =
          result->getNamedGlobal((modelName + "_constants").str())) {
    table->setInitializer(nullptr);
    table->setLinkage(GlobalValue::ExternalLinkage);
    // Through the GOT: the JIT's table may be anywhere.
    table->setVisibility(GlobalValue::DefaultVisibility);
    table->setDSOLocal(false);
    table->setConstant(true);
  }
  std::string message;
  raw_string_ostream os(message);
  if (verifyModule(*result, &os))
    return module.emitError("the LLVM IR is not valid: ") << message;
  return result;
}

void optimize(Module &module, TargetMachine &machine, unsigned level) {
  static const OptimizationLevel levels[] = {
      OptimizationLevel::O0, OptimizationLevel::O1, OptimizationLevel::O2,
      OptimizationLevel::O3};
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  ModulePassManager passes;
  if (level == 0) {
    passes = builder.buildO0DefaultPipeline(OptimizationLevel::O0);
  } else {
    // Layers of equal shape have equal kernels; once is enough.
    passes.addPass(MergeFunctionsPass());
    passes.addPass(
        builder.buildPerModuleDefaultPipeline(levels[std::min(level, 3u)]));
  }
  passes.run(module, modules);
}

Error emitCode(Module &module, TargetMachine &machine, CodeGenFileType type,
               raw_pwrite_stream &os) {
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr, type))
    return createStringError("LLVM cannot write this kind of file for %s",
                             machine.getTargetTriple().str().c_str());
  passes.run(module);
  return Error::success();
}

Expected<std::unique_ptr<MemoryBuffer>> emitObject(Module &module,
                                                   TargetMachine &machine) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream os(bytes);
  if (Error error = emitCode(module, machine, CodeGenFileType::ObjectFile, os))
    return std::move(error);
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(bytes), module.getName(), /*RequiresNullTerminator=*/false);
}

} // namespace strata
