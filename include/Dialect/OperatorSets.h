//===- OperatorSets.h - all operator sets -----------------------*- C++ -*-===//

#ifndef STRATA_DIALECT_OPERATORSETS_H
#define STRATA_DIALECT_OPERATORSETS_H

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace strata {

/// Registers the dialects onnx, tf and ov with their operators' behaviours.
void registerOperatorSets(mlir::DialectRegistry &registry);

/// What finding an operator by its specification's names gives.
struct OperatorLookup {
  /// The newest version with since-version <= the opset's; none if there is no such operator or version.
  std::optional<mlir::RegisteredOperationName> name;
  /// All since-versions of the operator, ascending; empty if the operator is unknown.
  llvm::SmallVector<int64_t> versions;
};

/// Finds the op of operator `name` of `domain` (`ai.onnx` or empty: the default one) at `opsetVersion`.
OperatorLookup lookupOperator(mlir::MLIRContext *context, llvm::StringRef domain, llvm::StringRef name,
                              int64_t opsetVersion);

/// All versioned ops, sorted by domain, operator and version.
llvm::SmallVector<mlir::RegisteredOperationName> getVersionedOps(mlir::MLIRContext *context);

/// A table of all versioned ops: name, domain, since-version, and what Strata does with it.
void printVersionedOps(llvm::raw_ostream &out);

/// The newest opset version of a domain that the registered operators know; 0 for an unknown domain.
int64_t getNewestOpset(llvm::StringRef domain);

/// The end of a sentence that refuses an operator of `domain` that is not known: whose it is, and what helps.
std::string describeForeign(llvm::StringRef domain);

} // namespace strata

#endif // STRATA_DIALECT_OPERATORSETS_H
