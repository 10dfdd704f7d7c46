//===- FunctionBodies.h - operators as ONNX defines them by others *- C++ -*-===//

#ifndef STRATA_IMPORT_FUNCTIONBODIES_H
#define STRATA_IMPORT_FUNCTIONBODIES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace strata {

/// The specification's function body of `op`, for its attributes, operand types and present operands: a module whose
/// function @main takes the op's operands and returns its results. Fails with a diagnostic of the op if its operator
/// has no body, or none for this use.
llvm::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importFunctionBody(mlir::Operation *op);

} // namespace strata

#endif // STRATA_IMPORT_FUNCTIONBODIES_H
