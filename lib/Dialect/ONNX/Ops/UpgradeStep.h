//===- UpgradeStep.h - what upgrade steps are written with ------*- C++ -*-===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_UPGRADESTEP_H
#define STRATA_LIB_DIALECT_ONNX_OPS_UPGRADESTEP_H

#include "Slice.h"

namespace strata::onnx {

/// Replaces `op` by its operator's next version with `operands`, the attributes except `dropped`, and `added` ones.
inline Operation *replaceByNext(Operation *op, PatternRewriter &rewriter, ValueRange operands,
                                ArrayRef<StringRef> dropped = {}, ArrayRef<NamedAttribute> added = {}) {
  StringRef name = op->getName().getStringRef();
  int64_t next = cast<VersionedOpInterface>(op).getNextVersion();
  OperationState state(op->getLoc(), (name.take_front(name.rfind('_') + 1) + Twine(next)).str());
  state.addOperands(operands);
  state.addTypes(op->getResultTypes());
  for (NamedAttribute attr : op->getAttrs())
    if (!llvm::is_contained(dropped, attr.getName().getValue()))
      state.attributes.push_back(attr);
  for (NamedAttribute attr : added)
    state.attributes.set(attr.getName(), attr.getValue());
  Operation *replacement = rewriter.create(state);
  rewriter.replaceOp(op, replacement);
  return replacement;
}

/// The step that only forgets attributes without meaning: up to version 6 many operators carry `consumed_inputs`, an
/// optimisation hint.
inline LogicalResult dropConsumedInputs(Operation *op, PatternRewriter &rewriter) {
  replaceByNext(op, rewriter, op->getOperands(), {"consumed_inputs"});
  return success();
}

/// The step to a version that adds attributes whose defaults are the old meaning.
inline LogicalResult keepAttributes(Operation *op, PatternRewriter &rewriter) {
  replaceByNext(op, rewriter, op->getOperands());
  return success();
}

/// A constant of the graph: a 1-D tensor of int64.
inline Value makeIntegers(PatternRewriter &rewriter, Location loc, ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, rewriter.getI64Type());
  return rewriter.create<InitializerOp>(loc, DenseIntElementsAttr::get(type, values));
}

/// A constant of the graph: a scalar of a floating-point type, rounded to it.
inline Value makeFloat(PatternRewriter &rewriter, Location loc, Type element, double value) {
  return rewriter.create<InitializerOp>(
      loc, DenseElementsAttr::get(RankedTensorType::get({}, element), rewriter.getFloatAttr(element, value)));
}

/// `value` with size-1 dimensions at `axes` (of the result); its rank must be known.
inline Value makeUnsqueeze(PatternRewriter &rewriter, Location loc, Value value, ArrayRef<int64_t> axes) {
  Shape shape = *getShape(value.getType());
  for (int64_t axis : axes)
    shape.insert(shape.begin() + axis, Dim(1));
  Type type = makeTensorType(shape, cast<TensorType>(value.getType()).getElementType());
  return rewriter.create<UnsqueezeOp>(loc, type, value, makeIntegers(rewriter, loc, axes));
}

} // namespace strata::onnx

#endif // STRATA_LIB_DIALECT_ONNX_OPS_UPGRADESTEP_H
