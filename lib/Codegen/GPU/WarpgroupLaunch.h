//===- WarpgroupLaunch.h - launches of kernels by warpgroups ----*- C++ -*-===//
#ifndef STRATA_CODEGEN_GPU_WARPGROUPLAUNCH_H
#define STRATA_CODEGEN_GPU_WARPGROUPLAUNCH_H

#include "WarpgroupAttention.h"

namespace strata {

/// At the launch: the operands' tensor maps (!llvm.ptr) and the number of blocks.
struct WarpgroupLaunch {
  llvm::SmallVector<mlir::Value> maps;
  mlir::Value blocks;
};

/// `operands` are the launch's.
WarpgroupLaunch prepareLaunch(mlir::OpBuilder &b, mlir::Location loc, const WarpgroupPlan &plan,
                              mlir::gpu::GPUFuncOp function, mlir::ValueRange operands);
WarpgroupLaunch prepareLaunch(mlir::OpBuilder &b, mlir::Location loc, const WarpgroupAttention &plan,
                              const Attention &a, mlir::gpu::GPUFuncOp function, mlir::ValueRange operands);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_WARPGROUPLAUNCH_H
