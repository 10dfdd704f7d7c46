//===- VersionedOp.h - operators of versioned operator sets -----*- C++ -*-===//
//
// The interfaces of VersionedOp.td, formal parameters, and the verifier,
// parser and printer that all versioned ops share.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_DIALECT_VERSIONEDOP_H
#define STRATA_DIALECT_VERSIONEDOP_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

namespace strata {
class ShapeContext;

/// A formal parameter of an operator, as its signature spells it.
struct Formal {
  llvm::StringRef name;
  /// A type variable (`T`), or the only allowed type (`tensor(int64)`).
  llvm::StringRef type;
  bool optional = false;
  bool variadic = false;
  /// Of a variadic: at least one.
  bool atLeastOne = false;
  /// Of a variadic: the values may have different types.
  bool heterogeneous = false;

  bool isTypeVariable() const { return !type.contains('('); }
};

/// `(X:T, bias?:T, rest*:V) -> (Y:T)`, parsed.
struct Signature {
  llvm::SmallVector<Formal, 4> inputs, outputs;

  static Signature parse(llvm::StringRef text);
};

/// Appends the types of `context`'s op's results; see TypeInferenceInterface.
llvm::LogicalResult inferResultTypes(ShapeContext &context);

/// What ODS does not say: homogeneous type variables, arity of variadics, unknown attributes, and the rules that the
/// operator's slice states.
llvm::LogicalResult verifyVersionedOp(mlir::Operation *op);

mlir::ParseResult parseVersionedOp(mlir::OpAsmParser &parser, mlir::OperationState &state, const Signature &signature);
void printVersionedOp(mlir::OpAsmPrinter &printer, mlir::Operation *op);
} // namespace strata

#include "Dialect/VersionedOpInterfaces.h.inc"

#endif // STRATA_DIALECT_VERSIONEDOP_H
