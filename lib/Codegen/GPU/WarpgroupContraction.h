//===- WarpgroupContraction.h - code of products by warpgroups ------------===//
#ifndef STRATA_CODEGEN_GPU_WARPGROUPCONTRACTION_H
#define STRATA_CODEGEN_GPU_WARPGROUPCONTRACTION_H

#include "WarpgroupPlan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace strata {

/// Gives the function two more parameters, the tensor maps of the operands, and emits what a thread does. Blocks take
/// tile after tile, however many there are of them.
void emitWarpgroups(mlir::OpBuilder &b, mlir::gpu::GPUFuncOp function, WarpgroupPlan &plan);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_WARPGROUPCONTRACTION_H
