//===- KeptElements.h - tensors whose elements have another form -*- C++ -*-===//
//
// What products want to read otherwise than it is made, rounded or with other signs, is
// converted where it is made: before it is moved or padded. Where all else that reads it
// can take it so, it is kept in that form alone.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_KEPTELEMENTS_H
#define STRATA_CODEGEN_KEPTELEMENTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace strata {

class KeptElements {
public:
  virtual ~KeptElements() = default;

  /// `value` in that form.
  mlir::Value keep(mlir::Value value);
  /// Whether everything that reads `value` can read it so.
  bool canAllRead(mlir::Value value) const {
    llvm::DenseSet<mlir::Value> seen;
    return canAllRead(value, seen);
  }
  /// Then it does.
  void readKept(mlir::Value value);
  /// The operation reads `kept`; its body gets the elements as they were.
  virtual void readAs(mlir::linalg::GenericOp op, mlir::OpOperand *use, mlir::Value kept);

  /// Of what is kept so, what is converted; the rest is moved.
  llvm::SmallVector<mlir::Value> converted;

protected:
  /// The element's type, an element, and a constant in that form; and back.
  virtual mlir::Type typeOf(mlir::Type element) const = 0;
  virtual mlir::Value convert(mlir::OpBuilder &b, mlir::Location loc, mlir::Value element) const = 0;
  virtual mlir::TypedAttr convert(mlir::TypedAttr constant) const = 0;
  virtual mlir::Value restore(mlir::OpBuilder &b, mlir::Location loc, mlir::Value element) const = 0;
  /// Whether an operation gives elements in the form in which it reads them, if it is one that moves them; and such a
  /// one of `mapping`'s operands.
  virtual bool moves(mlir::Operation *op) const;
  virtual mlir::Value moved(mlir::OpBuilder &b, mlir::Operation *op, mlir::IRMapping &mapping) const;
  /// The operands that an operation moves elements of; what it reads of one at computed places, if its elements are
  /// what it writes; and the operation on tensors that reads a value.
  static llvm::SmallVector<mlir::Value> movedBy(mlir::Operation *op);
  static mlir::tensor::ExtractOp gatherOf(mlir::Operation *op);
  static mlir::Operation *readerOf(mlir::OpOperand &use);
  /// canAllRead of several values: of `seen` it is known.
  bool canAllRead(mlir::Value value, llvm::DenseSet<mlir::Value> &seen) const;
  /// Whether an operation may read elements that way.
  virtual bool canRead(mlir::linalg::GenericOp op, mlir::OpOperand &use) const { return true; }
  /// Whether a value has that form.
  virtual bool isKept(mlir::Value value) const { return forms.contains(value); }
  /// Before what `maker` makes is converted.
  virtual void prepare(mlir::Operation *maker) {}

private:
  llvm::DenseMap<mlir::Value, mlir::Value> known;
  llvm::DenseSet<mlir::Value> forms; ///< what is known of others
  llvm::DenseSet<mlir::Value> read;  ///< whose readers read the other form

  llvm::DenseSet<mlir::Operation *> conversions;
};

} // namespace strata

#endif // STRATA_CODEGEN_KEPTELEMENTS_H
