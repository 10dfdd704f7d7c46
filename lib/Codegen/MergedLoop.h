//===- MergedLoop.h - several loops, counted as one -------------*- C++ -*-===//
#ifndef STRATA_CODEGEN_MERGEDLOOP_H
#define STRATA_CODEGEN_MERGEDLOOP_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace strata {

/// Part of some loops, which are counted as one.
struct MergedLoop {
  mlir::scf::ForOp outermost;
  mlir::SmallVector<mlir::Value> numbers; ///< of the iteration of each of the loops, in the body
};

/// The iterations from `first` on, before `stop`, of loops of `counts` iterations, the first of them around the others.
/// Leaves the builder in the body.
MergedLoop emitMergedLoop(mlir::OpBuilder &b, mlir::Location loc, mlir::Value first, mlir::Value stop,
                          mlir::ArrayRef<mlir::Value> counts);

} // namespace strata

#endif // STRATA_CODEGEN_MERGEDLOOP_H
