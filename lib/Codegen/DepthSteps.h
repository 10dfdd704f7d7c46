//===- DepthSteps.h - taps of a window for each step of its depth -*- C++ -*-===//
#ifndef STRATA_CODEGEN_DEPTHSTEPS_H
#define STRATA_CODEGEN_DEPTHSTEPS_H

#include "Codegen/Target.h"
#include "ConstantExpressions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

/// The channels of a convolution that a matrix unit multiplies by constant weights become two loops: over the steps of
/// the unit, which is returned, and over the groups of one step. The taps along a line then go within the former.
std::optional<unsigned> cutDepthInSteps(mlir::linalg::GenericOp &op, const TargetFacts &target,
                                        const ConstantExpressions &constants);

} // namespace strata

#endif // STRATA_CODEGEN_DEPTHSTEPS_H
