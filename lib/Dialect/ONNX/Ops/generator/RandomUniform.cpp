//===- RandomUniform.cpp - RandomUniform and RandomUniformLike ------------===//
//
// low + (high - low) u in f64, kept between the smallest number of the result's
// type that is at least low and the largest one below high, then rounded.
//
//===----------------------------------------------------------------------===//

#include "../Random.h"

namespace {
struct Limits {
  double low, high;   ///< as given
  double first, last; ///< of the type's numbers in [low, high)
};
} // namespace

static FailureOr<ElementKind> getKind(Operation *op) {
  return getDrawnKind(op, isFloatResult,
                      op->getNumOperands() ? std::nullopt : std::optional<ElementKind>(ElementKind::float32));
}

static FailureOr<Limits> getLimits(Operation *op, ElementKind kind) {
  auto get = [&](StringRef name, double absent) {
    auto attr = op->getAttrOfType<FloatAttr>(name);
    return attr ? attr.getValueAsDouble() : absent;
  };
  Limits limits{get("low", 0), get("high", 1), 0, 0};
  // Written so that NaN is refused too.
  if (!(limits.low <= limits.high))
    return op->emitOpError("low is ") << limits.low << ", which is not at most high, " << limits.high;
  const llvm::fltSemantics &type = cast<FloatType>(onnx::getElementType(op->getContext(), kind)).getFloatSemantics();
  auto round = [&](double value, APFloat::roundingMode mode) {
    APFloat number(value);
    bool losesInfo;
    number.convert(type, mode, &losesInfo);
    return number;
  };
  auto toDouble = [](APFloat number) {
    bool losesInfo;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return number.convertToDouble();
  };
  for (double bound : {limits.low, limits.high})
    if (std::abs(bound) > toDouble(APFloat::getLargest(type)) || std::isinf(bound))
      return op->emitOpError("bound ") << bound << " is beyond the range of " << getElementName(kind);
  if (limits.low == limits.high) {
    limits.first = limits.last = toDouble(round(limits.low, APFloat::rmNearestTiesToEven));
    return limits;
  }
  APFloat last = round(limits.high, APFloat::rmTowardNegative);
  if (toDouble(last) == limits.high)
    last.next(/*nextDown=*/true);
  limits.first = toDouble(round(limits.low, APFloat::rmTowardPositive));
  limits.last = toDouble(last);
  if (limits.first > limits.last)
    return op->emitOpError("no ") << getElementName(kind) << " lies in [" << limits.low << ", " << limits.high << ")";
  return limits;
}

static LogicalResult verifyRandomUniform(Operation *op) {
  FailureOr<ElementKind> kind = getKind(op);
  return success(succeeded(kind) && succeeded(getLimits(op, *kind)) && succeeded(verifyShape(op)));
}

static LogicalResult inferRandomUniform(ShapeContext &c) {
  FailureOr<ElementKind> kind = getKind(c.getOperation());
  return failed(kind) ? failure() : inferDrawn(c, *kind);
}

static FailureOr<SmallVector<Value>> lowerRandomUniform(Operation *op, ValueRange operands, LinalgBuilder &b) {
  FailureOr<ElementKind> kind = getKind(op);
  FailureOr<Limits> limits = failure();
  if (succeeded(kind))
    limits = getLimits(op, *kind);
  if (failed(limits))
    return failure();
  Type element = getSeamElementType(onnx::getElementType(op->getContext(), *kind));
  Sizes sizes = getDrawnSizes(op, operands, b);
  if (limits->low == limits->high)
    return SmallVector<Value>{b.fill(sizes, b.scalar(element, limits->first))};
  return draw::makeElements(b, sizes, makeKey(b, op), {}, element,
                            [&](ImplicitLocOpBuilder &n, const draw::Words &words, ValueRange) -> SmallVector<Value> {
                              auto constant = [&](double value) -> Value {
                                return n.create<arith::ConstantOp>(n.getF64FloatAttr(value));
                              };
                              Value x = draw::makeUniform(n, words);
                              if (double range = limits->high - limits->low; range != 1)
                                x = n.create<arith::MulFOp>(x, constant(range));
                              if (limits->low != 0)
                                x = n.create<arith::AddFOp>(x, constant(limits->low));
                              auto keep = [&](arith::CmpFPredicate isBeyond, double bound) {
                                Value limit = constant(bound);
                                x = n.create<arith::SelectOp>(n.create<arith::CmpFOp>(isBeyond, x, limit), limit, x);
                              };
                              keep(arith::CmpFPredicate::OLT, limits->first);
                              keep(arith::CmpFPredicate::OGT, limits->last);
                              return {roundTo(n, x, element)};
                            });
}

STRATA_SLICE(RandomUniform) {
  // RandomUniformLike reads the size of its operand alone.
  for (StringRef name : {"RandomUniform", "RandomUniformLike"})
    ops.add(name, {.verify = verifyRandomUniform,
                   .inferShapes = inferRandomUniform,
                   .lower = lowerRandomUniform,
                   .handles = true});
}
