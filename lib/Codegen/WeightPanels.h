//===- WeightPanels.h - computed weights, once for all rows -----*- C++ -*-===//
//
// Where the body of a product makes its weights (ComputedWeights.h), one tile of
// rows computes them in registers. More rows share a panel in the cache, with all
// that a block of lanes has along the reduction.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_WEIGHTPANELS_H
#define STRATA_CODEGEN_WEIGHTPANELS_H

#include "ComputedWeights.h"
#include "NestEmitter.h"

namespace strata {

/// What fills the panel that the second input of a nest's reduction reads.
struct WeightPanel {
  LoopNest source; ///< whose body makes the weights
  ComputedWeights weights;
  Access access;    ///< by the loops of `source`; its base is made where the panel is allocated
  int64_t elements; ///< of a panel
  int pair;         ///< the loop over the halves of 32 bits, which lie side by side; -1: there is none
};

/// Emits the nest of `ops`, if its reduction computes weights that lie in blocks of lanes; gives the estimated time in
/// nanoseconds.
std::optional<double> emitWithPanels(mlir::OpBuilder &b, mlir::Location loc,
                                     llvm::ArrayRef<mlir::linalg::GenericOp> ops, const LoopNest &nest,
                                     const NestOptions &options);

} // namespace strata

#endif // STRATA_CODEGEN_WEIGHTPANELS_H
