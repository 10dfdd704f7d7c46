//===- Unary.cpp - elementwise operators of one operand, by table ---------===//
//
// Each computes in the compute type (f32 for narrower floats) and rounds once.
//
//===----------------------------------------------------------------------===//

#include "../Elementwise.h"
#include "Dialect/VersionSteps.h"
#include <cmath>

using UnaryFn = Value (*)(ImplicitLocOpBuilder &b, Value x, Operation *op);

template <UnaryFn fn>
static FailureOr<SmallVector<Value>> lowerUnary(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type from = getElementType(op->getOperand(0)), to = getElementType(op->getResult(0));
  Value result = b.elementwise(operands, getSeamElementType(to), [&](ImplicitLocOpBuilder &nested, ValueRange x) {
    return scalar::encode(nested, fn(nested, scalar::decode(nested, x[0], from), op), to);
  });
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// Vocabulary
//===----------------------------------------------------------------------===//

// An attribute that has a default, by its name: the interface of all alpha, beta, gamma.
static double getFloat(Operation *op, StringRef name, float absent) {
  auto attr = op->getAttrOfType<FloatAttr>(name);
  return attr ? attr.getValueAsDouble() : absent;
}

static Value constant(ImplicitLocOpBuilder &b, Value like, double value) {
  if (isa<FloatType>(like.getType()))
    return b.create<arith::ConstantOp>(b.getFloatAttr(like.getType(), value));
  return b.create<arith::ConstantOp>(b.getIntegerAttr(like.getType(), static_cast<int64_t>(value)));
}

static Value add(ImplicitLocOpBuilder &b, Value x, Value y) { return b.create<arith::AddFOp>(x, y); }
static Value mul(ImplicitLocOpBuilder &b, Value x, Value y) { return b.create<arith::MulFOp>(x, y); }
static Value div(ImplicitLocOpBuilder &b, Value x, Value y) { return b.create<arith::DivFOp>(x, y); }
static Value add(ImplicitLocOpBuilder &b, Value x, double y) { return add(b, x, constant(b, x, y)); }
static Value mul(ImplicitLocOpBuilder &b, Value x, double y) { return y == 1 ? x : mul(b, x, constant(b, x, y)); }
static Value select(ImplicitLocOpBuilder &b, Value condition, Value x, Value y) {
  return b.create<arith::SelectOp>(condition, x, y);
}
// False for NaN.
static Value less(ImplicitLocOpBuilder &b, Value x, Value y) {
  return b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, y);
}
static Value isNegative(ImplicitLocOpBuilder &b, Value x) { return less(b, x, constant(b, x, 0)); }
// Between two numbers; NaN stays NaN.
static Value clamp(ImplicitLocOpBuilder &b, Value x, double low, double high) {
  return b.create<arith::MinimumFOp>(b.create<arith::MaximumFOp>(x, constant(b, x, low)), constant(b, x, high));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <typename MathOp> static Value mathOp(ImplicitLocOpBuilder &b, Value x, Operation *) {
  return b.create<MathOp>(x);
}

static Value abs(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  if (isa<FloatType>(x.getType()))
    return b.create<math::AbsFOp>(x);
  return scalar::isUnsigned(getElementType(op->getResult(0))) ? x : b.create<math::AbsIOp>(x).getResult();
}

// max(0, x) + min(0, alpha * (exp(x / alpha) - 1))
static Value celu(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  double alpha = getFloat(op, "alpha", 1);
  Value zero = constant(b, x, 0);
  Value curve = mul(b, b.create<math::ExpM1Op>(div(b, x, constant(b, x, alpha))), alpha);
  return add(b, b.create<arith::MaximumFOp>(x, zero), b.create<arith::MinimumFOp>(curve, zero));
}

static Value elu(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  return select(b, isNegative(b, x), mul(b, b.create<math::ExpM1Op>(x), getFloat(op, "alpha", 1)), x);
}

static Value gelu(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  Value inner;
  if (cast<GeluOp>(op).getApproximate() == "tanh") { // sqrt(2 / pi) * (x + 0.044715 x^3)
    Value cube = mul(b, mul(b, x, x), x);
    inner = b.create<math::TanhOp>(mul(b, add(b, x, mul(b, cube, 0.044715)), 0.79788456080286535588));
  } else { // x / sqrt(2)
    inner = b.create<math::ErfOp>(mul(b, x, 0.70710678118654752440));
  }
  return mul(b, mul(b, x, 0.5), add(b, inner, 1));
}

static Value hardSigmoid(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  return clamp(b, add(b, mul(b, x, getFloat(op, "alpha", 0.2f)), getFloat(op, "beta", 0.5f)), 0, 1);
}

// x * max(0, min(1, x / 6 + 1 / 2))
static Value hardSwish(ImplicitLocOpBuilder &b, Value x, Operation *) {
  return mul(b, x, clamp(b, add(b, mul(b, x, 1.0 / 6), 0.5), 0, 1));
}

static Value isInf(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  auto isInf = cast<IsInfOp>(op);
  auto is = [&](double value) -> Value {
    return b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, constant(b, x, value));
  };
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (isInf.getDetectNegative() && isInf.getDetectPositive())
    return b.create<arith::OrIOp>(is(inf), is(-inf));
  if (isInf.getDetectNegative() || isInf.getDetectPositive())
    return is(isInf.getDetectPositive() ? inf : -inf);
  return b.create<arith::ConstantOp>(b.getBoolAttr(false));
}

