//===- Products.cpp - matrix products and convolutions of integers --------===//
//
// MatMulInteger, QLinearMatMul, ConvInteger and QLinearConv are compositions of
// other operators: the zero points are subtracted, the product is taken in a
// type that holds it exactly (int32; double for convolutions), and QLinear*
// quantize it again.
//
//===----------------------------------------------------------------------===//

#include "../Elementwise.h"
#include "Dialect/VersionSteps.h"
#include "llvm/ADT/ScopeExit.h"

namespace {
/// Makes the operators that one is composed of, in a block beside it, and lowers that. After a failure every value is
/// null.
class Composer {
public:
  Composer(Operation *op, LinalgBuilder &b) : op(op), b(b), at(op) {
    // It goes when the source function goes: values of the block stay unique until then.
    at.setInsertionPointToStart(at.create<ModuleOp>(op->getLoc()).getBody());
  }

  template <typename OpTy> Value make(ArrayRef<Value> operands, Type element, ArrayRef<NamedAttribute> attrs = {}) {
    if (llvm::is_contained(operands, Value()))
      return {};
    Operation *made = at.create(
        OperationState(op->getLoc(), OpTy::getOperationName(), operands, UnrankedTensorType::get(element), attrs));
    ShapeContext context(made, b.getAnalysis());
    if (failed(inferResultTypes(context)))
      return {};
    made->getResult(0).setType(context.getResultTypes()[0]);
    return made->getResult(0);
  }
  Value constant(ElementsAttr value) { return at.create<InitializerOp>(op->getLoc(), value); }

  Value cast(Value value, Type element) {
    if (!value || getElementTypeOrSelf(value.getType()) == element)
      return value;
    return make<CastOp>(value, element,
                        at.getNamedAttr("to", at.getI64IntegerAttr(getDataType(*getElementKind(element)))));
  }
  /// A list of numbers for dimension `axis` of a tensor of rank `rank`, such that it broadcasts; others as they are.
  Value alongAxis(Value value, int64_t axis, int64_t rank) {
    std::optional<Shape> shape = value ? getShape(value.getType()) : std::nullopt;
    if (!shape || shape->size() != 1 || (*shape)[0].is(1) || axis < 0 || axis + 1 >= rank)
      return value;
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(1, rank - axis));
    auto type = RankedTensorType::get({static_cast<int64_t>(axes.size())}, at.getI64Type());
    return make<UnsqueezeOp>({value, constant(DenseIntElementsAttr::get(type, axes))},
                             getElementTypeOrSelf(value.getType()));
  }
  /// `value` without its zero point (null: 0), as elements of type `element`.
  Value center(Value value, Value zero, int64_t axis, Type element) {
    value = cast(value, element);
    if (!zero || !value)
      return value;
    int64_t rank = getRank(value);
    return make<SubOp>({value, alongAxis(cast(zero, element), axis, rank)}, element);
  }
  FailureOr<SmallVector<Value>> lower(Value value) {
    if (!value)
      return failure();
    Block *block = at.getInsertionBlock();
    at.create(OperationState(op->getLoc(), YieldOp::getOperationName(), value, {}));
    return b.lowerBlock(*block, {});
  }

private:
  Operation *op;
  LinalgBuilder &b;
  OpBuilder at;
};
} // namespace

static SmallVector<NamedAttribute> getWindowAttributes(Operation *op) {
  SmallVector<NamedAttribute> attrs;
  for (NamedAttribute attr : op->getAttrs())
    if (!attr.getName().getValue().ends_with("SegmentSizes"))
      attrs.push_back(attr);
  return attrs;
}

// The shape that another operator would have of these operands.
template <typename OpTy>
static LogicalResult inferAs(ShapeContext &c, ArrayRef<Value> operands, ArrayRef<NamedAttribute> attrs = {}) {
  OperationState state(c.getOperation()->getLoc(), OpTy::getOperationName(), operands,
                       UnrankedTensorType::get(getElementTypeOrSelf(operands[0].getType())), attrs);
  Operation *other = Operation::create(state);
  auto destroy = llvm::make_scope_exit([&] { other->erase(); });
  ShapeContext context(other, c.getAnalysis());
  if (failed(inferResultTypes(context)))
    return failure();
  if (std::optional<Shape> shape = getShape(context.getResultTypes()[0]))
    c.setShape(0, *shape);
  return success();
}

// acc * (a_scale * b_scale / y_scale), quantized: the scales' quotient first, as one factor.
static Value requantize(Composer &k, Operation *op, Value product, Value scaleA, Value scaleB, Value scaleY,
                        Value zeroY) {
  Type f32 = Float32Type::get(op->getContext());
  Value factor = k.make<DivOp>({k.make<MulOp>({k.cast(scaleA, f32), scaleB}, f32), scaleY}, f32);
  Value real = k.make<MulOp>({k.cast(product, f32), factor}, f32);
  Value one = k.constant(DenseElementsAttr::get(RankedTensorType::get({}, f32), 1.0f));
  return k.make<QuantizeLinearOp>({real, one, zeroY}, getElementType(op->getResult(0)));
}

static LogicalResult refuseLists(Operation *op, unsigned formal, StringRef name) {
  auto type = dyn_cast<RankedTensorType>(getFormalInput(op, formal).getType());
  if (!type || (type.getRank() > 0 && (!type.hasStaticShape() || type.getNumElements() != 1)))
    return op->emitOpError("cannot be compiled: ") << name << " is not one number";
  return success();
}

