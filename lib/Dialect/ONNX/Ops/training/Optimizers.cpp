//===- Optimizers.cpp - Momentum, Adam, Adagrad ---------------------------===//
//
// The variadic input lists all tensors, then all gradients, then each kind of
// state; the output lists the new tensors, then each kind of state. Coefficients
// are computed in double precision, the tensors in their own.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"

// `groups`: tensors, gradients and each kind of state.
template <int64_t groups> static LogicalResult inferOptimizer(ShapeContext &c) {
  unsigned inputs = c.numInputs(2), count = inputs / groups, results = count * (groups - 1);
  if (inputs % groups != 0)
    return c.emitError() << "takes " << groups << " inputs per tensor, which " << inputs << " is not a multiple of";
  if (c.getOperation()->getNumResults() != results)
    return c.emitError() << "has " << c.getOperation()->getNumResults() << " results for " << count << " tensors, not "
                         << results;
  if (auto mode = c.attr<StringAttr>("mode"); mode && mode != "standard" && mode != "nesterov")
    return c.emitError() << "'mode' is '" << mode.getValue() << "', not standard or nesterov";
  for (unsigned i = 0; i < results; ++i) {
    // A state is of its tensor's shape; gradients have no result.
    Type type = mergeTypes(c.input(2, i < count ? i : i + count).getType(), c.input(2, i % count).getType());
    if (!type)
      return c.emitError() << "has inputs of different types for tensor " << i % count;
    c.setType(0, type, i);
  }
  return success();
}

namespace {
// What the update rules are written with.
struct Rule {
  ImplicitLocOpBuilder &b;
  Type type;
  Value operator()(double value) { return constantFloat(b, type, value); }
  Value add(Value x, Value y) { return b.create<arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return b.create<arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return b.create<arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return b.create<arith::DivFOp>(x, y); }
  Value sqrt(Value x) { return b.create<math::SqrtOp>(x); }
  /// `step` > 0 ? later : first.
  Value ifLater(Value step, Value later, Value first) {
    Value zero = b.create<arith::ConstantOp>(b.getI64IntegerAttr(0));
    return b.create<arith::SelectOp>(b.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, step, zero), later, first);
  }
  Value convert(Value x) {
    if (x.getType() == type)
      return x;
    return isa<Float64Type>(type) ? b.create<arith::ExtFOp>(type, x).getResult()
                                  : b.create<arith::TruncFOp>(type, x).getResult();
  }
};
} // namespace

