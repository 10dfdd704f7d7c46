//===- Composer.h - operators lowered as compositions of others -*- C++ -*-===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_COMPOSER_H
#define STRATA_LIB_DIALECT_ONNX_OPS_COMPOSER_H

#include "Compute.h"

namespace strata::onnx {

/// Makes the operators that one is composed of, in a block beside it, and lowers that. After a failure every value is
/// null.
class Composer {
public:
  Composer(Operation *op, LinalgBuilder &b) : op(op), b(b), at(op) {
    // It goes when the source function goes: values of the block stay unique until then.
    at.setInsertionPointToStart(at.create<ModuleOp>(op->getLoc()).getBody());
  }

  template <typename OpTy> Value make(ArrayRef<Value> operands, Type element, ArrayRef<NamedAttribute> attrs = {}) {
    if (llvm::is_contained(operands, Value()))
      return {};
    Operation *made = at.create(
        OperationState(op->getLoc(), OpTy::getOperationName(), operands, UnrankedTensorType::get(element), attrs));
    ShapeContext context(made, b.getAnalysis());
    if (failed(inferResultTypes(context)))
      return {};
    made->getResult(0).setType(context.getResultTypes()[0]);
    return made->getResult(0);
  }
  /// A value that is lowered already.
  Value given(Value lowered, Type type) {
    arguments.push_back(lowered);
    return at.getInsertionBlock()->addArgument(type, op->getLoc());
  }
  Value constant(ElementsAttr value) { return at.create<InitializerOp>(op->getLoc(), value); }

  Value cast(Value value, Type element) {
    if (!value || getElementTypeOrSelf(value.getType()) == element)
      return value;
    return make<CastOp>(value, element,
                        at.getNamedAttr("to", at.getI64IntegerAttr(getDataType(*getElementKind(element)))));
  }
  /// A list of numbers for dimension `axis` of a tensor of rank `rank`, such that it broadcasts; others as they are.
  Value alongAxis(Value value, int64_t axis, int64_t rank) {
    std::optional<Shape> shape = value ? getShape(value.getType()) : std::nullopt;
    if (!shape || shape->size() != 1 || (*shape)[0].is(1) || axis < 0 || axis + 1 >= rank)
      return value;
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(1, rank - axis));
    auto type = RankedTensorType::get({static_cast<int64_t>(axes.size())}, at.getI64Type());
    return make<UnsqueezeOp>({value, constant(DenseIntElementsAttr::get(type, axes))},
                             getElementTypeOrSelf(value.getType()));
  }
  Value sumOver(Value value, ArrayRef<int64_t> axes, bool keepDims) {
    auto type = RankedTensorType::get({static_cast<int64_t>(axes.size())}, at.getI64Type());
    return make<ReduceSumOp>({value, constant(DenseIntElementsAttr::get(type, axes))},
                             getElementTypeOrSelf(value.getType()),
                             at.getNamedAttr("keepdims", at.getI64IntegerAttr(keepDims)));
  }
  Value subtractProduct(Value sum, Value x, Value y) {
    Type element = getElementTypeOrSelf(x.getType());
    return make<SubOp>({sum, make<MulOp>({x, y}, element)}, element);
  }
  /// `value` without its zero point (null: 0), as elements of type `element`.
  Value center(Value value, Value zero, int64_t axis, Type element) {
    value = cast(value, element);
    if (!zero || !value)
      return value;
    int64_t rank = getRank(value);
    return make<SubOp>({value, alongAxis(cast(zero, element), axis, rank)}, element);
  }
  FailureOr<SmallVector<Value>> lower(Value value) {
    if (!value)
      return failure();
    Block *block = at.getInsertionBlock();
    at.create(OperationState(op->getLoc(), YieldOp::getOperationName(), value, {}));
    return b.lowerBlock(*block, arguments);
  }
  /// The same of the operator's one result, whose elements it is rounded to.
  FailureOr<SmallVector<Value>> lowerRounded(Value value) {
    FailureOr<SmallVector<Value>> results = lower(value);
    if (succeeded(results))
      results->front() = roundTo(b, results->front(), getElementType(op->getResult(0)));
    return results;
  }

private:
  Operation *op;
  LinalgBuilder &b;
  OpBuilder at;
  SmallVector<Value> arguments;
};

/// The attributes of a convolution, for another operator.
inline SmallVector<NamedAttribute> getWindowAttributes(Operation *op) {
  SmallVector<NamedAttribute> attrs;
  for (NamedAttribute attr : op->getAttrs())
    if (!attr.getName().getValue().ends_with("SegmentSizes"))
      attrs.push_back(attr);
  return attrs;
}

} // namespace strata::onnx

#endif // STRATA_LIB_DIALECT_ONNX_OPS_COMPOSER_H
