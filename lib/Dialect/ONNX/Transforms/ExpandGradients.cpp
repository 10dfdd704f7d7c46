//===- ExpandGradients.cpp - onnx-expand-gradients ------------------------===//
//
// Reverse-mode differentiation of the operators between the values that a
// Gradient names. The rules hold for every version of an operator, unless they
// say otherwise; what they create is of the newest version.
//
//===----------------------------------------------------------------------===//

#include "Dialect/ONNX/IR/ValueNames.h"
#include "Dialect/ONNX/Transforms/Passes.h"
#include "Differentiator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace strata {
#define GEN_PASS_DEF_EXPANDGRADIENTSPASS
#include "Dialect/ONNX/Transforms/Passes.h.inc"

LogicalResult Differentiator::accumulateBroadcast(Operation *op, Value operand, Value gradient) {
  std::optional<Shape> small = getShape(operand.getType()), large = getShape(gradient.getType());
  if (!small || !large)
    return refuse(op) << "the rank of an operand is not known";
  size_t added = large->size() - small->size();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, added));
  for (auto [i, dim] : llvm::enumerate(*small)) {
    const Dim &wide = (*large)[added + i];
    if (dim.is(1) && !wide.is(1))
      axes.push_back(added + i);
    else if (!dim.isStatic() && !dim.sameAs(wide))
      return refuse(op) << "only the run tells whether dimension " << i << " of an operand is broadcast";
  }
  if (!axes.empty())
    gradient = create("ReduceSum", {gradient, list(axes)});
  if (added != 0)
    gradient = create("Reshape", {gradient, shapeOf(operand)});
  accumulate(operand, gradient);
  return success();
}

LogicalResult Differentiator::product(Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1), g = gradients.lookup(op->getResult(0));
  for (Value operand : {a, b})
    if (auto type = dyn_cast<RankedTensorType>(operand.getType()); !type || type.getRank() < 2)
      return refuse(op) << "an operand has no known rank of at least 2";
  if (needs(a) && failed(accumulateBroadcast(op, a, create("MatMul", {g, transposed(b)}))))
    return failure();
  return success(!needs(b) || succeeded(accumulateBroadcast(op, b, create("MatMul", {transposed(a), g}))));
}

LogicalResult Differentiator::gemm(Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1), g = gradients.lookup(op->getResult(0));
  auto flag = [&](StringRef name) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    return attr && attr.getInt() != 0;
  };
  auto factor = [&](StringRef name) {
    auto attr = op->getAttrOfType<FloatAttr>(name);
    return attr ? attr.getValueAsDouble() : 1.0;
  };
  bool transA = flag("transA"), transB = flag("transB");
  auto multiply = [&](Value left, bool transLeft, Value right, bool transRight) {
    return create("Gemm", {left, right},
                  {builder.getNamedAttr("alpha", builder.getF32FloatAttr(factor("alpha"))),
                   integer("transA", transLeft), integer("transB", transRight)});
  };
  if (needs(a))
    accumulate(a, transA ? multiply(b, transB, g, true) : multiply(g, false, b, !transB));
  if (needs(b))
    accumulate(b, transB ? multiply(g, true, a, transA) : multiply(a, !transA, g, false));
  if (op->getNumOperands() < 3 || !needs(op->getOperand(2)))
    return success();
  return accumulateBroadcast(op, op->getOperand(2), mul(g, number(g, factor("beta"))));
}

FailureOr<Differentiator::Reduced> Differentiator::reduced(Operation *op) {
  std::optional<SmallVector<int64_t>> axes = SmallVector<int64_t>();
  if (auto attr = op->getAttrOfType<DenseI64ArrayAttr>("axes"))
    axes->append(attr.asArrayRef().begin(), attr.asArrayRef().end());
  else if (op->getNumOperands() > 1)
    axes = getIntegers(getConstant(op->getOperand(1)));
  if (!axes)
    return refuse(op) << "its axes are not known";
  auto keep = op->getAttrOfType<IntegerAttr>("keepdims");
  auto noop = op->getAttrOfType<IntegerAttr>("noop_with_empty_axes");
  return Reduced{*axes, keep && keep.getInt() == 0, axes->empty() && noop && noop.getInt() != 0};
}

// ReduceSum and ReduceMean.
LogicalResult Differentiator::reduction(Operation *op) {
  Value x = op->getOperand(0), y = op->getResult(0), g = gradients.lookup(y);
  FailureOr<Reduced> by = reduced(op);
  if (failed(by))
    return failure();
  if (by->nothing) {
    accumulate(x, g);
    return success();
  }
  // Without the axes, the one element broadcasts.
  if (by->dropped && !by->axes.empty())
    g = create("Unsqueeze", {g, list(by->axes)});
  if (getUnversionedName(op) == "ReduceMean") {
    Type i64 = builder.getI64Type();
    Value count = create("Div", {create("Size", x, {}, i64), create("Size", y, {}, i64)});
    Type element = elementType(x);
    g = div(g, create("Cast", count, integer("to", onnx::getDataType(*onnx::getElementKind(element))), element));
  }
  accumulate(x, create("Expand", {g, shapeOf(x)}));
  return success();
}

