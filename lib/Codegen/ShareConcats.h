//===- ShareConcats.h - concatenations that begin with others ---*- C++ -*-===//

#ifndef STRATA_LIB_CODEGEN_SHARECONCATS_H
#define STRATA_LIB_CODEGEN_SHARECONCATS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace strata {

/// Concatenations each of which begins with the one before, or with all its parts, as densely connected networks have
/// them, become slices of one tensor that grows: every part is written once, instead of once for each concatenation.
void shareConcats(mlir::func::FuncOp function);

} // namespace strata

#endif // STRATA_LIB_CODEGEN_SHARECONCATS_H
