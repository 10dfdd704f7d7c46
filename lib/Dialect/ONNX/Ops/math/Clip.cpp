//===- Clip.cpp - Clip: elements between two bounds -----------------------===//

#include "../Elementwise.h"
#include "Dialect/VersionSteps.h"

static LogicalResult inferClip(ShapeContext &c) {
  c.copyShape(0);
  if (c.version() < 11)
    return success();
  for (unsigned formal : {1, 2})
    if (std::optional<Shape> shape = c.shape(formal))
      for (const Dim &dim : *shape)
        if (dim.isStatic() && !dim.is(1))
          return c.emitError() << (formal == 1 ? "min" : "max") << " must be a scalar, but is of type "
                               << c.input(formal).getType();
  return success();
}

// Up to version 6 the bounds are attributes: float, whatever the elements are.
static LogicalResult upgradeClip(Operation *op, PatternRewriter &rewriter) {
  if (cast<VersionedOpInterface>(op).getSinceVersion() < 6)
    return dropConsumedInputs(op, rewriter);
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  auto bound = [&](StringRef name, float absent) {
    auto attr = op->getAttrOfType<FloatAttr>(name);
    return makeScalar(rewriter, op->getLoc(), element, attr ? attr.getValueAsDouble() : absent);
  };
  Value low = bound("min", std::numeric_limits<float>::lowest()),
        high = bound("max", std::numeric_limits<float>::max());
  rewriter.replaceOpWithNewOp<ClipOp>(op, op->getResult(0).getType(), op->getOperand(0), low, high);
  return success();
}

// A bound as version 6 has it, a float: of an absent one the limit of the type.
static FailureOr<SmallVector<NamedAttribute>> getBound(Operation *op, unsigned input, StringRef name, bool isMax) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  APFloat bound = APFloat::getLargest(element ? element.getFloatSemantics() : APFloat::IEEEsingle(), !isMax);
  if (Value value = getFormalInput(op, input)) {
    auto constant = dyn_cast_or_null<DenseFPElementsAttr>(getConstant(value));
    if (!constant || constant.getNumElements() != 1)
      return refuseDowngrade(op) << "'" << name << "' is a run-time input, there an attribute", failure();
    bound = *constant.value_begin<APFloat>();
  }
  bool isInexact;
  bound.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &isInexact);
  if (isInexact)
    return refuseDowngrade(op) << "'" << name << "' is no float", failure();
  Builder b(op->getContext());
  return SmallVector<NamedAttribute>{b.getNamedAttr(name, FloatAttr::get(b.getF32Type(), bound))};
}

static LogicalResult downgradeClip(Operation *op, PatternRewriter &rewriter) {
  if (getPreviousVersion(op) != 6)
    return downgradeStep(op, rewriter);
  auto low = getBound(op, 1, "min", false), high = getBound(op, 2, "max", true);
  if (failed(low) || failed(high))
    return failure();
  low->append(*high);
  return replaceByPrevious(op, rewriter, op->getOperand(0), {}, *low);
}

// An absent bound is the lowest or highest finite number of the type. Where min > max, the result is max.
static FailureOr<SmallVector<Value>> lowerClip(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type element = getElementType(op->getResult(0));
  // Bounds have one element, of whatever rank.
  auto scalarOf = [&](unsigned formal) {
    Value bound = b.operand(formal);
    return bound ? b.extractScalar(bound) : Value();
  };
  Value low = scalarOf(1), high = scalarOf(2);
  auto limit = [&](ImplicitLocOpBuilder &n, bool isMax) -> Value {
    TypedAttr attr = isMax ? scalar::getHighest(element) : scalar::getLowest(element);
    if (auto type = dyn_cast<FloatType>(element)) {
      APFloat largest = APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/!isMax);
      bool inexact;
      largest.convert(cast<FloatType>(scalar::getComputeType(element)).getFloatSemantics(),
                      APFloat::rmNearestTiesToEven, &inexact);
      attr = FloatAttr::get(scalar::getComputeType(element), largest);
    }
    return n.create<arith::ConstantOp>(attr);
  };
  auto body = [&](ImplicitLocOpBuilder &n, ValueRange x) {
    Value value = scalar::decode(n, x[0], element);
    Value min = low ? scalar::decode(n, low, element) : limit(n, false);
    Value max = high ? scalar::decode(n, high, element) : limit(n, true);
    if (isa<FloatType>(element))
      value = n.create<arith::MinimumFOp>(n.create<arith::MaximumFOp>(value, min), max);
    else if (scalar::isUnsigned(element))
      value = n.create<arith::MinUIOp>(n.create<arith::MaxUIOp>(value, min), max);
    else
      value = n.create<arith::MinSIOp>(n.create<arith::MaxSIOp>(value, min), max);
    return scalar::encode(n, value, element);
  };
  return SmallVector<Value>{b.elementwise(operands[0], getSeamElementType(element), body)};
}

STRATA_SLICE(Clip) {
  ops.add("Clip", {.inferShapes = inferClip, .upgrade = upgradeClip, .downgrade = downgradeClip, .lower = lowerClip});
}
