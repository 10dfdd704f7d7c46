//===- RowWindows.h - windows of operations that run row by row -*- C++ -*-===//
#ifndef STRATA_CODEGEN_ROWWINDOWS_H
#define STRATA_CODEGEN_ROWWINDOWS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace strata {

/// Whether `dim` is a part of a window's position.
bool isInWindow(mlir::linalg::GenericOp op, unsigned dim);

/// Windows over the last dimensions of an input, each reduced by itself: nothing is shared by rows.
bool hasOwnWindows(mlir::linalg::GenericOp op);

/// Each dimension is walked by one loop, if by parts, or by a reduction in groups.
bool hasNoWindow(mlir::linalg::GenericOp op, mlir::AffineMap map);

/// The padding that `value` comes out of, if rows can be padded one by one and nobody else has it.
mlir::tensor::PadOp rowPadding(mlir::Value value, mlir::AffineMap map, llvm::ArrayRef<unsigned> rows);

} // namespace strata

#endif // STRATA_CODEGEN_ROWWINDOWS_H
