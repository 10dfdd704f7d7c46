//===- ConvertOpset.h - models at another opset -----------------*- C++ -*-===//

#ifndef STRATA_DIALECT_ONNX_TRANSFORMS_CONVERTOPSET_H
#define STRATA_DIALECT_ONNX_TRANSFORMS_CONVERTOPSET_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace strata {

/// An operator set at a version: `ai.onnx` for the default domain.
struct OpsetVersion {
  std::string domain;
  int64_t version;
};

/// `13` or `ai.onnx.ml:3`. Fails with an error at `location` if it is neither.
llvm::FailureOr<OpsetVersion> parseOpsetVersion(llvm::StringRef text, mlir::Location location);

/// Brings every op of the targets' domains to the version that is valid there, step by step in either direction.
/// Operators that do not exist there are replaced by their function bodies. Fails with one error for every op that
/// cannot be converted; the module is unchanged then.
llvm::LogicalResult convertOpsets(mlir::ModuleOp module, llvm::ArrayRef<OpsetVersion> targets);

} // namespace strata

#endif // STRATA_DIALECT_ONNX_TRANSFORMS_CONVERTOPSET_H
