//===- KernelGroups.h - which linalg operations are one kernel --*- C++ -*-===//
#ifndef STRATA_CODEGEN_KERNELGROUPS_H
#define STRATA_CODEGEN_KERNELGROUPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace strata {

/// Operations of one kernel, in order.
struct KernelGroup {
  mlir::memref::AllocOp between; ///< the buffer that the group keeps to itself
  llvm::SmallVector<mlir::linalg::GenericOp> ops;
};

/// Each of `generics` is in one group: a reduction with the operation that initialises its accumulator and the
/// elementwise one that consumes its result, or alone. The operations of a group can run where its last one is.
llvm::SmallVector<KernelGroup> groupKernels(llvm::ArrayRef<mlir::linalg::GenericOp> generics);

} // namespace strata

#endif // STRATA_CODEGEN_KERNELGROUPS_H
