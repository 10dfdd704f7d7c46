//===- WinogradEmitter.h - convolutions of transformed weights --*- C++ -*-===//
#ifndef STRATA_CODEGEN_WINOGRADEMITTER_H
#define STRATA_CODEGEN_WINOGRADEMITTER_H

#include "NestPlan.h"

namespace strata {

/// Emits the nest, not simplified, of a convolution that strata-winograd has rewritten; fails, having emitted nothing,
/// if the reduction is none or its data is not laid out for it.
mlir::LogicalResult emitWinograd(mlir::OpBuilder &b, mlir::Location loc, LoopNest &nest, const NestOptions &options);

} // namespace strata

#endif // STRATA_CODEGEN_WINOGRADEMITTER_H
