//===- RowKernel.h - reductions along rows with all that shares the rows --===//
#ifndef STRATA_CODEGEN_GPU_ROWKERNEL_H
#define STRATA_CODEGEN_GPU_ROWKERNEL_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace strata {

/// Operations in program order that compute something of each row, as what FuseRows has put into a loop.
struct RowGroup {
  mlir::scf::ForallOp loop; ///< each iteration is one row
  llvm::SmallVector<mlir::linalg::GenericOp> ops;
  /// By operand, the operation that has written its buffer before; none: it lies in memory since before the kernel.
  llvm::DenseMap<mlir::OpOperand *, mlir::linalg::GenericOp> writers;

  mlir::linalg::GenericOp writerOf(mlir::OpOperand &operand) const { return writers.lookup(&operand); }
};

/// Whether an operation may be a member, whatever its sizes are.
bool canShareRows(mlir::linalg::GenericOp op);

/// The group of a loop over single rows; nothing if threads cannot compute it from what lies in memory alone.
std::optional<RowGroup> matchRowGroup(mlir::scf::ForallOp loop);

/// How many threads share a row, and how many rows a block has. All are powers of two.
struct RowMapping {
  int64_t rows, slices;
  /// Neighbouring threads read neighbouring elements of a row, not neighbouring rows.
  bool slicesAreNeighbours;
  int64_t together = 1; ///< neighbouring elements that a thread has at once
  /// Such chunks of a row that a thread holds in registers until the row is done; 0: it walks the row again for each
  /// operation.
  int64_t held = 0;

  int64_t threads() const { return rows * slices; }
};

RowMapping chooseRowMapping(RowGroup &group);

/// Emits what one thread does; `values` maps what the loop uses of the kernel. Blocks are numbered by block_id x.
void emitRows(mlir::OpBuilder &b, mlir::gpu::GPUFuncOp function, RowGroup &group, const RowMapping &mapping,
              mlir::IRMapping &values);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_ROWKERNEL_H
