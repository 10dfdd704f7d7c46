//===- ConstantOfShape.cpp - ConstantOfShape: one value, repeated ---------===//

#include "../Elementwise.h"

static LogicalResult verifyConstantOfShape(Operation *op) {
  auto value = op->getAttrOfType<ElementsAttr>("value");
  if (value && value.getNumElements() != 1)
    return op->emitOpError("value must have one element, but has ") << value.getNumElements();
  return success();
}

static LogicalResult inferConstantOfShape(ShapeContext &c) {
  auto value = c.attr<ElementsAttr>("value");
  c.setElementType(0, value ? value.getElementType() : Float32Type::get(c.getContext()));
  std::optional<Shape> input = c.shape(0);
  if (input && input->size() != 1)
    return c.emitError() << "input must be of rank 1, but is of rank " << input->size();
  if (ValueAnalysis::Values sizes = c.values(0)) {
    for (const Dim &size : *sizes)
      if (size.isStatic() && size.size < 0)
        return c.emitError() << "size " << size.size << " is negative";
    c.setShape(0, Shape(sizes->begin(), sizes->end()));
  } else if (input && (*input)[0].isStatic()) {
    c.setShape(0, Shape((*input)[0].size));
  }
  return success();
}

static ValueAnalysis::Values inferElements(ShapeContext &c) {
  auto value = getIntegers(c.attr<ElementsAttr>("value"));
  auto sizes = c.integers(0);
  if (!value || !sizes)
    return std::nullopt;
  int64_t count = 1;
  for (int64_t size : *sizes)
    if (size < 0 || llvm::MulOverflow(count, size, count) || count > 256)
      return std::nullopt;
  return SmallVector<Dim>(count, Dim(value->front()));
}

static FailureOr<SmallVector<Value>> lowerConstantOfShape(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  ElementsAttr value = cast<ConstantOfShapeOp>(op).getValueAttr();
  Value element = value ? b.extractScalar(b.constant(value))
                        : b.create<arith::ConstantOp>(b.getZeroAttr(getSeamElementType(type.getElementType())));
  Sizes sizes;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!type.isDynamicDim(i)) {
      sizes.push_back(b.getIndexAttr(type.getDimSize(i)));
      continue;
    }
    OpFoldResult size = b.element(operands[0], i);
    b.check(b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sge, b.index(size), b.index(int64_t(0))),
            "size of dimension " + Twine(i) + " is negative");
    sizes.push_back(size);
  }
  return SmallVector<Value>{b.fill(sizes, element)};
}

STRATA_SLICE(ConstantOfShape) {
  ops.add("ConstantOfShape", {.verify = verifyConstantOfShape,
                              .inferShapes = inferConstantOfShape,
                              .inferValues = inferElements,
                              .lower = lowerConstantOfShape});
}
