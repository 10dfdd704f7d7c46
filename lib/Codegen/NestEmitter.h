//===- NestEmitter.h - vector code for a loop nest --------------*- C++ -*-===//
#ifndef STRATA_CODEGEN_NESTEMITTER_H
#define STRATA_CODEGEN_NESTEMITTER_H

#include "NestPlan.h"

namespace strata {

/// Whether iterations of so many nanoseconds each are worth more than one thread, and how many make one task.
struct TaskSize {
  bool split;
  int64_t grain;
};
TaskSize taskSize(double iterationNs, int64_t iterations, const NestOptions &options);

/// Emits the nest as register-tiled vector loops at the builder's position; the outermost loops as one scf.parallel
/// where there is enough work. Returns the estimated time in nanoseconds.
double emitLoopNest(mlir::OpBuilder &b, mlir::Location loc, LoopNest &nest, const NestOptions &options);

} // namespace strata

#endif // STRATA_CODEGEN_NESTEMITTER_H