// Softmax and LogSoftmax.
LogicalResult Differentiator::softmax(Operation *op) {
  Value x = op->getOperand(0), y = op->getResult(0), g = gradients.lookup(y);
  auto attr = op->getAttrOfType<IntegerAttr>("axis");
  int64_t version = cast<VersionedOpInterface>(op).getSinceVersion(), axis = attr           ? attr.getInt()
                                                                             : version < 13 ? 1
                                                                                            : -1;
  // Before 13, all dimensions from the axis on are one.
  auto type = dyn_cast<RankedTensorType>(x.getType());
  if (version < 13 && (!type || (axis != -1 && axis != type.getRank() - 1)))
    return refuse(op) << "of version " << version << ", only the last axis has a rule";
  auto sum = [&](Value value) { return create("ReduceSum", {value, list(axis)}); };
  if (getUnversionedName(op) == "Softmax")
    accumulate(x, mul(y, sub(g, sum(mul(g, y)))));
  else
    accumulate(x, sub(g, mul(create("Exp", y), sum(g))));
  return success();
}

LogicalResult Differentiator::differentiate(Operation *op) {
  Value y = op->getResult(0), g = gradients.lookup(y), x = op->getOperand(0);
  if (isa<onnx::CastShapeOp>(op)) {
    accumulate(x, g);
    return success();
  }
  StringRef name = isa<VersionedOpInterface>(op) ? getUnversionedName(op) : StringRef();
  if (std::optional<LogicalResult> done = rule(op, name))
    return *done;
  for (OpResult result : op->getResults().drop_front())
    if (gradients.contains(result))
      return refuse(op) << "there is no rule for its output " << result.getResultNumber();
  if (op->hasAttr("broadcast"))
    return refuse(op) << "there is no rule for operands of which one is broadcast along an axis";
  if (name == "Where") {
    Value a = op->getOperand(1), b = op->getOperand(2), zero = number(g, 0);
    if (needs(a) && failed(accumulateBroadcast(op, a, where(x, g, zero))))
      return failure();
    return success(!needs(b) || succeeded(accumulateBroadcast(op, b, where(x, zero, g))));
  }
  if (!isa<FloatType>(elementType(y)) || !isa<FloatType>(elementType(x)))
    return refuse(op) << "it does not compute with real numbers";

  // One input, the same shape.
  auto unary =
      llvm::StringSwitch<Value (*)(Differentiator &, Value, Value, Value)>(name)
          .Case("Acos", [](auto &d, Value x, Value y,
                           Value g) { return d.neg(d.div(g, d.create("Sqrt", d.sub(d.number(x, 1), d.mul(x, x))))); })
          .Case("Acosh", [](auto &d, Value x, Value y,
                            Value g) { return d.div(g, d.create("Sqrt", d.sub(d.mul(x, x), d.number(x, 1)))); })
          .Case("Asin", [](auto &d, Value x, Value y,
                           Value g) { return d.div(g, d.create("Sqrt", d.sub(d.number(x, 1), d.mul(x, x)))); })
          .Case("Asinh", [](auto &d, Value x, Value y,
                            Value g) { return d.div(g, d.create("Sqrt", d.add(d.mul(x, x), d.number(x, 1)))); })
          .Case("Atan", [](auto &d, Value x, Value y, Value g) { return d.div(g, d.add(d.mul(x, x), d.number(x, 1))); })
          .Case("Atanh",
                [](auto &d, Value x, Value y, Value g) { return d.div(g, d.sub(d.number(x, 1), d.mul(x, x))); })
          .Case("Cosh", [](auto &d, Value x, Value y, Value g) { return d.mul(g, d.create("Sinh", x)); })
          .Case("Sinh", [](auto &d, Value x, Value y, Value g) { return d.mul(g, d.create("Cosh", x)); })
          .Case("Tan", [](auto &d, Value x, Value y, Value g) { return d.mul(g, d.add(d.mul(y, y), d.number(y, 1))); })
          .Case("Abs", [](auto &d, Value x, Value y, Value g) { return d.mul(g, d.create("Sign", x)); })
          .Case("Cos", [](auto &d, Value x, Value y, Value g) { return d.neg(d.mul(g, d.create("Sin", x))); })
          .Case("Erf",
                [](auto &d, Value x, Value y, Value g) {
                  return d.mul(g, d.mul(d.create("Exp", d.neg(d.mul(x, x))), d.number(x, 1.1283791670955126)));
                })
          .Case("Exp", [](auto &d, Value x, Value y, Value g) { return d.mul(g, y); })
          .Case("Identity", [](auto &d, Value x, Value y, Value g) { return g; })
          .Case("Log", [](auto &d, Value x, Value y, Value g) { return d.div(g, x); })
          .Case("Neg", [](auto &d, Value x, Value y, Value g) { return d.neg(g); })
          .Case("Reciprocal", [](auto &d, Value x, Value y, Value g) { return d.neg(d.mul(g, d.mul(y, y))); })
          .Case("Relu",
                [](auto &d, Value x, Value y, Value g) {
                  Value zero = d.number(x, 0);
                  return d.where(d.create("Greater", {x, zero}, {}, d.builder.getI1Type()), g, zero);
                })
          .Case("Sigmoid",
                [](auto &d, Value x, Value y, Value g) { return d.mul(g, d.mul(y, d.sub(d.number(y, 1), y))); })
          .Case("Sin", [](auto &d, Value x, Value y, Value g) { return d.mul(g, d.create("Cos", x)); })
          .Case("Softplus", [](auto &d, Value x, Value y, Value g) { return d.mul(g, d.create("Sigmoid", x)); })
          .Case("Sqrt", [](auto &d, Value x, Value y, Value g) { return d.div(g, d.add(y, y)); })
          .Case("Tanh", [](auto &d, Value x, Value y, Value g) { return d.mul(g, d.sub(d.number(y, 1), d.mul(y, y))); })
          .Default(nullptr);
  if (unary) {
    accumulate(x, unary(*this, x, y, g));
    return success();
  }
  if (name == "Sum") {
    for (Value operand : op->getOperands())
      if (needs(operand) && failed(accumulateBroadcast(op, operand, g)))
        return failure();
    return success();
  }
  if (llvm::is_contained({"Flatten", "Reshape", "Squeeze", "Unsqueeze"}, name)) {
    accumulate(x, create("Reshape", {g, shapeOf(x)}));
    return success();
  }
  if (name == "Expand")
    return accumulateBroadcast(op, x, g);
  if (name == "Transpose") {
    SmallVector<NamedAttribute> attributes;
    if (auto perm = op->getAttrOfType<DenseI64ArrayAttr>("perm")) {
      SmallVector<int64_t> inverse(perm.size());
      for (auto [i, axis] : llvm::enumerate(perm.asArrayRef()))
        inverse[axis] = i;
      attributes.push_back(builder.getNamedAttr("perm", builder.getDenseI64ArrayAttr(inverse)));
    }
    accumulate(x, create("Transpose", g, attributes));
    return success();
  }
  if (name == "Cast" || name == "CastLike") {
    Type element = elementType(x);
    accumulate(x, create("Cast", g, integer("to", onnx::getDataType(*onnx::getElementKind(element))), element));
    return success();
  }
  if (name == "MatMul")
    return product(op);
  if (name == "Gemm")
    return gemm(op);
  if (name == "ReduceSum" || name == "ReduceMean")
    return reduction(op);
  if (name == "Softmax" || name == "LogSoftmax")
    return softmax(op);

  // Two inputs that are broadcast.
  if (llvm::is_contained({"Add", "Sub", "Mul", "Div", "Pow"}, name)) {
    Value z = op->getOperand(1);
    auto first = [&]() -> Value {
      if (name == "Mul")
        return mul(g, z);
      if (name == "Div")
        return div(g, z);
      if (name == "Pow")
        return mul(g, mul(z, create("Pow", {x, sub(z, number(z, 1))})));
      return g;
    };
    auto second = [&]() -> Value {
      if (name == "Sub")
        return neg(g);
      if (name == "Mul")
        return mul(g, x);
      if (name == "Div")
        return neg(div(mul(g, y), z));
      if (name == "Pow")
        return mul(g, mul(y, create("Log", x)));
      return g;
    };
    if (name == "Pow" && elementType(x) != elementType(z))
      return refuse(op) << "there is no rule for a base and an exponent of different types";
    if (needs(x) && failed(accumulateBroadcast(op, x, first())))
      return failure();
    return success(!needs(z) || succeeded(accumulateBroadcast(op, z, second())));
  }
  if (auto versioned = dyn_cast<VersionedOpInterface>(op); versioned && versioned.hasFunctionBody())
    return body(op);
  return refuse(op) << "there is no rule for this operator";
}

