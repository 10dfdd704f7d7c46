//===- ShareConstants.h - one copy of what versions compute -----*- C++ -*-===//
//
// Versions of a model for other sizes pack most weights in the same way. A computed constant has a key, a hash of the
// weights and the operations that make it; what one version computes under a key the others need not.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_SHARECONSTANTS_H
#define STRATA_CODEGEN_SHARECONSTANTS_H

#include "mlir/IR/BuiltinOps.h"

namespace strata {

/// Of a computed global: its key (a string), and whether somebody else fills it (a unit attribute).
constexpr llvm::StringLiteral kConstantKey = "strata.key";
constexpr llvm::StringLiteral kConstantShared = "strata.shared";

/// Gives the computed constants of a module, which is between the tiled and the buffers phase, their keys. Equal keys
/// in modules of one context mean equal values. Those whose keys are `known` are not computed by @init any more.
void shareConstants(mlir::ModuleOp module, llvm::function_ref<bool(llvm::StringRef key)> known);

} // namespace strata

#endif // STRATA_CODEGEN_SHARECONSTANTS_H
