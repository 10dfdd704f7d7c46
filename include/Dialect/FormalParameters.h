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

/// Refuses operands and results whose type their formal parameter does not allow. One set per formal parameter. Called by
/// the verifiers that ODS generates (VersionedOp.td).
llvm::LogicalResult verifyTypes(mlir::Operation *op, llvm::ArrayRef<onnx::TypeSet> inputs,
                                llvm::ArrayRef<onnx::TypeSet> outputs);

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
