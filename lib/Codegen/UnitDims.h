//===- UnitDims.h - reshapes by dimensions of 1 are read through -*- C++ -*-===//
#ifndef STRATA_CODEGEN_UNITDIMS_H
#define STRATA_CODEGEN_UNITDIMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace strata {

/// Structured operations read what a reshape only adds dimensions of 1 to, or takes them from, where it lies, and one
/// that spreads a value over all becomes a fill: nothing stands between operations that share their rows. (Upstream's
/// linalg-fold-unit-extent-dims reshapes all operands instead, results included.)
void readThroughUnitDims(mlir::func::FuncOp function);

} // namespace strata

#endif // STRATA_CODEGEN_UNITDIMS_H
