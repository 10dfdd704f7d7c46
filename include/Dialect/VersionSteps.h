//===- VersionSteps.h - what steps between versions are made of -*- C++ -*-===//
//
// The building blocks of OpBehavior's `upgrade` and `downgrade`: a step
// replaces an op by the neighbouring version of its operator. Upgrades cannot
// fail but for forms that the newer version dropped; downgrades refuse, with
// the reason, what the older version cannot say.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_DIALECT_VERSIONSTEPS_H
#define STRATA_DIALECT_VERSIONSTEPS_H

#include "Dialect/VersionedOp.h"
#include "mlir/IR/PatternMatch.h"

namespace strata {

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

/// The name of the op's operator at another version.
mlir::OperationName getVersion(mlir::Operation *op, int64_t version);

/// Since-version of the operator's schema after this one; 0 for the newest.
inline int64_t getNextVersion(mlir::Operation *op) { return mlir::cast<VersionedOpInterface>(op).getNextVersion(); }

/// Since-version of the operator's schema before this one; 0 for the first.
int64_t getPreviousVersion(mlir::Operation *op);

//===----------------------------------------------------------------------===//
// Making ops
//===----------------------------------------------------------------------===//

/// The op's attributes without those named and without what belongs to its operand and result lists.
llvm::SmallVector<mlir::NamedAttribute> attributesWithout(mlir::Operation *op,
                                                          llvm::ArrayRef<llvm::StringRef> names = {});

/// Creates version `version` of onnx operator `name` with one value (null: absent) per formal input.
mlir::Operation *createVersion(mlir::RewriterBase &rewriter, mlir::Location loc, llvm::StringRef name, int64_t version,
                               llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::NamedAttribute> attrs,
                               mlir::TypeRange results);

/// Replaces the op by version `version` of its operator with one value (null: absent) per formal input, these
/// attributes and the same results.
mlir::Operation *replaceByVersion(mlir::Operation *op, mlir::RewriterBase &rewriter, int64_t version,
                                  llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::NamedAttribute> attrs);

/// The same operands, results and subgraphs, matched by the position of the formal parameters, under another name. The
/// op stays, without its subgraphs. What the other version has no place for must be absent.
mlir::Operation *recreate(mlir::Operation *op, mlir::OperationName name, mlir::RewriterBase &rewriter,
                          llvm::ArrayRef<mlir::NamedAttribute> attrs);

/// An int64 constant of rank 1 (rank 0 with `scalar`).
mlir::Value makeIntegers(mlir::RewriterBase &rewriter, mlir::Location loc, llvm::ArrayRef<int64_t> values,
                         bool scalar = false);

/// A scalar constant of a floating-point type (rounded to it), integer type or bool.
mlir::Value makeScalar(mlir::RewriterBase &rewriter, mlir::Location loc, mlir::Type element, double value);

/// `value` with size-1 dimensions at `axes` (of the result); its rank must be known.
mlir::Value makeUnsqueeze(mlir::RewriterBase &rewriter, mlir::Location loc, mlir::Value value,
                          llvm::ArrayRef<int64_t> axes);

//===----------------------------------------------------------------------===//
// Upgrades
//===----------------------------------------------------------------------===//

/// One step towards the newest version: the operator's own, or none but the name. Fails with a diagnostic if there is
/// no such form. The rewriter stands at the op.
llvm::LogicalResult upgradeStep(mlir::Operation *op, mlir::PatternRewriter &rewriter);

/// Replaces the op by its next version with these inputs, the attributes except `dropped`, and `added` ones.
mlir::Operation *replaceByNext(mlir::Operation *op, mlir::RewriterBase &rewriter, llvm::ArrayRef<mlir::Value> inputs,
                               llvm::ArrayRef<llvm::StringRef> dropped = {},
                               llvm::ArrayRef<mlir::NamedAttribute> added = {});

/// The step to the next version with the same operands, results and subgraphs, the attributes except `dropped`, and
/// `added` ones. What the next version has no place for must be absent.
llvm::LogicalResult changeAttributes(mlir::Operation *op, mlir::RewriterBase &rewriter,
                                     llvm::ArrayRef<llvm::StringRef> dropped,
                                     llvm::ArrayRef<mlir::NamedAttribute> added = {});

/// Up to version 6 many operators carry `consumed_inputs`, an optimisation hint.
llvm::LogicalResult dropConsumedInputs(mlir::Operation *op, mlir::PatternRewriter &rewriter);

/// The step to a version whose new attributes and inputs are optional, where absent means what it was.
llvm::LogicalResult keepAttributes(mlir::Operation *op, mlir::PatternRewriter &rewriter);

/// An integer-list attribute of the operator's only other input becomes an int64 input behind it.
llvm::LogicalResult listToInput(mlir::Operation *op, mlir::RewriterBase &rewriter, llvm::StringRef name);

//===----------------------------------------------------------------------===//
// Downgrades
//===----------------------------------------------------------------------===//

/// Begins the error that refuses the step: "cannot be downgraded to version 6: " and the reason.
mlir::InFlightDiagnostic refuseDowngrade(mlir::Operation *op);

/// An attribute that a newer version added, at the value that says what older versions always do.
struct Neutral {
  llvm::StringRef name;
  /// Of an integer or float; of every element of a list.
  int number = 0;
  /// Of a string.
  llvm::StringRef text;

  Neutral(llvm::StringRef name, int number) : name(name), number(number) {}
  Neutral(llvm::StringRef name, const char *text) : name(name), text(text) {}
};

/// The step to the previous version with the same inputs, outputs and attributes. Refuses inputs, outputs and
/// attributes that the version does not have (but for attributes at their neutral value, which are dropped), and what
/// the version's verifier refuses. Before opset 11 axes count from the front: negative ones are rewritten.
llvm::LogicalResult downgradeStep(mlir::Operation *op, mlir::RewriterBase &rewriter,
                                  llvm::ArrayRef<Neutral> neutral = {});

/// For steps that add nothing with a meaning of its own.
llvm::LogicalResult downgradePlainly(mlir::Operation *op, mlir::PatternRewriter &rewriter);

/// Replaces the op by its previous version with one value (null: absent) per formal input and the attributes except
/// `dropped` (of those that were there), and `added` ones. Refuses what the version's verifier refuses.
llvm::LogicalResult replaceByPrevious(mlir::Operation *op, mlir::RewriterBase &rewriter,
                                      llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<llvm::StringRef> dropped = {},
                                      llvm::ArrayRef<mlir::NamedAttribute> added = {});

/// The value of formal input `index`; null if it is absent.
mlir::Value getFormalInput(mlir::Operation *op, unsigned index);

/// The elements of an integer input that must be a constant to become an attribute; refuses the step otherwise.
llvm::FailureOr<llvm::SmallVector<int64_t>> requireIntegers(mlir::Operation *op, unsigned input);

/// The step that turns the integer input 1 `name`, which must be constant if it is there, into an attribute.
llvm::LogicalResult inputToList(mlir::Operation *op, mlir::RewriterBase &rewriter, llvm::StringRef name,
                                llvm::ArrayRef<llvm::StringRef> dropped = {});

} // namespace strata

#endif // STRATA_DIALECT_VERSIONSTEPS_H
