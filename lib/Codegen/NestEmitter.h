//===- NestEmitter.h - vector code for a loop nest --------------*- C++ -*-===//
#ifndef STRATA_CODEGEN_NESTEMITTER_H
#define STRATA_CODEGEN_NESTEMITTER_H

#include "NestPlan.h"

namespace strata {

/// Emits the nest as register-tiled vector loops at the builder's position; the outermost loops as one scf.parallel
/// where there is enough work.
void emitLoopNest(mlir::OpBuilder &b, mlir::Location loc, LoopNest &nest, const NestOptions &options);

} // namespace strata

#endif // STRATA_CODEGEN_NESTEMITTER_H
