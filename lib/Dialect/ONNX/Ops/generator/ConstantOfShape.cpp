//===- ConstantOfShape.cpp - ConstantOfShape: one value, repeated ---------===//

#include "../Elementwise.h"
#include "mlir/IR/DialectResourceBlobManager.h"

// What fits into the address space; how much memory there is, the run knows.
static constexpr int64_t kMostBytes = int64_t(1) << 47;

static int64_t getMostElements(Type element) {
  // Types are verified after they are inferred: this may be one without a seam's type.
  Type seam = getSeamElementType(element);
  return kMostBytes / (seam && seam.isIntOrFloat() ? std::max(1u, seam.getIntOrFloatBitWidth() / 8) : 1);
}

static LogicalResult verifyConstantOfShape(Operation *op) {
  // Null before the result's type is inferred.
  auto result = dyn_cast<TensorType>(op->getResult(0).getType());
  Type element = result ? result.getElementType() : Type();
  if (auto value = op->getAttrOfType<ElementsAttr>("value")) {
    if (value.getNumElements() != 1)
      return op->emitOpError("value must have one element, but has ") << value.getNumElements();
    if (element && value.getElementType() != element)
      return op->emitOpError("value is of element type ")
             << value.getElementType() << ", but the result holds " << element;
  } else if (element && !element.isF32()) {
    return op->emitOpError("without a value the result holds 'f32', not ") << element;
  }
  std::optional<Shape> input = getShape(op->getOperand(0).getType());
  if (input && input->size() != 1)
    return op->emitOpError("input must be of rank 1, but is of rank ") << input->size();
  std::optional<Shape> output = getShape(op->getResult(0).getType());
  if (input && output && (*input)[0].isStatic() && !(*input)[0].is(output->size()))
    return op->emitOpError("input has ") << (*input)[0].size << " elements, but the result is of rank "
                                         << output->size();
  return success();
}

static LogicalResult inferConstantOfShape(ShapeContext &c) {
  auto value = c.attr<ElementsAttr>("value");
  Type element = value ? value.getElementType() : Float32Type::get(c.getContext());
  c.setElementType(0, element);
  std::optional<Shape> input = c.shape(0);
  if (input && input->size() != 1)
    return c.emitError() << "input must be of rank 1, but is of rank " << input->size();
  ValueAnalysis::Values sizes = c.values(0);
  if (!sizes) {
    if (input && (*input)[0].isStatic())
      c.setShape(0, Shape((*input)[0].size));
    return success();
  }
  double elements = 1;
  for (auto [i, size] : llvm::enumerate(*sizes)) {
    if (size.isStatic() && size.size < 0)
      return c.emitError() << "size " << size.size << " of dimension " << i << " is negative";
    if (size.isStatic())
      elements *= static_cast<double>(size.size);
    else
      elements = 0; // The run tells.
  }
  if (elements > static_cast<double>(getMostElements(element)))
    return c.emitError() << "the result has more elements than memory can hold";
  c.setShape(0, Shape(sizes->begin(), sizes->end()));
  return success();
}

static ValueAnalysis::Values inferElements(ShapeContext &c) {
  auto value = getIntegers(c.attr<ElementsAttr>("value"));
  auto sizes = c.integers(0);
  if (!value || value->size() != 1 || !sizes)
    return std::nullopt;
  int64_t count = 1;
  for (int64_t size : *sizes)
    if (size < 0 || llvm::MulOverflow(count, size, count) || count > 256)
      return std::nullopt;
  return SmallVector<Dim>(count, Dim(value->front()));
}

// The one element at the seam's type. Those without a type of MLIR's own are in resources, a byte each.
static Value getElement(LinalgBuilder &b, ElementsAttr value, Type element) {
  Type seam = getSeamElementType(element);
  if (!value)
    return b.create<arith::ConstantOp>(b.getZeroAttr(seam));
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value); resource && seam.isInteger(8))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob(); blob && blob->getData().size() == 1)
      return b.scalarInt(seam, blob->getData()[0]);
  return b.extractScalar(b.constant(value));
}

// The sizes as far as they are known, else read from the lowered input of one element per dimension.
static Sizes readSizes(Operation *op, Value input, int64_t rank, LinalgBuilder &b) {
  if (cast<RankedTensorType>(op->getOperand(0).getType()).hasStaticShape())
    return b.integerElements(op->getOperand(0));
  b.checkEqual(b.dim(input, 0), b.getIndexAttr(rank), "input must have " + Twine(rank) + " elements");
  Sizes sizes;
  input = b.castTo(input, RankedTensorType::get({rank}, b.getI64Type()));
  for (int64_t i = 0; i < rank; ++i)
    sizes.push_back(b.element(input, i));
  return sizes;
}

static FailureOr<SmallVector<Value>> lowerConstantOfShape(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value element = getElement(b, cast<ConstantOfShapeOp>(op).getValueAttr(), type.getElementType());
  if (!isa<RankedTensorType>(op->getOperand(0).getType()))
    return op->emitOpError("cannot be compiled: the rank of its input is not known at compile time");
  Sizes sizes = readSizes(op, operands[0], type.getRank(), b);

  bool allKnown = true;
  Value elements = b.scalar(b.getF64Type(), 1); // Of any sizes: no product of them overflows.
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (size.is<Value>()) {
      allKnown = false;
      b.check(b.compare(arith::CmpIPredicate::sge, size, b.getIndexAttr(0)),
              "size of dimension " + Twine(i) + " is negative");
    }
    Value number = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), b.index(size));
    elements = b.createOrFold<arith::MulFOp>(elements, b.createOrFold<arith::SIToFPOp>(b.getF64Type(), number));
  }
  if (!allKnown)
    b.check(b.createOrFold<arith::CmpFOp>(
                arith::CmpFPredicate::OLE, elements,
                b.scalar(b.getF64Type(), static_cast<double>(getMostElements(type.getElementType())))),
            "the result has more elements than memory can hold");
  return SmallVector<Value>{b.fill(sizes, element)};
}

STRATA_SLICE(ConstantOfShape) {
  ops.add("ConstantOfShape", {.verify = verifyConstantOfShape,
                              .inferShapes = inferConstantOfShape,
                              .inferValues = inferElements,
                              .lower = lowerConstantOfShape,
                              .handles = true});
}
