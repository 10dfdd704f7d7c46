//===- BodyLoads.h - buffers that a body reads at computed places -*- C++ -*-===//
//
// Gather, slices with steps, padding and the like read elements with memref.load
// inside of the body. Where the last index counts along the lanes and the others
// are the same for all of them, the lanes' elements lie side by side: one vector.
// Elsewhere each lane has its own place, and a vector of them is gathered.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_BODYLOADS_H
#define STRATA_CODEGEN_BODYLOADS_H

#include "LoopNest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace strata {

/// Where a load of the body reads the elements of a loop's iterations.
enum class LanesLoad {
  one,         ///< all the same
  run,         ///< neighbours in the loop's order
  reversedRun, ///< neighbours in the opposite one
  runOrOne,    ///< as the run says
  apart        ///< each somewhere: a vector of them is gathered
};
/// By load of the stage's body.
using LanesLoads = llvm::DenseMap<mlir::Operation *, LanesLoad>;
LanesLoads lanesOfLoads(Stage &stage, int loop);

/// Whether no load of the bodies reads the iterations of `loop` apart.
bool bodyLoadsFit(LoopNest &nest, int loop);

/// Whether the target's vectors gather what the bodies load apart, and enough is computed with it to be worth it.
bool canGatherLoads(LoopNest &nest, int loop, const TargetFacts &target);

/// The load whose elements, neighbours in the order of `loop`, are all that the last stage stores; null: there is none.
mlir::memref::LoadOp getRunOfBody(LoopNest &nest, int loop);

} // namespace strata

#endif // STRATA_CODEGEN_BODYLOADS_H
