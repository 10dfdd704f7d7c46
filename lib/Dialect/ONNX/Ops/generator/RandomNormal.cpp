//===- RandomNormal.cpp - RandomNormal and RandomNormalLike ---------------===//
//
// mean + scale z in f64, rounded once.
//
//===----------------------------------------------------------------------===//

#include "../Random.h"

static FailureOr<ElementKind> getKind(Operation *op) {
  return getDrawnKind(op, isFloatResult,
                      op->getNumOperands() ? std::nullopt : std::optional<ElementKind>(ElementKind::float32));
}

static double getFloat(Operation *op, StringRef name, double absent) {
  auto attr = op->getAttrOfType<FloatAttr>(name);
  return attr ? attr.getValueAsDouble() : absent;
}

static LogicalResult verifyRandomNormal(Operation *op) {
  double mean = getFloat(op, "mean", 0), scale = getFloat(op, "scale", 1);
  if (!std::isfinite(mean))
    return op->emitOpError("mean is ") << mean << ", but must be finite";
  if (!(scale >= 0) || !std::isfinite(scale))
    return op->emitOpError("scale is ") << scale << ", but a standard deviation is finite and at least 0";
  return success(succeeded(getKind(op)) && succeeded(verifyShape(op)));
}

static LogicalResult inferRandomNormal(ShapeContext &c) {
  FailureOr<ElementKind> kind = getKind(c.getOperation());
  return failed(kind) ? failure() : inferDrawn(c, *kind);
}

static FailureOr<SmallVector<Value>> lowerRandomNormal(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type element = getSeamElementType(getElementType(op->getResult(0)));
  double mean = getFloat(op, "mean", 0), scale = getFloat(op, "scale", 1);
  return draw::makeElements(b, getDrawnSizes(op, operands, b), makeKey(b, op), {}, element,
                            [&](ImplicitLocOpBuilder &n, const draw::Words &words, ValueRange) -> SmallVector<Value> {
                              auto constant = [&](double value) -> Value {
                                return n.create<arith::ConstantOp>(n.getF64FloatAttr(value));
                              };
                              Value x = draw::makeNormal(n, words);
                              if (scale != 1)
                                x = n.create<arith::MulFOp>(x, constant(scale));
                              if (mean != 0)
                                x = n.create<arith::AddFOp>(x, constant(mean));
                              return {roundTo(n, x, element)};
                            });
}

STRATA_SLICE(RandomNormal) {
  // RandomNormalLike reads the size of its operand alone.
  for (StringRef name : {"RandomNormal", "RandomNormalLike"})
    ops.add(
        name,
        {.verify = verifyRandomNormal, .inferShapes = inferRandomNormal, .lower = lowerRandomNormal, .handles = true});
}
