//===- Narrowing.h - conversions to narrower floats --------------*- C++ -*-===//
#ifndef STRATA_CODEGEN_NARROWING_H
#define STRATA_CODEGEN_NARROWING_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

/// Rounds each element of its operand to a narrower type, and does nothing else.
bool isNarrowing(mlir::linalg::GenericOp op);

} // namespace strata

#endif // STRATA_CODEGEN_NARROWING_H
