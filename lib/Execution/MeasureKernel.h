//===- MeasureKernel.h - which form of a kernel is the fastest --*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_MEASUREKERNEL_H
#define STRATA_LIB_EXECUTION_MEASUREKERNEL_H

#include "Pipeline/CompileOptions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace strata {

struct Measured {
  size_t fastest;       ///< 0 unless another one is faster by more than the noise
  double before, after; ///< nanoseconds of a call: of form 0, of the fastest
};

/// Compiles the forms of a kernel, which is on buffers of known sizes, into this process and times them on random data,
/// for `seconds` at most: each alone and warm, by turns, those that are clearly slower not to the end. Where the
/// options name a GPU, it runs them. Failures are diagnostics.
mlir::FailureOr<Measured> measureForms(llvm::ArrayRef<mlir::func::FuncOp> forms, const CompileOptions &options,
                                       double seconds);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_MEASUREKERNEL_H
