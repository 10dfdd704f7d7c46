//===- Target.h - LLVM's description of the target --------------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_TARGET_H
#define STRATA_LIB_EXECUTION_TARGET_H

#include "Pipeline/CompileOptions.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace strata {

/// The machine the options name, or the one this process runs on. Errors name
/// the unknown CPU or feature.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const CompileOptions &options);

/// The metadata of a model: lines "key: value". The line "needs" lists the
/// instruction sets that the runtime checks before the code runs.
std::string describe(const llvm::TargetMachine &machine, const CompileOptions &options);

/// Whether the runtime has a driver for the target's kernels.
llvm::Error checkRuntime(const CompileOptions &options);

/// Whether code for the target may run in this process.
bool runsOnHost(const llvm::TargetMachine &machine);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_TARGET_H
