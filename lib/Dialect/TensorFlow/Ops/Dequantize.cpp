//===- Dequantize.cpp - TensorFlow's Dequantize ---------------------------===//

#include "../../ONNX/Ops/Slice.h"
#include "Dialect/TensorFlow/IR/TensorFlow.h"

using tf::Dequantize_1Op;

static LogicalResult verifyDequantize(Operation *operation) {
  auto op = cast<Dequantize_1Op>(operation);
  StringRef mode = op.getMode();
  if (!llvm::is_contained({"MIN_COMBINED", "MIN_FIRST", "SCALED"}, mode))
    return op.emitOpError("attribute 'mode' is '") << mode << "'; allowed are MIN_COMBINED, MIN_FIRST and SCALED";
  int64_t bfloat16 = getDataType(ElementKind::bfloat16);
  if (op.getDtype() != getDataType(ElementKind::float32) && op.getDtype() != bfloat16)
    return op.emitOpError("attribute 'dtype' is ") << op.getDtype() << "; allowed are 1 (float) and 16 (bfloat16)";
  if (op.getDtype() == bfloat16 && mode != "MIN_COMBINED")
    return op.emitOpError("with dtype bfloat16 the mode must be MIN_COMBINED, not ") << mode;
  int64_t axis = op.getAxis();
  if (mode == "MIN_FIRST" && axis >= 0)
    return op.emitOpError("the mode MIN_FIRST has no axis");
  std::optional<Shape> input = getShape(op.getInput().getType());
  if (input && axis >= static_cast<int64_t>(input->size()))
    return op.emitOpError("axis ") << axis << " is out of range for rank " << input->size();
  // One range for the tensor, or one per slice along the axis.
  Dim expected = axis < 0 ? Dim(1) : input ? (*input)[axis] : Dim();
  for (Value range : {op.getMinRange(), op.getMaxRange()}) {
    std::optional<Shape> shape = getShape(range.getType());
    if (!shape || !expected.isStatic())
      continue;
    if (axis >= 0 && shape->size() != 1)
      return op.emitOpError("with an axis the ranges must be 1-D, found rank ") << shape->size();
    Dim count(1);
    for (const Dim &dim : *shape)
      count = count * dim;
    if (count.isStatic() && count.size != expected.size)
      return op.emitOpError("needs ranges of ") << expected.size << " elements, found " << count.size;
  }
  return success();
}

static LogicalResult inferDequantize(ShapeContext &c) {
  auto kind = getElementKindOfDataType(c.integer("dtype", 1));
  if (!kind)
    return c.emitError() << "attribute 'dtype' is no element type";
  c.setElementType(0, getElementType(c.getContext(), *kind));
  c.copyShape(0);
  return success();
}

STRATA_SLICE_OF(tf, Dequantize) { ops.add("Dequantize", {.verify = verifyDequantize, .inferShapes = inferDequantize}); }