static LogicalResult inferMatMulInteger(ShapeContext &c) { return inferAs<MatMulOp>(c, {c.input(0), c.input(1)}); }
static LogicalResult inferQLinearMatMul(ShapeContext &c) { return inferAs<MatMulOp>(c, {c.input(0), c.input(3)}); }
static LogicalResult inferConvInteger(ShapeContext &c) {
  return inferAs<ConvOp>(c, {c.input(0), c.input(1)}, getWindowAttributes(c.getOperation()));
}
static LogicalResult inferQLinearConv(ShapeContext &c) {
  // One number, or one for each filter.
  static constexpr std::pair<unsigned, StringLiteral> ofFilters[] = {{4, "w_scale"}, {5, "w_zero_point"}};
  std::optional<Shape> w = c.shape(3);
  for (auto [operand, name] : ofFilters)
    if (std::optional<Shape> own = c.shape(operand); own && !own->empty()) {
      if (own->size() != 1)
        return c.emitError() << "'" << name << "' has rank " << own->size() << ", not 0 or 1";
      Dim count = own->front(), filters = w && !w->empty() ? w->front() : Dim();
      if (count.isStatic() && filters.isStatic() && count.size != 1 && count.size != filters.size)
        return c.emitError() << "'" << name << "' has " << count.size << " elements for " << filters.size << " filters";
    }
  return inferAs<ConvOp>(c, {c.input(0), c.input(3)}, getWindowAttributes(c.getOperation()));
}

// A's zero points are per row, B's per column.
static Value multiply(Composer &k, Value a, Value zeroA, Value b, Value zeroB, Type accumulator) {
  Value x = k.center(a, zeroA, getRank(a) - 2, accumulator);
  Value y = k.center(b, zeroB, getRank(b) - 1, accumulator);
  return k.make<MatMulOp>({x, y}, accumulator);
}

static FailureOr<SmallVector<Value>> lowerMatMulInteger(Operation *op, ValueRange, LinalgBuilder &b) {
  Composer k(op, b);
  Type i32 = IntegerType::get(op->getContext(), 32);
  return k.lower(
      multiply(k, getFormalInput(op, 0), getFormalInput(op, 2), getFormalInput(op, 1), getFormalInput(op, 3), i32));
}

static FailureOr<SmallVector<Value>> lowerQLinearMatMul(Operation *op, ValueRange, LinalgBuilder &b) {
  if (failed(refuseLists(op, 7, "y_zero_point")))
    return failure();
  Composer k(op, b);
  Type f32 = Float32Type::get(op->getContext()), accumulator = IntegerType::get(op->getContext(), 32);
  Value x = getFormalInput(op, 0), y = getFormalInput(op, 3);
  if (!isa<IntegerType>(getElementType(x)) || !isa<IntegerType>(getElementType(y)))
    accumulator = f32;
  Value product = multiply(k, x, getFormalInput(op, 2), y, getFormalInput(op, 5), accumulator);
  int64_t rank = getRank(op->getResult(0));
  auto scale = [&](unsigned formal, int64_t axis) {
    return k.alongAxis(k.cast(getFormalInput(op, formal), f32), axis, rank);
  };
  return k.lower(
      requantize(k, op, product, scale(1, rank - 2), scale(4, rank - 1), scale(6, rank - 2), getFormalInput(op, 7)));
}

static Value convolve(Composer &k, Operation *op, Value x, Value zeroX, Value w, Value zeroW, Value bias) {
  Type f64 = Float64Type::get(op->getContext());
  SmallVector<Value> operands{k.center(x, zeroX, getRank(x), f64), k.center(w, zeroW, 0, f64)};
  if (bias)
    operands.push_back(k.cast(bias, f64));
  return k.make<ConvOp>(operands, f64, getWindowAttributes(op));
}

static FailureOr<SmallVector<Value>> lowerConvInteger(Operation *op, ValueRange, LinalgBuilder &b) {
  Composer k(op, b);
  Value sum = convolve(k, op, getFormalInput(op, 0), getFormalInput(op, 2), getFormalInput(op, 1),
                       getFormalInput(op, 3), Value());
  return k.lower(k.cast(sum, IntegerType::get(op->getContext(), 32)));
}

static FailureOr<SmallVector<Value>> lowerQLinearConv(Operation *op, ValueRange, LinalgBuilder &b) {
  if (failed(refuseLists(op, 7, "y_zero_point")))
    return failure();
  Composer k(op, b);
  Value sum = convolve(k, op, getFormalInput(op, 0), getFormalInput(op, 2), getFormalInput(op, 3),
                       getFormalInput(op, 5), getFormalInput(op, 8));
  Value scaleW = k.alongAxis(getFormalInput(op, 4), 1, getRank(op->getResult(0)));
  return k.lower(requantize(k, op, sum, getFormalInput(op, 1), scaleW, getFormalInput(op, 6), getFormalInput(op, 7)));
}

STRATA_SLICE(Products) {
  ops.add("MatMulInteger", {.inferShapes = inferMatMulInteger, .lower = lowerMatMulInteger});
  ops.add("QLinearMatMul", {.inferShapes = inferQLinearMatMul,
                            .upgrade = keepAttributes,
                            .downgrade = downgradePlainly,
                            .lower = lowerQLinearMatMul});
  ops.add("ConvInteger", {.inferShapes = inferConvInteger, .lower = lowerConvInteger});
  ops.add("QLinearConv", {.inferShapes = inferQLinearConv, .lower = lowerQLinearConv});
}
