//===- ShapeContext.h - what a shape rule sees ------------------*- C++ -*-===//
//
// Shape rules are written once per operator, for all its versions, against
// formal parameter indices. A dimension is a size, a symbolic name, or unknown.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_DIALECT_SHAPECONTEXT_H
#define STRATA_DIALECT_SHAPECONTEXT_H

#include "Dialect/VersionedOp.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/bit.h"
#include <optional>

namespace strata {

/// A dimension's size, or an element of a small tensor: a number, a symbolic name, or unknown. Of a float or double
/// element, `size` holds the bits of the double (-0.0 counts as unknown): what only moves elements treats all alike.
struct Dim {
  int64_t size = mlir::ShapedType::kDynamic;
  mlir::StringAttr symbol;

  Dim() = default;
  Dim(int64_t size) : size(size) {}
  Dim(mlir::StringAttr symbol) : symbol(symbol && !symbol.getValue().empty() ? symbol : mlir::StringAttr()) {}

  bool isStatic() const { return size != mlir::ShapedType::kDynamic; }
  /// Known to be the same number in every run.
  bool sameAs(const Dim &other) const {
    return isStatic() ? size == other.size : symbol && symbol == other.symbol && !other.isStatic();
  }
  bool is(int64_t value) const { return size == value; }

  static Dim ofFloat(double value) { return Dim(llvm::bit_cast<int64_t>(value)); }
  double asFloat() const { return llvm::bit_cast<double>(size); }
};

using Shape = llvm::SmallVector<Dim, 6>;

/// The dimensions of a ranked tensor type; none for any other type.
std::optional<Shape> getShape(mlir::Type type);

/// `tensor<...>` of the shape, with the symbolic names as encoding.
mlir::RankedTensorType makeTensorType(llvm::ArrayRef<Dim> shape, mlir::Type element);

/// `type` with every shape removed: `tensor<*xT>`, also inside of sequences and optionals.
mlir::Type eraseShape(mlir::Type type);

/// The most precise type that both describe; null if they contradict each other.
mlir::Type mergeTypes(mlir::Type a, mlir::Type b);

/// Whether both are tensors of one element, of whatever rank.
bool areOneElement(mlir::Type a, mlir::Type b);

/// The most precise type that describes the values of both; null if the element types differ.
mlir::Type joinTypes(mlir::Type a, mlir::Type b);

Dim operator+(const Dim &a, const Dim &b);
Dim operator-(const Dim &a, const Dim &b);
Dim operator*(const Dim &a, const Dim &b);
/// Rounded towards minus infinity; unknown if `b` may be zero.
Dim floorDiv(const Dim &a, const Dim &b);

/// Result of broadcasting two dimensions; none if they contradict each other.
std::optional<Dim> broadcastDims(const Dim &a, const Dim &b);

/// Elements of small tensors of integers, bool, float and double, as far as they are known at compile time: constants
/// and what operators' value rules derive. Remembers what it found.
class ValueAnalysis {
public:
  using Values = std::optional<llvm::SmallVector<Dim>>;
  /// The elements of `value` in row-major order; none if their number is unknown or large.
  const Values &getElements(mlir::Value value);
  /// Those of integers and bool; none of other types.
  const Values &get(mlir::Value value);
  /// Forgets everything (after a rewrite).
  void clear() { known.clear(); }

private:
  llvm::DenseMap<mlir::Value, Values> known;
  unsigned depth = 0;
};

/// The constant that defines `value`, if one does.
mlir::ElementsAttr getConstant(mlir::Value value);

/// Elements of an integer or bool constant, sign- or zero-extended; none for other element types.
std::optional<llvm::SmallVector<int64_t>> getIntegers(mlir::ElementsAttr attr);
/// Elements of a floating-point constant; none for other element types.
std::optional<llvm::SmallVector<double>> getFloats(mlir::ElementsAttr attr);

class ShapeContext {
public:
  ShapeContext(mlir::Operation *op, ValueAnalysis &values);

  mlir::Operation *getOperation() const { return op; }
  mlir::MLIRContext *getContext() const { return op->getContext(); }
  int64_t version() const { return versioned.getSinceVersion(); }
  mlir::InFlightDiagnostic emitError() const { return op->emitOpError(); }

  // Inputs, by formal index. Of a variadic one, `k` counts its values.
  unsigned numInputs(unsigned formal) const;
  mlir::Value input(unsigned formal, unsigned k = 0) const;
  bool hasInput(unsigned formal) const { return static_cast<bool>(input(formal)); }
  /// None if absent, not a tensor, or unranked.
  std::optional<Shape> shape(unsigned formal, unsigned k = 0) const;
  std::optional<int64_t> rank(unsigned formal, unsigned k = 0) const;
  /// Null if absent or not a tensor.
  mlir::Type elementType(unsigned formal, unsigned k = 0) const;
  /// Elements of a small integer input as far as known.
  ValueAnalysis::Values values(unsigned formal, unsigned k = 0) const;
  /// The same, of float and double too (Dim::asFloat).
  ValueAnalysis::Values elements(unsigned formal, unsigned k = 0) const;
  /// All elements known.
  std::optional<llvm::SmallVector<int64_t>> integers(unsigned formal, unsigned k = 0) const;
  std::optional<llvm::SmallVector<double>> floats(unsigned formal, unsigned k = 0) const;

  // Attributes.
  bool hasAttr(llvm::StringRef name) const { return static_cast<bool>(op->getAttr(name)); }
  int64_t integer(llvm::StringRef name, int64_t absent) const;
  std::optional<llvm::SmallVector<int64_t>> integerArray(llvm::StringRef name) const;
  llvm::StringRef string(llvm::StringRef name, llvm::StringRef absent) const;
  template <typename AttrT> AttrT attr(llvm::StringRef name) const { return op->getAttrOfType<AttrT>(name); }

  /// `axis` in [0, rank), from [-rank, rank); an error that names `what` otherwise.
  llvm::FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank, llvm::StringRef what = "axis") const;

  // Results, by index among the actual results of formal output `formal`. Absent outputs are ignored.
  bool hasOutput(unsigned formal) const;
  void setShape(unsigned formal, llvm::ArrayRef<Dim> shape, unsigned k = 0);
  void setElementType(unsigned formal, mlir::Type element, unsigned k = 0);
  void setType(unsigned formal, mlir::Type type, unsigned k = 0);
  /// The result has input `from`'s shape (its element type stays the result's own).
  void copyShape(unsigned from, unsigned formal = 0);

  ValueAnalysis &getAnalysis() const { return analysis; }

  /// Of a type variable or literal type of the signature; null if not bound.
  mlir::Type boundType(llvm::StringRef variable) const { return bindings.lookup(variable); }

private:
  friend llvm::LogicalResult inferResultTypes(ShapeContext &);
  mlir::Type *resultType(unsigned formal, unsigned k);

  mlir::Operation *op;
  mutable VersionedOpInterface versioned;
  const Signature &signature;
  ValueAnalysis &analysis;
  llvm::DenseMap<llvm::StringRef, mlir::Type> bindings;
  llvm::SmallVector<mlir::Type> results;

public:
  /// One type per actual result, filled by inferResultTypes.
  llvm::ArrayRef<mlir::Type> getResultTypes() const { return results; }
};

/// Infers the types of the versioned ops of a block, in order, and sets them. Rules of ops with subgraphs call it for
/// their bodies.
llvm::LogicalResult inferTypesInBlock(mlir::Block &block, ValueAnalysis &values);

} // namespace strata

#endif // STRATA_DIALECT_SHAPECONTEXT_H
