//===- StatedRules.h - rules that a table can hold --------------*- C++ -*-===//

#ifndef STRATA_DIALECT_STATEDRULES_H
#define STRATA_DIALECT_STATEDRULES_H

#include "mlir/IR/Operation.h"

namespace strata {

/// Refuses what the specification's text forbids in so simple a way that a table can say it: values of attributes, and
/// ranks and numbers of elements of operands. The rest is up to the operators' slices.
llvm::LogicalResult verifyStatedRules(mlir::Operation *op);

} // namespace strata

#endif // STRATA_DIALECT_STATEDRULES_H
