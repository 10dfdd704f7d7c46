//===- ComputedWeights.h - products whose weights the body makes -*- C++ -*-===//
#ifndef STRATA_CODEGEN_COMPUTEDWEIGHTS_H
#define STRATA_CODEGEN_COMPUTEDWEIGHTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

class ConstantExpressions;

/// A sum of products of f32 whose one factor is an input and whose other one the body converts from integers, of inputs
/// that all rows of the result share. Both may be bf16 that is extended.
struct ComputedWeights {
  unsigned data;                                   ///< the input that is a factor
  unsigned lane;                                   ///< the loop of the result's last dimension
  mlir::Value value;                               ///< of the body: the other factor, before it is extended
  llvm::SmallVector<mlir::Operation *> operations; ///< of the body, in its order, that make it
  llvm::SmallVector<mlir::BlockArgument> inputs;   ///< that these read

  bool areHalves() const { return value.getType().isBF16(); }
  /// Whether all that they are made of is constant.
  bool areConstant(mlir::linalg::GenericOp op, const ConstantExpressions &constants) const;
};

std::optional<ComputedWeights> matchComputedWeights(mlir::linalg::GenericOp op);

} // namespace strata

#endif // STRATA_CODEGEN_COMPUTEDWEIGHTS_H