static Value isNaN(ImplicitLocOpBuilder &b, Value x, Operation *) {
  return b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
}

static Value leakyRelu(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  return select(b, isNegative(b, x), mul(b, x, getFloat(op, "alpha", 0.01f)), x);
}

// log(1 + exp(x)), without overflow for large x and without cancellation for small ones.
static Value softplus(ImplicitLocOpBuilder &b, Value x, Operation *) {
  Value decay = b.create<math::ExpOp>(b.create<arith::NegFOp>(b.create<math::AbsFOp>(x)));
  return add(b, b.create<arith::MaximumFOp>(x, constant(b, x, 0)), b.create<math::Log1pOp>(decay));
}

static Value mish(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  return mul(b, x, b.create<math::TanhOp>(softplus(b, x, op)));
}

static Value neg(ImplicitLocOpBuilder &b, Value x, Operation *) {
  if (isa<FloatType>(x.getType()))
    return b.create<arith::NegFOp>(x);
  return b.create<arith::SubIOp>(constant(b, x, 0), x);
}

static Value invertBits(ImplicitLocOpBuilder &b, Value x, Operation *) {
  return b.create<arith::XOrIOp>(x, b.create<arith::ConstantOp>(b.getIntegerAttr(x.getType(), -1)));
}

static Value reciprocal(ImplicitLocOpBuilder &b, Value x, Operation *) { return div(b, constant(b, x, 1), x); }

static Value relu(ImplicitLocOpBuilder &b, Value x, Operation *) {
  if (isa<FloatType>(x.getType()))
    return b.create<arith::MaximumFOp>(x, constant(b, x, 0));
  return b.create<arith::MaxSIOp>(x, constant(b, x, 0));
}

static Value selu(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  double alpha = getFloat(op, "alpha", 1.67326319217681884765625f),
         gamma = getFloat(op, "gamma", 1.05070102214813232421875f);
  return mul(b, select(b, isNegative(b, x), mul(b, b.create<math::ExpM1Op>(x), alpha), x), gamma);
}

// lambd and bias are numbers also where the elements are integers: those are shifted in f64 and truncated.
static Value shrink(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  Type element = getElementType(op->getResult(0));
  double bias = getFloat(op, "bias", 0), lambd = getFloat(op, "lambd", 0.5f);
  bool isInteger = isa<IntegerType>(x.getType());
  Value number = isInteger ? scalar::convert(b, x, element, b.getF64Type()) : x;
  auto moved = [&](double by) {
    if (by == 0)
      return x;
    Value sum = add(b, number, by);
    return isInteger ? scalar::convert(b, sum, b.getF64Type(), element) : sum;
  };
  Value isLow = less(b, number, constant(b, number, -lambd)), isHigh = less(b, constant(b, number, lambd), number);
  return select(b, isLow, moved(bias), select(b, isHigh, moved(-bias), constant(b, x, 0)));
}

static Value sigmoid(ImplicitLocOpBuilder &b, Value x, Operation *) { return scalar::logistic(b, x); }

static Value sign(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  Value zero = constant(b, x, 0), one = constant(b, x, 1), minusOne = constant(b, x, -1);
  if (!isa<FloatType>(x.getType())) {
    Value notZero = b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, x, zero);
    if (scalar::isUnsigned(getElementType(op->getResult(0))))
      return select(b, notZero, one, zero);
    Value below = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, x, zero);
    return select(b, below, minusOne, select(b, notZero, one, zero));
  }
  // NaN has no sign and stays; so does a zero.
  return select(b, isNegative(b, x), minusOne, select(b, less(b, zero, x), one, x));
}

