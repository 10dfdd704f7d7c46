//===- GPUPasses.h - passes of the GPU that know its vendor or the runtime ===//
#ifndef STRATA_CODEGEN_GPUPASSES_H
#define STRATA_CODEGEN_GPUPASSES_H

#include "mlir/Pass/Pass.h"

namespace strata {

/// The module attribute that names the GPU; without it, one of NVIDIA's.
inline constexpr llvm::StringLiteral kChip = "strata.chip";
/// The module attribute that lets operands of f32 products be rounded to 11 significant bits.
inline constexpr llvm::StringLiteral kTensorFloat = "strata.tf32";

#define GEN_PASS_DECL
#include "Codegen/GPUPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "Codegen/GPUPasses.h.inc"

} // namespace strata

#endif // STRATA_CODEGEN_GPUPASSES_H
