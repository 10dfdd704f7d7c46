//===- RowTiles.h - what a block of rows has of tensors ---------*- C++ -*-===//
#ifndef STRATA_CODEGEN_ROWTILES_H
#define STRATA_CODEGEN_ROWTILES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace strata {

/// Where a fill, or nothing, is what an accumulator starts with: the empty tensor.
mlir::tensor::EmptyOp emptyBehind(mlir::Value init);

/// Inside of a loop over blocks of rows: what one block has of each tensor.
struct RowTiles {
  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes, whole; ///< by row; `whole`: of a scratch buffer
  mlir::IRMapping tiles;                                       ///< of what members give and of destinations

  mlir::tensor::ExtractSliceOp slice(mlir::Value source, mlir::AffineMap map, llvm::ArrayRef<unsigned> rows,
                                     bool first = false);
  mlir::Value read(mlir::Value source, mlir::AffineMap map, llvm::ArrayRef<unsigned> rows);
  /// Of what `transpose` gives, the part that belongs to the rows, transposed here. The sizes are those of its input;
  /// in front of the loop, they let all iterations have one place.
  mlir::Value transposed(mlir::linalg::TransposeOp transpose, llvm::ArrayRef<mlir::OpFoldResult> sizesOfInput,
                         mlir::AffineMap map, llvm::ArrayRef<unsigned> rows);
  mlir::Value scratch(mlir::Value init, mlir::AffineMap map, llvm::ArrayRef<unsigned> rows);
};

} // namespace strata

#endif // STRATA_CODEGEN_ROWTILES_H
