//===- LoopSizes.h - how long a kernel's loops are, for its caller --------===//
#ifndef STRATA_CODEGEN_GPU_LOOPSIZES_H
#define STRATA_CODEGEN_GPU_LOOPSIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

/// The number of iterations of a loop of `op`, which is in the kernel that is called, computed where that is called.
mlir::Value loopSize(mlir::OpBuilder &b, mlir::Location loc, mlir::linalg::GenericOp op, unsigned loop,
                     mlir::func::CallOp call);
/// The product of several.
mlir::Value loopSizes(mlir::OpBuilder &b, mlir::Location loc, mlir::linalg::GenericOp op, llvm::ArrayRef<int> loops,
                      mlir::func::CallOp call);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_LOOPSIZES_H
