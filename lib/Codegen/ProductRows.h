//===- ProductRows.h - rows that share the weights of a product -*- C++ -*-===//
#ifndef STRATA_CODEGEN_PRODUCTROWS_H
#define STRATA_CODEGEN_PRODUCTROWS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

/// How many bytes the data of one row is behind that of the row before; nothing if only the run tells.
std::optional<int64_t> rowDistance(mlir::linalg::GenericOp op, mlir::OpOperand *weights, mlir::OpOperand *data,
                                   unsigned lane);

/// Rows that share the weights, as far as their data lies in one order: all, or, of a window, the last dimension's.
/// Where some are known, those of an unknown number (a batch) are the same again.
std::optional<int64_t> rowsOf(mlir::linalg::GenericOp op, mlir::OpOperand *weights, mlir::OpOperand *data);

} // namespace strata

#endif // STRATA_CODEGEN_PRODUCTROWS_H
