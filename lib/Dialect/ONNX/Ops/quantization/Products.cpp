//===- Products.cpp - matrix products and convolutions of integers --------===//
//
// MatMulInteger, QLinearMatMul, ConvInteger and QLinearConv multiply elements of
// 8 bits as they are, with sums of 32. Zero points are corrected by sums of the
// operands, of which those of constants are constant:
//
//   sum (a - za) (b - zb) = sum a b - za sum (b - zb) - zb sum a
//
// A convolution pads with za. QLinear* scale and quantize the sums again. What is
// around the product is a composition of other operators.
//
//===----------------------------------------------------------------------===//

#include "../Composer.h"
#include "../Convolve.h"
#include "../MatrixProduct.h"
#include "Dialect/VersionSteps.h"
#include "llvm/ADT/ScopeExit.h"

namespace {
/// An operand of 8-bit integers as the product takes it.
struct Factor {
  Value value; ///< lowered
  Type element;
  Value zero; ///< what is left to correct; null: nothing
  Value own;  ///< the operator's zero point, if it is not 0
};
} // namespace

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

static bool isAll(LinalgBuilder &b, Value integers, int64_t number) {
  std::optional<SmallVector<int64_t>> known = b.getIntegers(integers);
  return known && llvm::all_equal(*known) && (known->empty() || known->front() == number);
}

static Factor getFactor(LinalgBuilder &b, Value value, Value zero) {
  if (zero && isAll(b, zero, 0))
    zero = {};
  Factor factor{b.lookup(value), getElementType(value), zero, zero};
  if (zero && scalar::isUnsigned(factor.element) && value.getDefiningOp<InitializerOp>() && isAll(b, zero, 128)) {
    // Unsigned weights around 128 are signed ones around 0.
    factor = {b.elementwise(factor.value, b.getI8Type(),
                            [](ImplicitLocOpBuilder &n, ValueRange x) -> Value {
                              Value sign = n.create<arith::ConstantOp>(n.getI8IntegerAttr(-128));
                              return n.create<arith::XOrIOp>(x[0], sign);
                            }),
              b.getI8Type(), Value(), zero};
  }
  return factor;
}

// The product of elements that an accumulator of another type than i32 holds: A's zero points are per row, B's per
// column.
static Value multiplyCentered(Composer &k, Value a, Value zeroA, Value b, Value zeroB, Type accumulator) {
  Value x = k.center(a, zeroA, getRank(a) - 2, accumulator);
  Value y = k.center(b, zeroB, getRank(b) - 1, accumulator);
  return k.make<MatMulOp>({x, y}, accumulator);
}

// Whether a zero point is one number, or per row or column of a matrix.
static bool isPlainZero(Value zero, Value own, Value other) {
  if (!zero || getRank(zero) == 0)
    return true;
  return getRank(own) > 1 && (getRank(zero) == 1 || getRank(other) > 1);
}

// sum (a - za) (b - zb), in i32.
static Value multiplyIntegers(Composer &k, LinalgBuilder &b, Operation *op, Value x, Value zeroX, Value y,
                              Value zeroY) {
  Type i32 = b.getI32Type();
  if (!isPlainZero(zeroX, x, y) || !isPlainZero(zeroY, y, x))
    return multiplyCentered(k, x, zeroX, y, zeroY, i32);
  Factor left = getFactor(b, x, zeroX), right = getFactor(b, y, zeroY);
  Value product = multiplyMatrices(b, left.value, right.value, *getShape(x.getType()), *getShape(y.getType()),
                                   {left.element, right.element, i32});
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value sum = k.given(product, RankedTensorType::get(type.getShape(), i32, type.getEncoding()));
  int64_t rankX = getRank(x), rankY = getRank(y), rank = type.getRank();
  bool matrices = rankX > 1 && rankY > 1;
  if (left.zero) {
    Value columns = k.sumOver(k.center(y, right.own, rankY - 1, i32), std::max<int64_t>(rankY - 2, 0), matrices);
    sum = k.subtractProduct(sum, k.alongAxis(k.cast(left.zero, i32), matrices ? rank - 2 : rank - 1, rank), columns);
  }
  if (right.zero) {
    Value rows = k.sumOver(k.cast(x, i32), rankX - 1, matrices);
    sum = k.subtractProduct(sum, rows, k.cast(right.zero, i32));
  }
  return sum;
}

static FailureOr<SmallVector<Value>> lowerMatMulInteger(Operation *op, ValueRange, LinalgBuilder &b) {
  Composer k(op, b);
  return k.lower(multiplyIntegers(k, b, op, getFormalInput(op, 0), getFormalInput(op, 2), getFormalInput(op, 1),
                                  getFormalInput(op, 3)));
}

