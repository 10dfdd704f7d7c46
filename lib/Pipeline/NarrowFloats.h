//===- NarrowFloats.h - f16 and bf16 are computed in f32 --------*- C++ -*-===//

#ifndef STRATA_LIB_PIPELINE_NARROWFLOATS_H
#define STRATA_LIB_PIPELINE_NARROWFLOATS_H

#include "mlir/Pass/Pass.h"

namespace strata {

/// Arithmetic on f16 and bf16 becomes arithmetic on f32 between conversions. Unlike the pass arith-emulate-unsupported-
/// floats it leaves buffers of such elements alone, which a branch may choose between.
std::unique_ptr<mlir::Pass> createEmulateNarrowFloats();

} // namespace strata

#endif // STRATA_LIB_PIPELINE_NARROWFLOATS_H
