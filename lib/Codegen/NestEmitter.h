//===- NestEmitter.h - vector code for a loop nest ------------------------===//
#ifndef STRATA_CODEGEN_NESTEMITTER_H
#define STRATA_CODEGEN_NESTEMITTER_H

#include "LoopNest.h"

namespace strata {

struct NestOptions {
  unsigned vectorBits = 256;
  unsigned registers = 16;
  bool fma = true;
  bool threads = true;
};

/// Emits the nest as register-tiled vector loops at the builder's position; the
/// outermost loops as one scf.parallel where there is enough work.
mlir::LogicalResult emitLoopNest(mlir::OpBuilder &b, mlir::Location loc,
                                 LoopNest &nest, const NestOptions &options);

} // namespace strata

#endif // STRATA_CODEGEN_NESTEMITTER_H
