//===- ImageDecoder.cpp - ImageDecoder ----------------------------------===//
//
// Decoding is the runtime's (libstrata_image): first the size, then the pixels
// into a buffer of it. What cannot be decoded is an empty image, as the
// specification has it (ONNX's reference implementation fails).
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"
#include "Conversion/RuntimeCalls.h"
#include "Runtime/strata_runtime.h"

static StringRef getFormat(StringAttr attr) { return attr ? attr.getValue() : "RGB"; }

static LogicalResult verifyImage(Operation *op) {
  StringRef format = getFormat(op->getAttrOfType<StringAttr>("pixel_format"));
  if (!llvm::is_contained({"RGB", "BGR", "Grayscale"}, format))
    return op->emitOpError("pixel_format is '") << format << "', but must be RGB, BGR or Grayscale";
  return success();
}

static LogicalResult inferImage(ShapeContext &c) {
  if (std::optional<Shape> shape = c.shape(0); shape && shape->size() != 1)
    return c.emitError() << "needs an encoded stream of rank 1, not " << shape->size();
  c.setShape(0, {Dim(), Dim(), Dim(getFormat(c.attr<StringAttr>("pixel_format")) == "Grayscale" ? 1 : 3)});
  return success();
}

static FailureOr<SmallVector<Value>> lowerImage(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type i64 = b.getI64Type();
  StringRef format = getFormat(op->getAttrOfType<StringAttr>("pixel_format"));
  Value image = callRuntime(b, "strata_rt_image_open", operands[0], i64);
  Sizes sizes;
  for (int64_t i = 0; i < 2; ++i) {
    Value size = callRuntime(b, "strata_rt_image_size", {image, b.scalarInt(i64, i)}, i64);
    sizes.push_back(b.create<arith::IndexCastOp>(b.getIndexType(), size).getResult());
  }
  sizes.push_back(b.getIndexAttr(format == "Grayscale" ? 1 : 3));
  Value buffer = makeBuffer(b, sizes, b.getI8Type());
  int64_t code = format == "RGB" ? STRATA_IMAGE_RGB : format == "BGR" ? STRATA_IMAGE_BGR : STRATA_IMAGE_GRAY;
  callRuntime(b, "strata_rt_image_pixels", {image, b.scalarInt(i64, code), buffer});
  return SmallVector<Value>{bufferToTensor(b, buffer)};
}

STRATA_SLICE(ImageDecoder) {
  ops.add("ImageDecoder", {.verify = verifyImage, .inferShapes = inferImage, .lower = lowerImage});
}
