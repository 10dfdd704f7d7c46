//===- WinogradTransform.h - matrices times tiles of vectors ----*- C++ -*-===//
#ifndef STRATA_CODEGEN_WINOGRADTRANSFORM_H
#define STRATA_CODEGEN_WINOGRADTRANSFORM_H

#include "mlir/IR/Builders.h"

namespace strata {

/// Row-major, with so many columns.
struct TransformMatrix {
  llvm::ArrayRef<float> values;
  int64_t columns;
};

/// first * tile * second^T, where a tile is of vectors, row by row, and so is the result. Factors of one cost nothing
/// but an addition, and of zero nothing.
llvm::SmallVector<mlir::Value> transformTile(mlir::OpBuilder &b, mlir::Location loc, TransformMatrix first,
                                             TransformMatrix second, llvm::ArrayRef<mlir::Value> tile, bool fma);

} // namespace strata

#endif // STRATA_CODEGEN_WINOGRADTRANSFORM_H
