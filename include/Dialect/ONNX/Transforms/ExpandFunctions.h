//===- ExpandFunctions.h - operators in terms of others ---------*- C++ -*-===//

#ifndef STRATA_DIALECT_ONNX_TRANSFORMS_EXPANDFUNCTIONS_H
#define STRATA_DIALECT_ONNX_TRANSFORMS_EXPANDFUNCTIONS_H

#include "mlir/IR/Operation.h"

namespace strata {

/// Puts the specification's function body of the op in its place. Fails with a diagnostic if it has none for this use.
llvm::LogicalResult expandFunctionBody(mlir::Operation *op);

} // namespace strata

#endif // STRATA_DIALECT_ONNX_TRANSFORMS_EXPANDFUNCTIONS_H
