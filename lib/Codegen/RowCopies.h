//===- RowCopies.h - what all rows of a product read ------------*- C++ -*-===//
#ifndef STRATA_CODEGEN_ROWCOPIES_H
#define STRATA_CODEGEN_ROWCOPIES_H

#include "FuseRows.h"

namespace strata {

/// How an operand that the rows of a product share, as keys are, is copied for a loop over blocks of rows.
struct RowCopy {
  bool inLoop = false;                 ///< by each iteration, or the first of those that share it; else before the loop
  mlir::linalg::TransposeOp transpose; ///< which is done in the loop; null: none
  llvm::SmallVector<mlir::OpFoldResult> sizes; ///< of the transpose's input
  int64_t lanes = 0;                           ///< of the blocks that it is copied in; 0: it is not
};

/// The copy of `input`, which the loop does not compute, of a member whose loops `rows` are the rows; of these there
/// are `extents`, in blocks of `block`. None if it is read as it is.
std::optional<RowCopy> planCopy(mlir::linalg::GenericOp op, mlir::OpOperand *input, llvm::ArrayRef<unsigned> rows,
                                llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> block,
                                const RowLimits &limits);

} // namespace strata

#endif // STRATA_CODEGEN_ROWCOPIES_H