static FailureOr<SmallVector<Value>> lowerQLinearMatMul(Operation *op, ValueRange, LinalgBuilder &b) {
  if (failed(refuseLists(op, 7, "y_zero_point")))
    return failure();
  Composer k(op, b);
  Type f32 = Float32Type::get(op->getContext());
  Value x = getFormalInput(op, 0), zeroX = getFormalInput(op, 2), y = getFormalInput(op, 3),
        zeroY = getFormalInput(op, 5);
  bool integers = isa<IntegerType>(getElementType(x)) && isa<IntegerType>(getElementType(y));
  Value product =
      integers ? multiplyIntegers(k, b, op, x, zeroX, y, zeroY) : multiplyCentered(k, x, zeroX, y, zeroY, f32);
  int64_t rank = getRank(op->getResult(0));
  auto scale = [&](unsigned formal, int64_t axis) {
    return k.alongAxis(k.cast(getFormalInput(op, formal), f32), axis, rank);
  };
  return k.lower(
      requantize(k, op, product, scale(1, rank - 2), scale(4, rank - 1), scale(6, rank - 2), getFormalInput(op, 7)));
}

namespace {
/// The operands of a convolution, as numbers of formal inputs.
struct ConvolutionInputs {
  unsigned x, zeroX, w, zeroW;
};
} // namespace

// sum (x - zx) (w - zw), plus the bias, in i32.
static Value convolveIntegers(Composer &k, LinalgBuilder &b, Operation *op, const ConvolutionInputs &inputs,
                              Value bias) {
  FailureOr<SmallVector<int64_t>> kernel = requireKernel(op, b, inputs.w);
  if (failed(kernel))
    return {};
  FailureOr<Windows> windows = Windows::get(op, *kernel);
  if (failed(windows))
    return {};
  auto groups = op->getAttrOfType<IntegerAttr>("group");
  int64_t group = groups ? groups.getInt() : 1;
  Type i32 = b.getI32Type(), i8 = b.getI8Type();
  Value x = getFormalInput(op, inputs.x), w = getFormalInput(op, inputs.w);
  Factor data = getFactor(b, x, getFormalInput(op, inputs.zeroX)),
         filters = getFactor(b, w, getFormalInput(op, inputs.zeroW));
  b.checkEqual(b.dim(data.value, 1), b.mul(b.dim(filters.value, 1), b.getIndexAttr(group)),
               "the filters do not fit the number of channels");
  Value padding = data.zero ? b.extractScalar(b.lookup(data.zero)) : b.scalarInt(i8, 0);
  auto [padded, sizes] = padWindows(b, data.value, filters.value, *windows, padding);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value sum = k.given(convolve(b, padded, filters.value, *windows, group, sizes, {data.element, filters.element, i32}),
                      RankedTensorType::get(type.getShape(), i32, type.getEncoding()));
  int64_t rank = getRank(x);
  Value constant = bias;
  if (data.zero) {
    Value all = k.sumOver(k.center(w, filters.own, 0, i32), llvm::to_vector(llvm::seq<int64_t>(1, rank)), false);
    Value correction = k.make<MulOp>({k.cast(data.zero, i32), all}, i32);
    constant = bias ? k.make<SubOp>({bias, correction}, i32) : k.make<NegOp>(correction, i32);
  }
  if (constant)
    sum = k.make<AddOp>({sum, k.alongAxis(constant, 1, rank)}, i32);
  if (!filters.zero)
    return sum;
  // The sums of the data in each window are a convolution, too.
  Sizes ones = b.sizes(filters.value);
  SmallVector<int64_t> shape(type.getShape());
  if (group == 1) {
    ones[0] = sizes[1] = b.getIndexAttr(1);
    shape[1] = 1;
  }
  Value rows = convolve(b, padded, b.fill(ones, b.scalarInt(i8, 1)), *windows, group, sizes, {data.element, i8, i32});
  return k.subtractProduct(sum, k.given(rows, RankedTensorType::get(shape, i32)),
                           k.alongAxis(k.cast(filters.zero, i32), 1, rank));
}

static FailureOr<SmallVector<Value>> lowerConvInteger(Operation *op, ValueRange, LinalgBuilder &b) {
  if (getFormalInput(op, 2) && failed(refuseLists(op, 2, "x_zero_point")))
    return failure();
  Composer k(op, b);
  return k.lower(convolveIntegers(k, b, op, {0, 2, 1, 3}, {}));
}

static FailureOr<SmallVector<Value>> lowerQLinearConv(Operation *op, ValueRange, LinalgBuilder &b) {
  if (failed(refuseLists(op, 7, "y_zero_point")) || failed(refuseLists(op, 2, "x_zero_point")))
    return failure();
  Composer k(op, b);
  Value sum = convolveIntegers(k, b, op, {0, 2, 3, 5}, getFormalInput(op, 8));
  if (!sum)
    return failure();
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
