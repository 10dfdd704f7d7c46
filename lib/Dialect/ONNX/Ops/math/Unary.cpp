//===- Unary.cpp - elementwise operators of one operand, by table ---------===//

#include "../Slice.h"
#include "Conversion/ScalarOps.h"

static LogicalResult inferUnary(ShapeContext &c) {
  c.copyShape(0);
  return success();
}

using UnaryFn = Value (*)(ImplicitLocOpBuilder &b, Value x, Operation *op);

// Computes in the compute type (f32 for narrower floats) and rounds once.
template <UnaryFn fn>
static FailureOr<SmallVector<Value>> lowerUnary(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type element = cast<TensorType>(op->getResult(0).getType()).getElementType();
  Value result = b.elementwise(operands.take_front(1), getSeamElementType(element),
                               [&](ImplicitLocOpBuilder &nested, ValueRange x) {
                                 Value y = fn(nested, scalar::decode(nested, x[0], element), op);
                                 return scalar::encode(nested, y, element);
                               });
  return SmallVector<Value>{result};
}

// Versions up to 6 carry `consumed_inputs`, an optimisation hint without meaning.
static LogicalResult dropConsumedInputs(Operation *op, PatternRewriter &rewriter) {
  StringRef name = op->getName().getStringRef();
  OperationState state(op->getLoc(), (name.take_front(name.rfind('_') + 1) +
                                      Twine(cast<VersionedOpInterface>(op).getNextVersion()))
                                         .str());
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  for (NamedAttribute attr : op->getAttrs())
    if (attr.getName() != "consumed_inputs")
      state.attributes.push_back(attr);
  rewriter.replaceOp(op, rewriter.create(state));
  return success();
}

static float getFloat(Operation *op, StringRef name, float absent) {
  auto attr = op->getAttrOfType<FloatAttr>(name);
  return attr ? static_cast<float>(attr.getValueAsDouble()) : absent;
}

static Value constant(ImplicitLocOpBuilder &b, Value like, double value) {
  return b.create<arith::ConstantOp>(b.getFloatAttr(like.getType(), value));
}

template <typename MathOp> static Value mathOp(ImplicitLocOpBuilder &b, Value x, Operation *) {
  return b.create<MathOp>(x);
}

static Value relu(ImplicitLocOpBuilder &b, Value x, Operation *) {
  if (isa<FloatType>(x.getType()))
    return b.create<arith::MaximumFOp>(x, constant(b, x, 0));
  return b.create<arith::MaxSIOp>(x, b.create<arith::ConstantOp>(b.getZeroAttr(x.getType())));
}

// 1 / (1 + exp(-x)): exp overflows to infinity for very negative x and the quotient is 0, as it should be.
static Value sigmoid(ImplicitLocOpBuilder &b, Value x, Operation *) {
  Value e = b.create<math::ExpOp>(b.create<arith::NegFOp>(x));
  return b.create<arith::DivFOp>(constant(b, x, 1), b.create<arith::AddFOp>(constant(b, x, 1), e));
}

static Value leakyRelu(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  Value scaled = b.create<arith::MulFOp>(x, constant(b, x, getFloat(op, "alpha", 0.01f)));
  return b.create<arith::SelectOp>(b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, constant(b, x, 0)), scaled, x);
}

static Value neg(ImplicitLocOpBuilder &b, Value x, Operation *) {
  if (isa<FloatType>(x.getType()))
    return b.create<arith::NegFOp>(x);
  return b.create<arith::SubIOp>(b.create<arith::ConstantOp>(b.getZeroAttr(x.getType())), x);
}

static Value abs(ImplicitLocOpBuilder &b, Value x, Operation *op) {
  if (isa<FloatType>(x.getType()))
    return b.create<math::AbsFOp>(x);
  Type element = cast<TensorType>(op->getResult(0).getType()).getElementType();
  return scalar::isUnsigned(element) ? x : b.create<math::AbsIOp>(x).getResult();
}

static Value reciprocal(ImplicitLocOpBuilder &b, Value x, Operation *) {
  return b.create<arith::DivFOp>(constant(b, x, 1), x);
}

STRATA_SLICE(Unary) {
  auto add = [&](StringRef name, decltype(OpBehavior::lower) lower) {
    ops.add(name, {.inferShapes = inferUnary, .upgrade = dropConsumedInputs, .lower = lower});
  };
  add("Abs", lowerUnary<abs>);
  add("Ceil", lowerUnary<mathOp<math::CeilOp>>);
  add("Cos", lowerUnary<mathOp<math::CosOp>>);
  add("Erf", lowerUnary<mathOp<math::ErfOp>>);
  add("Exp", lowerUnary<mathOp<math::ExpOp>>);
  add("Floor", lowerUnary<mathOp<math::FloorOp>>);
  add("LeakyRelu", lowerUnary<leakyRelu>);
  add("Log", lowerUnary<mathOp<math::LogOp>>);
  add("Neg", lowerUnary<neg>);
  add("Reciprocal", lowerUnary<reciprocal>);
  add("Relu", lowerUnary<relu>);
  add("Sigmoid", lowerUnary<sigmoid>);
  add("Sin", lowerUnary<mathOp<math::SinOp>>);
  add("Sqrt", lowerUnary<mathOp<math::SqrtOp>>);
  add("Tanh", lowerUnary<mathOp<math::TanhOp>>);
}