static Value softsign(ImplicitLocOpBuilder &b, Value x, Operation *) {
  return div(b, x, add(b, b.create<math::AbsFOp>(x), 1));
}

static Value swish(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  double alpha = getFloat(op, "alpha", 1);
  return mul(b, x, scalar::logistic(b, alpha == 1 ? x : mul(b, x, alpha)));
}

static Value thresholdedRelu(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  return select(b, less(b, constant(b, x, getFloat(op, "alpha", 1)), x), x, constant(b, x, 0));
}

//===----------------------------------------------------------------------===//
// Rules, upgrade, compile-time integers
//===----------------------------------------------------------------------===//

static LogicalResult verifyGelu(Operation *op) {
  auto approximate = op->getAttrOfType<StringAttr>("approximate");
  if (approximate && approximate != "none" && approximate != "tanh")
    return op->emitOpError("approximate is '") << approximate.getValue() << "', but must be none or tanh";
  return success();
}

// What Selu means by attributes that are absent; version 1 has rounder defaults.
static SmallVector<NamedAttribute> seluDefaults(Operation *op, PatternRewriter &rewriter, int64_t version) {
  SmallVector<NamedAttribute> added;
  auto keep = [&](StringRef name, float absent) {
    if (!op->getAttr(name))
      added.push_back(rewriter.getNamedAttr(name, rewriter.getF32FloatAttr(absent)));
  };
  keep("alpha", version == 1 ? 1.6732f : 1.67326319f);
  keep("gamma", version == 1 ? 1.0507f : 1.05070102f);
  return added;
}

static LogicalResult upgradeSelu(Operation *op, PatternRewriter &rewriter) {
  return changeAttributes(op, rewriter, {"consumed_inputs"}, seluDefaults(op, rewriter, 1));
}

static LogicalResult downgradeSelu(Operation *op, PatternRewriter &rewriter) {
  if (getPreviousVersion(op) >= 6)
    return downgradeStep(op, rewriter);
  return replaceByPrevious(op, rewriter, op->getOperand(0), {}, seluDefaults(op, rewriter, 6));
}

// Version 9 also has integers: computed in f32, truncated.
static LogicalResult upgradeErf(Operation *op, PatternRewriter &rewriter) {
  Value x = op->getOperand(0);
  Type element = getElementTypeOrSelf(x.getType());
  if (isa<FloatType>(element))
    return keepAttributes(op, rewriter);
  auto convert = [&](Value value, Type type) -> Value {
    int64_t kind = getDataType(*getElementKind(getElementTypeOrSelf(type)));
    OperationState state(op->getLoc(), CastOp::getOperationName(), value, type,
                         rewriter.getNamedAttr("to", rewriter.getI64IntegerAttr(kind)));
    return rewriter.create(state)->getResult(0);
  };
  Value number = convert(x, cast<TensorType>(x.getType()).clone(rewriter.getF32Type()));
  Value erf = rewriter.create<ErfOp>(op->getLoc(), number.getType(), number);
  rewriter.replaceOp(op, convert(erf, op->getResult(0).getType()));
  return success();
}

template <int64_t (*fn)(int64_t)> static ValueAnalysis::Values inferElements(ShapeContext &c) {
  Type element = c.elementType(0);
  ValueAnalysis::Values values = c.values(0);
  if (!values || !isa<IntegerType>(element))
    return std::nullopt;
  for (Dim &value : *values)
    value = value.isStatic() ? Dim(wrapInteger(fn(value.size), element)) : Dim();
  return values;
}

template <double (*fn)(double)> static ValueAnalysis::Values inferFloats(ShapeContext &c) {
  ValueAnalysis::Values values = c.elements(0);
  if (!values || !isa<FloatType>(c.elementType(0)))
    return std::nullopt;
  for (Dim &value : *values)
    value = value.isStatic() ? Dim::ofFloat(roundFloat(fn(value.asFloat()), c.elementType(0))) : Dim();
  return values;
}
template <int64_t (*fn)(int64_t), double (*floatFn)(double)>
static ValueAnalysis::Values inferNumbers(ShapeContext &c) {
  return isa_and_nonnull<FloatType>(c.elementType(0)) ? inferFloats<floatFn>(c) : inferElements<fn>(c);
}

