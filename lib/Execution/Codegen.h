//===- Codegen.h - LLVM dialect to object code ------------------*- C++ -*-===//
//
// The steps that the JIT and the ahead-of-time path share.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_LIB_EXECUTION_CODEGEN_H
#define STRATA_LIB_EXECUTION_CODEGEN_H

#include "Pipeline/CompileOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include <atomic>

namespace strata {

/// Translates a module in the LLVM dialect. NAME_constants (`options.modelName`) becomes a
/// declaration: the table is defined by whoever loads or links the code.
mlir::FailureOr<std::unique_ptr<llvm::Module>> translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                               llvm::TargetMachine &machine,
                                                               const CompileOptions &options);

/// Runs LLVM's standard pipeline of that level.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, unsigned level);

/// Emits object code or assembly; the module is used up.
llvm::Error emitCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                     llvm::raw_pwrite_stream &os);

/// Optimises the module and makes object code of it, in several pieces on
/// several threads if it is large. The pieces belong together: what is local to
/// the module becomes hidden symbols that begin with the model's name. An error where `stop` becomes true meanwhile.
llvm::Expected<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
compileToObjects(std::unique_ptr<llvm::Module> module, const CompileOptions &options,
                 const std::atomic<bool> *stop = nullptr);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_CODEGEN_H
