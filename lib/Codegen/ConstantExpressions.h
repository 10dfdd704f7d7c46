//===- ConstantExpressions.h - what depends on weights alone --------------===//
#ifndef STRATA_CODEGEN_CONSTANTEXPRESSIONS_H
#define STRATA_CODEGEN_CONSTANTEXPRESSIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace strata {

/// The values of a function's entry block that are made of constants of the model
/// only, by operations without side effects.
class ConstantExpressions {
public:
  explicit ConstantExpressions(mlir::func::FuncOp function);

  /// Constant, literals and empty tensors included.
  bool isConstant(mlir::Value value) const;
  /// Constant, and made of at least one of the model's constants.
  bool usesWeights(mlir::Value value) const;

private:
  llvm::DenseMap<mlir::Operation *, bool> known; ///< to "uses weights"
};

} // namespace strata

#endif // STRATA_CODEGEN_CONSTANTEXPRESSIONS_H
