//===- ConstantExpressions.h - what depends on weights alone --------------===//
#ifndef STRATA_CODEGEN_CONSTANTEXPRESSIONS_H
#define STRATA_CODEGEN_CONSTANTEXPRESSIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace strata {

/// The operands of an operation, and what its regions read from outside of it.
llvm::SetVector<mlir::Value> valuesReadBy(mlir::Operation *op);

/// Whether the value is made of the model's constants alone, by a few operations, as the class below finds it in a
/// function that does not change.
bool isMadeOfConstants(mlir::Value value);

/// The bytes and the type of the elements, in whichever order, of the model's constant that is moved and perhaps
/// converted to become `value`; none if it is anything else. Of equal elements it may be one.
std::pair<llvm::ArrayRef<char>, mlir::Type> elementsBehind(mlir::Value value);

/// Whether no magnitude of such elements is above `largest`, both as bits of a floating-point type.
template <typename Bits> bool areAtMost(llvm::ArrayRef<char> bytes, Bits largest) {
  constexpr Bits magnitude = std::numeric_limits<Bits>::max() / 2;
  return llvm::all_of(llvm::ArrayRef(reinterpret_cast<const Bits *>(bytes.data()), bytes.size() / sizeof(Bits)),
                      [&](Bits x) { return (x & magnitude) <= largest; });
}

/// The values of a function, those inside of loops and branches too, that are made of constants of the model only, by
/// operations without side effects.
class ConstantExpressions {
public:
  explicit ConstantExpressions(mlir::func::FuncOp function);

  /// Constant, literals and empty tensors included.
  bool isConstant(mlir::Value value) const;
  /// Whether its results are. What is inside of such an operation is not looked into.
  bool isConstant(mlir::Operation *op) const;
  /// Constant, and made of at least one of the model's constants.
  bool usesWeights(mlir::Value value) const;

private:
  llvm::DenseMap<mlir::Operation *, bool> known; ///< to "uses weights"
};

} // namespace strata

#endif // STRATA_CODEGEN_CONSTANTEXPRESSIONS_H
