//===- OpBehavior.h - what an operator's slice provides ---------*- C++ -*-===//
//
// A slice is the one file about an operator. It registers under the operator's
// name (without version, with the domain's prefix) and serves all versions:
//
//   static LogicalResult inferSoftmax(ShapeContext &c) { c.copyShape(0); return success(); }
//   STRATA_SLICE(Softmax) {
//     ops.add("Softmax", {.inferShapes = inferSoftmax, .lower = lowerSoftmax});
//   }
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_DIALECT_OPBEHAVIOR_H
#define STRATA_DIALECT_OPBEHAVIOR_H

#include "Dialect/ShapeContext.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringMap.h"

namespace strata {
class LinalgBuilder;

struct OpBehavior {
  /// Rules of the specification's text that types, arity and attribute kinds do not express.
  llvm::LogicalResult (*verify)(mlir::Operation *op) = nullptr;

  /// Sets result shapes and those element types that the signature does not determine.
  llvm::LogicalResult (*inferShapes)(ShapeContext &context) = nullptr;

  /// Elements of the first result, for operators that shape computations use.
  ValueAnalysis::Values (*inferValues)(ShapeContext &context) = nullptr;

  /// Replaces `op` by ops of its next version (or newer), where the step is not the identity. Fails with a diagnostic
  /// if there is no such form.
  llvm::LogicalResult (*upgrade)(mlir::Operation *op, mlir::PatternRewriter &rewriter) = nullptr;

  /// Replaces `op` by ops of the previous version of its operator. Called for every step of the operator that has one;
  /// without it, steps that keep the signature are taken as they are and the others refused. Fails with
  /// refuseDowngrade(op) and the reason if the older version cannot say what `op` means
  /// (include/Dialect/VersionSteps.h).
  llvm::LogicalResult (*downgrade)(mlir::Operation *op, mlir::PatternRewriter &rewriter) = nullptr;

  /// Replaces the newest version of the operator by linalg and its companions: returns one value of the seam's type per
  /// result (null for an absent one). `operands` are the operands in the seam's types. Fails with a diagnostic that
  /// says which form of the operator cannot be compiled.
  llvm::FailureOr<llvm::SmallVector<mlir::Value>> (*lower)(mlir::Operation *op, mlir::ValueRange operands,
                                                           LinalgBuilder &builder) = nullptr;

  /// Elements of strings, and whole sequences, optionals and maps, are handles behind the seam. Whether `lower` takes
  /// values of such types: it moves elements without looking at them, or knows what they are.
  bool handles = false;
};

/// The behaviours of one dialect's operators, by operator name with the domain's prefix (`Softmax`, `ml.Scaler`).
class OperatorSet : public mlir::DialectInterface::Base<OperatorSet> {
public:
  OperatorSet(mlir::Dialect *dialect) : Base(dialect) {}
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OperatorSet)

  void add(llvm::StringRef name, OpBehavior behavior) { behaviors[name] = behavior; }
  /// An empty behaviour if the operator has no slice.
  const OpBehavior &lookup(llvm::StringRef name) const;

private:
  llvm::StringMap<OpBehavior> behaviors;
};

/// The behaviour of a versioned op; an empty one if its operator has none.
const OpBehavior &getBehavior(mlir::Operation *op);

/// `onnx.ml.Scaler_1` -> `ml.Scaler`.
llvm::StringRef getUnversionedName(mlir::Operation *op);

} // namespace strata

/// Opens the registration function of NAME.cpp, a slice of the dialect SET (onnx, tf, ov).
#define STRATA_SLICE_OF(SET, NAME)                                                                                     \
  namespace strata::slices::SET {                                                                                      \
  void register##NAME(::strata::OperatorSet &);                                                                        \
  }                                                                                                                    \
  void strata::slices::SET::register##NAME(::strata::OperatorSet &ops)
#define STRATA_SLICE(NAME) STRATA_SLICE_OF(onnx, NAME)

#endif // STRATA_DIALECT_OPBEHAVIOR_H
