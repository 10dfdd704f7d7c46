//===- Upgrade.h - building blocks of upgrade steps -------------*- C++ -*-===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_UPGRADE_H
#define STRATA_LIB_DIALECT_ONNX_OPS_UPGRADE_H

#include "Slice.h"

namespace strata::upgrade {

/// A 1-D int64 constant (rank 0 with `scalar`).
inline Value constantI64(PatternRewriter &rewriter, Location loc, ArrayRef<int64_t> values, bool scalar = false) {
  SmallVector<int64_t, 1> shape;
  if (!scalar)
    shape.push_back(values.size());
  auto type = RankedTensorType::get(shape, rewriter.getI64Type());
  return rewriter.create<InitializerOp>(loc, DenseIntElementsAttr::get(type, values));
}

/// A scalar constant of a floating-point, integer or bool element type.
inline Value constantScalar(PatternRewriter &rewriter, Location loc, Type element, double value) {
  auto type = RankedTensorType::get({}, element);
  if (auto floating = dyn_cast<FloatType>(element))
    return rewriter.create<InitializerOp>(loc, DenseElementsAttr::get(type, rewriter.getFloatAttr(floating, value).getValue()));
  auto integer = cast<IntegerType>(element);
  return rewriter.create<InitializerOp>(
      loc, DenseElementsAttr::get(type, APInt(integer.getWidth(), static_cast<int64_t>(value), !integer.isUnsigned())));
}

/// The attributes of `op` without those named and without what belongs to its operand list.
inline SmallVector<NamedAttribute> attributesWithout(Operation *op, ArrayRef<StringRef> names) {
  SmallVector<NamedAttribute> attrs;
  for (NamedAttribute attr : op->getAttrs())
    if (!attr.getName().getValue().ends_with("SegmentSizes") && !llvm::is_contained(names, attr.getName().getValue()))
      attrs.push_back(attr);
  return attrs;
}

/// Creates version `version` of operator `name` with one value (null: absent) per formal input.
inline Operation *create(PatternRewriter &rewriter, Location loc, StringRef name, int64_t version, ArrayRef<Value> inputs,
                         ArrayRef<NamedAttribute> attrs, TypeRange results) {
  OperationState state(loc, ("onnx." + name + "_" + Twine(version)).str());
  SmallVector<int32_t> segments;
  for (Value input : inputs) {
    segments.push_back(input ? 1 : 0);
    if (input)
      state.addOperands(input);
  }
  state.addAttributes(attrs);
  if (state.name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    state.addAttribute("operandSegmentSizes", rewriter.getDenseI32ArrayAttr(segments));
  state.addTypes(results);
  return rewriter.create(state);
}

/// Replaces `op` by its next version with these inputs and attributes.
inline void replaceByNext(Operation *op, PatternRewriter &rewriter, ArrayRef<Value> inputs,
                          ArrayRef<NamedAttribute> attrs) {
  auto versioned = cast<VersionedOpInterface>(op);
  rewriter.replaceOp(op, create(rewriter, op->getLoc(), versioned.getOperatorName(), versioned.getNextVersion(), inputs,
                                attrs, op->getResultTypes()));
}

/// The step is the identity up to attributes that do not matter.
inline LogicalResult dropAttributes(Operation *op, PatternRewriter &rewriter, ArrayRef<StringRef> names) {
  SmallVector<Value> inputs(op->getOperands());
  replaceByNext(op, rewriter, inputs, attributesWithout(op, names));
  return success();
}

/// New attributes and inputs are optional and absent means what it was.
inline LogicalResult identity(Operation *op, PatternRewriter &rewriter) { return dropAttributes(op, rewriter, {}); }

/// An integer-list attribute of the operator's only other input becomes an int64 input behind it.
inline LogicalResult listToInput(Operation *op, PatternRewriter &rewriter, StringRef name) {
  SmallVector<Value> inputs(op->getOperands());
  if (auto list = op->getAttrOfType<DenseI64ArrayAttr>(name))
    inputs.push_back(constantI64(rewriter, op->getLoc(), list));
  replaceByNext(op, rewriter, inputs, attributesWithout(op, name));
  return success();
}

} // namespace strata::upgrade

#endif // STRATA_LIB_DIALECT_ONNX_OPS_UPGRADE_H
