//===- RowKernel.h - reductions along rows with all that shares the rows --===//
#ifndef STRATA_CODEGEN_GPU_ROWKERNEL_H
#define STRATA_CODEGEN_GPU_ROWKERNEL_H

#include "RowGroup.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"

namespace strata {

/// Emits what one thread does; `values` maps what the loop uses of the kernel. Blocks are numbered by block_id x.
void emitRows(mlir::OpBuilder &b, mlir::gpu::GPUFuncOp function, RowGroup &group, const RowMapping &mapping,
              mlir::IRMapping &values);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_ROWKERNEL_H
