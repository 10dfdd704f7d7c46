//===- RowGroup.h - which operations share their rows on a GPU --*- C++ -*-===//
#ifndef STRATA_CODEGEN_GPU_ROWGROUP_H
#define STRATA_CODEGEN_GPU_ROWGROUP_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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

/// Whether a loop goes along the row: it has more than the one iteration that loops over single rows leave.
inline bool isWide(int64_t range) { return range != 1; }

/// The loops of an operation that are no rows.
llvm::SmallVector<unsigned> wideLoops(mlir::linalg::GenericOp op);

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

} // namespace strata

#endif // STRATA_CODEGEN_GPU_ROWGROUP_H
