//===- Differentiator.h - reverse-mode differentiation ----------*- C++ -*-===//

#ifndef STRATA_LIB_DIALECT_ONNX_TRANSFORMS_DIFFERENTIATOR_H
#define STRATA_LIB_DIALECT_ONNX_TRANSFORMS_DIFFERENTIATOR_H

#include "Dialect/ONNX/IR/ElementKinds.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/OpBehavior.h"
#include "Dialect/OperatorSets.h"
#include "Dialect/VersionSteps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace strata {
using namespace mlir;

/// Derivatives of one value with respect to others, as ops in front of `place`.
class Differentiator {
public:
  Differentiator(Operation *place) : builder(place), loc(place->getLoc()) {}

  /// `active` are the values that depend on what is differentiated by. Fails with a diagnostic at the op that has no
  /// rule.
  LogicalResult run(Value y, ArrayRef<Operation *> slice, const llvm::DenseSet<Value> &active);
  /// Zero where `y` does not depend on `x`.
  Value gradientOf(Value x) {
    Value found = gradients.lookup(x);
    return found ? found : like(x, 0);
  }

private:
  LogicalResult differentiate(Operation *op);
  LogicalResult product(Operation *op);
  LogicalResult gemm(Operation *op);
  /// What a reduction takes together: the axes, none standing for all of them, and whether the result lacks them.
  struct Reduced {
    SmallVector<int64_t> axes;
    bool dropped = false;
    bool nothing = false; ///< noop_with_empty_axes
  };
  FailureOr<Reduced> reduced(Operation *op);
  LogicalResult reduction(Operation *op);
  LogicalResult softmax(Operation *op);
  // GradientRules.cpp
  /// Of the operators that it has rules for; none for others.
  std::optional<LogicalResult> rule(Operation *op, StringRef name);
  LogicalResult body(Operation *op);
  LogicalResult sweep(ArrayRef<Operation *> slice);
  LogicalResult movement(Operation *op, unsigned data);
  LogicalResult concat(Operation *op);
  LogicalResult extreme(Operation *op);
  LogicalResult reducedExtreme(Operation *op);
  LogicalResult convolution(Operation *op);
  LogicalResult averagePool(Operation *op);
  LogicalResult maxPool(Operation *op);
  LogicalResult normalization(Operation *op);
  LogicalResult einsum(Operation *op);
  Value scattered(Value positions, Value gradient, Value count);
  Value sizes(Value value, int64_t begin, std::optional<int64_t> end = std::nullopt);

  //===--- Building -------------------------------------------------------===//
  Value create(StringRef name, ArrayRef<Value> inputs, ArrayRef<NamedAttribute> attributes = {}, Type element = {}) {
    OperationName newest = *lookupOperator(builder.getContext(), "ai.onnx", name, getNewestOpset("ai.onnx")).name;
    int64_t version = 0;
    newest.getStringRef().rsplit('_').second.getAsInteger(10, version);
    if (!element)
      element = elementType(inputs.front());
    IRRewriter rewriter(builder);
    Operation *op = createVersion(rewriter, loc, name, version, inputs, attributes, UnrankedTensorType::get(element));
    infer(op);
    return op->getResult(0);
  }
  NamedAttribute integers(StringRef name, ArrayRef<int64_t> values) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
  }
  /// The types of an op's results from its operands'.
  void infer(Operation *op);
  NamedAttribute integer(StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  }
  static Type elementType(Value value) { return cast<TensorType>(value.getType()).getElementType(); }
  /// A scalar of the element type of `like`.
  Value number(Value like, double value) {
    auto element = cast<FloatType>(elementType(like));
    auto type = RankedTensorType::get({}, element);
    return builder.create<onnx::InitializerOp>(
        loc, DenseElementsAttr::get(type, builder.getFloatAttr(element, value).getValue()));
  }
  Value list(ArrayRef<int64_t> numbers) {
    auto type = RankedTensorType::get(static_cast<int64_t>(numbers.size()), builder.getI64Type());
    return builder.create<onnx::InitializerOp>(loc, DenseIntElementsAttr::get(type, numbers));
  }
  Value shapeOf(Value value) { return create("Shape", value, {}, builder.getI64Type()); }
  /// A tensor of the shape of `value`, full of `element`.
  Value like(Value value, double element) { return create("Expand", {number(value, element), shapeOf(value)}); }
  Value add(Value a, Value b) { return create("Add", {a, b}); }
  Value sub(Value a, Value b) { return create("Sub", {a, b}); }
  Value mul(Value a, Value b) { return create("Mul", {a, b}); }
  Value div(Value a, Value b) { return create("Div", {a, b}); }
  Value neg(Value a) { return create("Neg", a); }
  Value where(Value condition, Value a, Value b) { return create("Where", {condition, a, b}, {}, elementType(a)); }
  Value transposed(Value value) {
    SmallVector<int64_t> permutation =
        llvm::to_vector(llvm::seq<int64_t>(0, cast<ShapedType>(value.getType()).getRank()));
    std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
    return create("Transpose", value, builder.getNamedAttr("perm", builder.getDenseI64ArrayAttr(permutation)));
  }

  //===--- Gradients ------------------------------------------------------===//
  bool needs(Value value) const { return active.contains(value); }
  void accumulate(Value value, Value gradient) {
    Value &sum = gradients[value];
    sum = sum ? add(sum, gradient) : gradient;
  }
  /// Adds to the gradient of `operand` what `gradient` is summed over the dimensions that broadcasting gave it.
  LogicalResult accumulateBroadcast(Operation *op, Value operand, Value gradient);
  static InFlightDiagnostic refuse(Operation *op) { return op->emitOpError("cannot be differentiated: "); }

  OpBuilder builder;
  Location loc;
  ValueAnalysis values;
  llvm::DenseSet<Value> active;
  DenseMap<Value, Value> gradients;
};

} // namespace strata

#endif // STRATA_LIB_DIALECT_ONNX_TRANSFORMS_DIFFERENTIATOR_H
