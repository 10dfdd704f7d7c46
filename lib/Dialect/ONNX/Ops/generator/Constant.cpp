//===- Constant.cpp - Constant: a value written in the model --------------===//

#include "../Slice.h"
#include "Dialect/VersionSteps.h"

static LogicalResult verifyConstant(Operation *op) {
  static constexpr StringRef forms[] = {"sparse_value", "value",      "value_float",  "value_floats",
                                        "value_int",    "value_ints", "value_string", "value_strings"};
  SmallVector<StringRef> present;
  for (StringRef form : forms)
    if (op->getAttr(form))
      present.push_back(form);
  if (present.empty())
    return op->emitOpError("has no value");
  if (present.size() > 1)
    return op->emitOpError("has more than one value: '") << present[0] << "' and '" << present[1] << "'";
  return success();
}

static LogicalResult inferConstant(ShapeContext &c) {
  Operation *op = c.getOperation();
  if (ElementsAttr value = getConstant(op->getResult(0))) {
    c.setType(0, value.getShapedType());
    return success();
  }
  Type string = StringType::get(c.getContext());
  if (c.hasAttr("value_string"))
    c.setType(0, RankedTensorType::get({}, string));
  else if (auto strings = c.attr<ArrayAttr>("value_strings"))
    c.setType(0, RankedTensorType::get({static_cast<int64_t>(strings.size())}, string));
  else if (auto sparse = c.attr<onnx::SparseElementsAttr>("sparse_value"))
    c.setType(0, RankedTensorType::get(sparse.getShape(), sparse.getValues().getElementType()));
  return success();
}

static FailureOr<SmallVector<Value>> lowerConstant(Operation *op, ValueRange, LinalgBuilder &b) {
  ElementsAttr value = getConstant(op->getResult(0));
  if (!value)
    return op->emitOpError("cannot be compiled: its value has no dense form");
  return SmallVector<Value>{b.constant(value)};
}

// Lists and numbers came with version 12, sparse tensors with 11: the same as a dense tensor.
static LogicalResult downgradeConstant(Operation *op, PatternRewriter &rewriter) {
  int64_t previous = getPreviousVersion(op);
  if (op->getAttr("value") || previous >= 12 || (previous == 11 && op->getAttr("sparse_value")))
    return downgradeStep(op, rewriter);
  ElementsAttr value = getConstant(op->getResult(0));
  if (!value)
    return refuseDowngrade(op) << "its value is no tensor";
  static constexpr StringRef others[] = {"sparse_value", "value_float",  "value_floats", "value_int",
                                         "value_ints",   "value_string", "value_strings"};
  return replaceByPrevious(op, rewriter, {}, others, rewriter.getNamedAttr("value", value));
}

STRATA_SLICE(Constant) {
  ops.add("Constant", {.verify = verifyConstant,
                       .inferShapes = inferConstant,
                       .upgrade = keepAttributes,
                       .downgrade = downgradeConstant,
                       .lower = lowerConstant,
                       .handles = true});
}
