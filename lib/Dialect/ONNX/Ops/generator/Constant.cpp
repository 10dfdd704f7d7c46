//===- Constant.cpp - Constant: a value written in the model --------------===//

#include "../UpgradeStep.h"

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

STRATA_SLICE(Constant) {
  ops.add("Constant", {.verify = verifyConstant,
                       .inferShapes = inferConstant,
                       .upgrade = keepAttributes,
                       .lower = lowerConstant});
}
