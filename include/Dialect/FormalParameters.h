//===- FormalParameters.h - uses against signatures -------------*- C++ -*-===//
//
// What an op's operands and results must be, checked and told in words.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_DIALECT_FORMALPARAMETERS_H
#define STRATA_DIALECT_FORMALPARAMETERS_H

#include "Dialect/ONNX/IR/ElementKinds.h"
#include "Dialect/VersionedOp.h"
#include "mlir/IR/Operation.h"

namespace strata {

/// The types that formal parameters allow, one set for each.
struct TypeSets {
  llvm::ArrayRef<onnx::TypeSet> inputs, outputs;
};
/// Says whose sets `typeSetsOf` shall give: ODS makes an overload for each op class, beside it (VersionedOp.td).
template <typename OpT> struct OpTag {};

/// The sets of an operator of ONNX by its op's name (`onnx.Relu_14`).
std::optional<TypeSets> getTypeSets(llvm::StringRef op);

/// Refuses operands and results whose type their formal parameter does not allow. Called by the verifiers that ODS makes.
llvm::LogicalResult verifyTypes(mlir::Operation *op, TypeSets sets);

/// Verifies an op whose results have no types yet: all but these and the rules that the operator's slice states.
llvm::LogicalResult verifyBeforeInference(mlir::Operation *op);
/// Whether the verifier that asks is to do that.
bool isBeforeInference();

/// `the operator's inputs are 'X', optionally 'min' and any number of 'rest'`, where `what` is "input".
std::string describe(llvm::ArrayRef<Formal> formals, llvm::StringRef what);

/// How many values the formal parameters need at least.
size_t countNeeded(llvm::ArrayRef<Formal> formals);

} // namespace strata

#endif // STRATA_DIALECT_FORMALPARAMETERS_H