LogicalResult Differentiator::run(Value y, ArrayRef<Operation *> slice, const llvm::DenseSet<Value> &dependent) {
  active = dependent;
  if (!needs(y))
    return success();
  gradients[y] = like(y, 1);
  return sweep(slice);
}

namespace {
struct ExpandGradientsPass : impl::ExpandGradientsPassBase<ExpandGradientsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      // What the names of the graph mean at a place in it.
      llvm::StringMap<Value> names;
      for (BlockArgument argument : function.getArguments())
        if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "onnx.name"))
          names[name.getValue()] = argument;
      for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
        SmallVector<std::pair<std::string, Value>> results;
        for (OpResult result : op.getResults())
          results.emplace_back(onnx::getValueName(result).str(), result);
        if (isa<VersionedOpInterface>(op) && getUnversionedName(&op) == "training.Gradient") {
          FailureOr<SmallVector<Value>> gradients = expand(&op, names);
          if (failed(gradients))
            return signalPassFailure();
          for (auto [result, gradient] : llvm::zip(results, *gradients))
            result.second = gradient;
        }
        for (auto &[name, value] : results)
          if (!name.empty())
            names[name] = value;
      }
    }
  }

  static FailureOr<SmallVector<Value>> expand(Operation *op, const llvm::StringMap<Value> &names) {
    auto find = [&](StringRef name) -> FailureOr<Value> {
      if (Value value = names.lookup(name))
        return value;
      return op->emitOpError("cannot be compiled: no value before it is named '") << name << "'";
    };
    SmallVector<Value> named;
    auto list = [&](StringRef attribute) -> LogicalResult {
      auto array = op->getAttrOfType<ArrayAttr>(attribute);
      for (Attribute name : array ? array.getValue() : ArrayRef<Attribute>()) {
        FailureOr<Value> value = find(cast<StringAttr>(name).getValue());
        if (failed(value))
          return failure();
        named.push_back(*value);
      }
      return success();
    };
    if (failed(list("xs")))
      return failure();
    size_t count = named.size();
    FailureOr<Value> y = find(op->getAttrOfType<StringAttr>("y").getValue());
    if (failed(list("zs")) || failed(y))
      return failure();
    if (named.size() != op->getNumOperands())
      return op->emitOpError("has ") << op->getNumOperands() << " inputs for " << named.size() << " names in xs and zs",
             failure();
    if (op->getNumResults() > count)
      return op->emitOpError("has ") << op->getNumResults() << " outputs for " << count << " names in xs", failure();

    // What the graph from the named values to y consists of.
    llvm::DenseSet<Value> dependent(named.begin(), named.end());
    llvm::SetVector<Operation *> needed;
    SmallVector<Value> work{*y};
    while (!work.empty()) {
      Value value = work.pop_back_val();
      Operation *producer = value.getDefiningOp();
      if (llvm::is_contained(named, value) || !producer || !needed.insert(producer))
        continue;
      llvm::append_range(work, producer->getOperands());
    }
    SmallVector<Operation *> slice;
    for (Operation &other : *op->getBlock())
      if (needed.contains(&other) &&
          llvm::any_of(other.getOperands(), [&](Value operand) { return dependent.contains(operand); })) {
        slice.push_back(&other);
        dependent.insert(other.result_begin(), other.result_end());
      }

    // At other values than the graph's own ones, the graph is computed again.
    Value target = *y;
    SmallVector<Value> inputs(op->getOperands());
    if (!llvm::equal(named, inputs)) {
      OpBuilder builder(op);
      IRMapping mapping;
      for (auto [from, to] : llvm::zip_equal(named, inputs)) {
        // The same value for two names still is two variables.
        to = builder.create<onnx::CastShapeOp>(op->getLoc(), to.getType(), to);
        mapping.map(from, to);
      }
      for (Operation *&other : slice)
        other = builder.clone(*other, mapping);
      target = mapping.lookupOrDefault(target);
    }
    llvm::DenseSet<Value> active(inputs.begin(), inputs.begin() + count);
    for (Operation *other : slice)
      if (llvm::any_of(other->getOperands(), [&](Value operand) { return active.contains(operand); }))
        active.insert(other->result_begin(), other->result_end());

    Differentiator differentiator(op);
    if (failed(differentiator.run(target, slice, active)))
      return failure();
    SmallVector<Value> gradients;
    for (auto [result, input] : llvm::zip(op->getResults(), inputs)) {
      if (eraseShape(result.getType()) != eraseShape(input.getType()))
        return op->emitOpError("has a gradient of type ")
                   << result.getType() << " for an input of type " << input.getType(),
               failure();
      Value gradient = differentiator.gradientOf(input);
      gradients.push_back(gradient);
      if (gradient.getType() != result.getType())
        gradient = OpBuilder(op).create<onnx::CastShapeOp>(op->getLoc(), result.getType(), gradient);
      result.replaceAllUsesWith(gradient);
    }
    op->erase();
    return gradients;
  }
};
} // namespace
} // namespace strata
