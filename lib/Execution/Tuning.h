//===- Tuning.h - plans of kernels chosen by measuring ----------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_TUNING_H
#define STRATA_LIB_EXECUTION_TUNING_H

#include "Execution/Driver.h"

namespace strata {

/// Gives each kernel of a module on buffers the plan that is the fastest one by the results in the tuning file; what it
/// does not know is measured on this machine, or on its GPU, and added to it, if the options say so and the code is for
/// what is there. Failures are diagnostics.
mlir::LogicalResult tuneKernels(mlir::ModuleOp module, const CompileOptions &options, const Progress &progress);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_TUNING_H