// `prepare` makes scalars of the learning rate (f64) and the number of the step (i64); `update` makes the new tensor
// and the new states of the elements of one tensor, its gradient and its states.
template <int64_t groups, typename Prepare, typename Update>
static SmallVector<Value> lowerOptimizer(Operation *op, LinalgBuilder &b, Prepare prepare, Update update) {
  Rule atDouble{b, b.getF64Type()};
  SmallVector<Value> scalars =
      prepare(atDouble, atDouble.convert(b.extractScalar(b.operand(0))), b.extractScalar(b.operand(1)));
  unsigned count = cast<VersionedOpInterface>(op).getInputGroup(2).size() / groups;
  SmallVector<Value> results(count * (groups - 1));
  for (unsigned i = 0; i < count; ++i) {
    SmallVector<Value> tensors, onnx;
    for (unsigned group = 0; group < groups; ++group) {
      tensors.push_back(b.operand(2, group * count + i));
      onnx.push_back(b.onnxOperand(2, group * count + i));
      for (int64_t d = 0; d < getRank(tensors[0]); ++d)
        b.checkEqual(b.dim(tensors[0], d), b.dim(tensors.back(), d),
                     "a tensor and its gradient or state differ in dimension " + Twine(d));
    }
    Type type = getElementType(tensors[0]);
    Rule here{b, type};
    SmallVector<Value> converted = llvm::map_to_vector(scalars, [&](Value v) { return here.convert(v); });
    for (unsigned result = 0; result + 1 < groups; ++result)
      results[result * count + i] = b.elementwise(
          tensors, type,
          [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value { return update(Rule{n, type}, v, converted)[result]; },
          onnx);
  }
  return results;
}

// g + norm_coefficient * x.
static Value regularize(Rule r, ValueRange v, double coefficient) {
  return coefficient == 0 ? Value(v[1]) : r.add(r.mul(r(coefficient), v[0]), v[1]);
}

static FailureOr<SmallVector<Value>> lowerMomentum(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto momentum = cast<MomentumOp>(op);
  double alpha = momentum.getAlpha().convertToDouble(), beta = momentum.getBeta().convertToDouble();
  double norm = momentum.getNormCoefficient().convertToDouble();
  bool nesterov = momentum.getMode() == "nesterov";
  return lowerOptimizer<3>(
      op, b,
      [&](Rule r, Value rate, Value step) {
        // The gradient counts whole in the first step.
        return SmallVector<Value>{rate, r.ifLater(step, r(beta), r(1))};
      },
      [&](Rule r, ValueRange v, ArrayRef<Value> scalars) {
        Value gradient = regularize(r, v, norm);
        Value state = r.add(r.mul(r(alpha), v[2]), r.mul(scalars[1], gradient));
        Value direction = nesterov ? r.add(gradient, r.mul(r(alpha), state)) : state;
        return SmallVector<Value>{r.sub(v[0], r.mul(scalars[0], direction)), state};
      });
}

static FailureOr<SmallVector<Value>> lowerAdam(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto adam = cast<AdamOp>(op);
  double alpha = adam.getAlpha().convertToDouble(), beta = adam.getBeta().convertToDouble();
  double epsilon = adam.getEpsilon().convertToDouble(), norm = adam.getNormCoefficient().convertToDouble();
  double normPost = adam.getNormCoefficientPost().convertToDouble();
  return lowerOptimizer<4>(
      op, b,
      [&](Rule r, Value rate, Value step) {
        // Both averages start at zero, which the first steps make up for.
        Value times = r.b.create<arith::SIToFPOp>(r.type, step);
        auto missing = [&](double base) { return r.sub(r(1), r.b.create<math::PowFOp>(r(base), times)); };
        Value corrected = r.div(r.mul(rate, r.sqrt(missing(beta))), missing(alpha));
        return SmallVector<Value>{r.ifLater(step, corrected, rate)};
      },
      [&](Rule r, ValueRange v, ArrayRef<Value> scalars) {
        Value gradient = regularize(r, v, norm);
        Value first = r.add(r.mul(r(alpha), v[2]), r.mul(r(1 - alpha), gradient));
        Value second = r.add(r.mul(r(beta), v[3]), r.mul(r(1 - beta), r.mul(gradient, gradient)));
        Value step = r.mul(scalars[0], r.div(first, r.add(r.sqrt(second), r(epsilon))));
        Value tensor = r.sub(v[0], step);
        return SmallVector<Value>{normPost == 0 ? tensor : r.mul(r(1 - normPost), tensor), first, second};
      });
}

static FailureOr<SmallVector<Value>> lowerAdagrad(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto adagrad = cast<AdagradOp>(op);
  double decay = adagrad.getDecayFactor().convertToDouble(), epsilon = adagrad.getEpsilon().convertToDouble();
  double norm = adagrad.getNormCoefficient().convertToDouble();
  return lowerOptimizer<3>(
      op, b,
      [&](Rule r, Value rate, Value step) {
        Value times = r.b.create<arith::SIToFPOp>(r.type, step);
        return SmallVector<Value>{r.div(rate, r.add(r(1), r.mul(times, r(decay))))};
      },
      [&](Rule r, ValueRange v, ArrayRef<Value> scalars) {
        Value gradient = regularize(r, v, norm);
        Value sum = r.add(v[2], r.mul(gradient, gradient));
        Value step = r.div(r.mul(scalars[0], gradient), r.add(r.sqrt(sum), r(epsilon)));
        return SmallVector<Value>{r.sub(v[0], step), sum};
      });
}

STRATA_SLICE(Optimizers) {
  ops.add("training.Momentum", {.inferShapes = inferOptimizer<3>, .lower = lowerMomentum});
  ops.add("training.Adam", {.inferShapes = inferOptimizer<4>, .lower = lowerAdam});
  ops.add("training.Adagrad", {.inferShapes = inferOptimizer<3>, .lower = lowerAdagrad});
}