static int64_t negateInteger(int64_t x) { return static_cast<int64_t>(0 - static_cast<uint64_t>(x)); }
static int64_t absInteger(int64_t x) { return x < 0 ? negateInteger(x) : x; }
static double negateFloat(double x) { return -x; }
static double invertFloat(double x) { return 1 / x; }
static double absFloat(double x) { return std::abs(x); }
static double ceilFloat(double x) { return std::ceil(x); }
static double floorFloat(double x) { return std::floor(x); }
static double squareRootFloat(double x) { return std::sqrt(x); }
// Ties to even.
static double roundFloatToEven(double x) { return std::nearbyint(x); }
static int64_t notInteger(int64_t x) { return x == 0; }

STRATA_SLICE(Unary) {
  auto add = [&](StringRef name, decltype(OpBehavior::lower) lower,
                 decltype(OpBehavior::inferValues) values = nullptr) {
    ops.add(name, {.inferShapes = inferSameShape,
                   .inferValues = values,
                   .upgrade = dropConsumedInputs,
                   .downgrade = downgradePlainly,
                   .lower = lower});
  };
  add("Abs", lowerUnary<abs>, inferNumbers<absInteger, absFloat>);
  add("Acos", lowerUnary<mathOp<math::AcosOp>>);
  add("Acosh", lowerUnary<mathOp<math::AcoshOp>>);
  add("Asin", lowerUnary<mathOp<math::AsinOp>>);
  add("Asinh", lowerUnary<mathOp<math::AsinhOp>>);
  add("Atan", lowerUnary<mathOp<math::AtanOp>>);
  add("Atanh", lowerUnary<mathOp<math::AtanhOp>>);
  add("BitwiseNot", lowerUnary<invertBits>);
  add("Ceil", lowerUnary<mathOp<math::CeilOp>>, inferFloats<ceilFloat>);
  add("Celu", lowerUnary<celu>);
  add("Cos", lowerUnary<mathOp<math::CosOp>>);
  add("Cosh", lowerUnary<mathOp<math::CoshOp>>);
  add("Elu", lowerUnary<elu>);
  add("Exp", lowerUnary<mathOp<math::ExpOp>>);
  add("Floor", lowerUnary<mathOp<math::FloorOp>>, inferFloats<floorFloat>);
  add("HardSigmoid", lowerUnary<hardSigmoid>);
  add("HardSwish", lowerUnary<hardSwish>);
  add("IsInf", lowerUnary<isInf>);
  add("IsNaN", lowerUnary<isNaN>);
  add("LeakyRelu", lowerUnary<leakyRelu>);
  add("Log", lowerUnary<mathOp<math::LogOp>>);
  add("Mish", lowerUnary<mish>);
  add("Neg", lowerUnary<neg>, inferNumbers<negateInteger, negateFloat>);
  add("Not", lowerUnary<invertBits>, inferElements<notInteger>);
  add("Reciprocal", lowerUnary<reciprocal>, inferFloats<invertFloat>);
  add("Relu", lowerUnary<relu>);
  add("Round", lowerUnary<mathOp<math::RoundEvenOp>>, inferFloats<roundFloatToEven>);
  add("Shrink", lowerUnary<shrink>);
  add("Sigmoid", lowerUnary<sigmoid>);
  add("Sign", lowerUnary<sign>);
  add("Sin", lowerUnary<mathOp<math::SinOp>>);
  add("Sinh", lowerUnary<mathOp<math::SinhOp>>);
  add("Softplus", lowerUnary<softplus>);
  add("Softsign", lowerUnary<softsign>);
  add("Sqrt", lowerUnary<mathOp<math::SqrtOp>>, inferFloats<squareRootFloat>);
  add("Swish", lowerUnary<swish>);
  add("Tan", lowerUnary<mathOp<math::TanOp>>);
  add("Tanh", lowerUnary<mathOp<math::TanhOp>>);
  add("ThresholdedRelu", lowerUnary<thresholdedRelu>);
  ops.add("Erf", {.inferShapes = inferSameShape,
                  .upgrade = upgradeErf,
                  .downgrade = downgradePlainly,
                  .lower = lowerUnary<mathOp<math::ErfOp>>});
  ops.add("Gelu", {.verify = verifyGelu, .inferShapes = inferSameShape, .lower = lowerUnary<gelu>});
  ops.add(
      "Selu",
      {.inferShapes = inferSameShape, .upgrade = upgradeSelu, .downgrade = downgradeSelu, .lower = lowerUnary<selu>});
}
