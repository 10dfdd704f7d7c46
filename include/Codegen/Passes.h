//===- Passes.h - passes from the seam to the LLVM dialect ----------------===//
#ifndef STRATA_CODEGEN_PASSES_H
#define STRATA_CODEGEN_PASSES_H

#include "mlir/Pass/Pass.h"

namespace strata {

#define GEN_PASS_DECL
#include "Codegen/Passes.h.inc"

/// What the names of functions begin with that threads of a parallel region call.
inline constexpr llvm::StringLiteral kTaskPrefix = "strata_task_";

#define GEN_PASS_REGISTRATION
#include "Codegen/Passes.h.inc"

} // namespace strata

#endif // STRATA_CODEGEN_PASSES_H
