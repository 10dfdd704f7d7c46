//===- Binary.cpp - elementwise operators of several operands, by table ---===//
//
// Arithmetic, comparison, logic and bits, with NumPy's broadcasting. Integer
// arithmetic wraps; what would be undefined (division by zero, shifts by more
// than the width) has a value.
//
//===----------------------------------------------------------------------===//

#include "../Elementwise.h"
#include "Conversion/RuntimeCalls.h"
#include "Dialect/VersionSteps.h"
#include <cmath>

namespace {
/// Computes one element from the operands' elements in their compute type; `element` is the operands' onnx type.
using ElementFn = Value (*)(ImplicitLocOpBuilder &b, ValueRange x, Type element, Operation *op);
using ValueFn = Dim (*)(Dim a, Dim b, Type element);
using FloatFn = double (*)(double a, double b);
} // namespace

template <ElementFn fn>
static FailureOr<SmallVector<Value>> lower(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type element = getElementType(op->getOperand(0)), result = getElementType(op->getResult(0));
  auto body = [&](ImplicitLocOpBuilder &nested, ValueRange x) {
    auto decoded = llvm::map_to_vector(x, [&](Value v) { return scalar::decode(nested, v, element); });
    return scalar::encode(nested, fn(nested, decoded, element, op), result);
  };
  return SmallVector<Value>{b.elementwise(operands, getSeamElementType(result), body, op->getOperands())};
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static bool isFloat(Value x) { return isa<FloatType>(x.getType()); }

static Value zeroLike(ImplicitLocOpBuilder &b, Value x) {
  return b.create<arith::ConstantOp>(b.getZeroAttr(x.getType()));
}

static Value integerLike(ImplicitLocOpBuilder &b, Value x, int64_t value) {
  return b.create<arith::ConstantOp>(b.getIntegerAttr(x.getType(), value));
}

static Value compare(ImplicitLocOpBuilder &b, arith::CmpIPredicate predicate, Value x, Value y) {
  return b.create<arith::CmpIOp>(predicate, x, y);
}

static Value select(ImplicitLocOpBuilder &b, Value condition, Value x, Value y) {
  return b.create<arith::SelectOp>(condition, x, y);
}

// One op for floating point and one for integers, folded over all operands.
template <typename FloatOp, typename SignedOp, typename UnsignedOp = SignedOp>
static Value arithmetic(ImplicitLocOpBuilder &b, ValueRange x, Type element, Operation *) {
  Value result = x[0];
  for (Value y : x.drop_front()) {
    if (isFloat(result))
      result = b.create<FloatOp>(result, y);
    else if (scalar::isUnsigned(element))
      result = b.create<UnsignedOp>(result, y);
    else
      result = b.create<SignedOp>(result, y);
  }
  return result;
}

template <typename Op> static Value bits(ImplicitLocOpBuilder &b, ValueRange x, Type, Operation *) {
  return b.create<Op>(x[0], x[1]);
}

static Value mean(ImplicitLocOpBuilder &b, ValueRange x, Type element, Operation *op) {
  Value sum = arithmetic<arith::AddFOp, arith::AddIOp>(b, x, element, op);
  return b.create<arith::DivFOp>(
      sum, b.create<arith::ConstantOp>(b.getFloatAttr(sum.getType(), static_cast<double>(x.size()))));
}

template <arith::CmpFPredicate floats, arith::CmpIPredicate signedIntegers, arith::CmpIPredicate unsignedIntegers>
static Value compareElements(ImplicitLocOpBuilder &b, ValueRange x, Type element, Operation *) {
  if (isFloat(x[0]))
    return b.create<arith::CmpFOp>(floats, x[0], x[1]);
  return compare(b, scalar::isUnsigned(element) ? unsignedIntegers : signedIntegers, x[0], x[1]);
}

// Replaces divisors that division traps on: 0, and -1 (the lowest integer has no quotient by it).
static Value guardDivisor(ImplicitLocOpBuilder &b, Value y, bool isUnsigned, Value &isZero, Value &isMinusOne) {
  isZero = compare(b, arith::CmpIPredicate::eq, y, zeroLike(b, y));
  Value bad = isZero;
  if (!isUnsigned) {
    isMinusOne = compare(b, arith::CmpIPredicate::eq, y, integerLike(b, y, -1));
    bad = b.create<arith::OrIOp>(isZero, isMinusOne);
  }
  return select(b, bad, integerLike(b, y, 1), y);
}

// Integers: truncated; 0 for a division by zero, where the specification is silent.
static Value divide(ImplicitLocOpBuilder &b, ValueRange x, Type element, Operation *) {
  if (isFloat(x[0]))
    return b.create<arith::DivFOp>(x[0], x[1]);
  Value isZero, isMinusOne, zero = zeroLike(b, x[0]);
  bool isUnsigned = scalar::isUnsigned(element);
  Value divisor = guardDivisor(b, x[1], isUnsigned, isZero, isMinusOne);
  if (isUnsigned)
    return select(b, isZero, zero, b.create<arith::DivUIOp>(x[0], divisor));
  Value quotient = select(b, isMinusOne, b.create<arith::SubIOp>(zero, x[0]), b.create<arith::DivSIOp>(x[0], divisor));
  return select(b, isZero, zero, quotient);
}

// fmod = 1: the sign of the dividend, as C has it; fmod = 0: the sign of the divisor, as Python has it.
static Value modulo(ImplicitLocOpBuilder &b, ValueRange x, Type element, Operation *op) {
  bool likeC = cast<ModOp>(op).getFmod() != 0;
  Value y = x[1], zero = zeroLike(b, y);
  if (isFloat(y)) {
    Value rest = b.create<arith::RemFOp>(x[0], y);
    if (likeC)
      return rest;
    auto isNegative = [&](Value v) { return b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, v, zero).getResult(); };
    Value otherSign = b.create<arith::XOrIOp>(isNegative(rest), isNegative(y));
    Value isZero = b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, rest, zero);
    Value moved = select(b, otherSign, b.create<arith::AddFOp>(rest, y), rest);
    return select(b, isZero, b.create<math::CopySignOp>(zero, y), moved);
  }
  Value isZero, isMinusOne;
  bool isUnsigned = scalar::isUnsigned(element);
  // x mod 1 is 0, and so is x mod -1: the guard serves that case too.
  Value divisor = guardDivisor(b, y, isUnsigned, isZero, isMinusOne);
  if (isUnsigned)
    return select(b, isZero, zero, b.create<arith::RemUIOp>(x[0], divisor));
  Value rest = b.create<arith::RemSIOp>(x[0], divisor);
  if (!likeC) {
    Value otherSign = compare(b, arith::CmpIPredicate::slt, b.create<arith::XOrIOp>(rest, y), zero);
    Value nonZero = compare(b, arith::CmpIPredicate::ne, rest, zero);
    rest = select(b, b.create<arith::AndIOp>(otherSign, nonZero), b.create<arith::AddIOp>(rest, y), rest);
  }
  return select(b, isZero, zero, rest);
}

// An amount outside of [0, width) shifts every bit out: what stays is the sign of a signed right shift.
static Value shift(ImplicitLocOpBuilder &b, ValueRange x, Type element, Operation *op) {
  unsigned width = cast<IntegerType>(x[0].getType()).getWidth();
  Value tooFar = compare(b, arith::CmpIPredicate::uge, x[1], integerLike(b, x[1], width));
  Value last = integerLike(b, x[1], width - 1), zero = zeroLike(b, x[0]);
  Value amount = select(b, tooFar, last, x[1]);
  if (cast<BitShiftOp>(op).getDirection() == "LEFT")
    return select(b, tooFar, zero, b.create<arith::ShLIOp>(x[0], amount));
  if (scalar::isUnsigned(element))
    return select(b, tooFar, zero, b.create<arith::ShRUIOp>(x[0], amount));
  return b.create<arith::ShRSIOp>(x[0], amount);
}

static Value prelu(ImplicitLocOpBuilder &b, ValueRange x, Type element, Operation *) {
  Value zero = zeroLike(b, x[0]);
  if (isFloat(x[0]))
    return select(b, b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x[0], zero),
                  b.create<arith::MulFOp>(x[1], x[0]), x[0]);
  if (scalar::isUnsigned(element))
    return x[0];
  return select(b, compare(b, arith::CmpIPredicate::slt, x[0], zero), b.create<arith::MulIOp>(x[1], x[0]), x[0]);
}

//===----------------------------------------------------------------------===//
// Compile-time integers
//===----------------------------------------------------------------------===//

template <ValueFn fn, FloatFn floatFn = nullptr> static ValueAnalysis::Values inferElements(ShapeContext &c) {
  Type element = c.elementType(0), result = c.elementType(0);
  if (auto type = dyn_cast<TensorType>(c.getOperation()->getResult(0).getType()))
    result = type.getElementType();
  if (isa_and_nonnull<FloatType>(element) && floatFn)
    return broadcastValues(c, [&](ArrayRef<Dim> x) {
      if (!llvm::all_of(x, [](const Dim &dim) { return dim.isStatic(); }))
        return Dim();
      double value = x[0].asFloat();
      for (const Dim &y : x.drop_front())
        value = roundFloat(floatFn(value, y.asFloat()), element);
      return isa<FloatType>(result) ? Dim::ofFloat(value) : Dim(value != 0);
    });
  if (!isa_and_nonnull<IntegerType>(element) || !isa<IntegerType>(result))
    return std::nullopt;
  return broadcastValues(c, [&](ArrayRef<Dim> x) {
    Dim value = x[0];
    for (const Dim &y : x.drop_front())
      value = fn(value, y, element);
    return value.isStatic() ? Dim(wrapInteger(value.size, result)) : value;
  });
}

static double addFloats(double a, double b) { return a + b; }
static double subtractFloats(double a, double b) { return a - b; }
static double multiplyFloats(double a, double b) { return a * b; }
static double divideFloats(double a, double b) { return a / b; }
// A NaN on either side is the result.
static double maximumFloats(double a, double b) { return std::isnan(a) || a > b ? a : b; }
static double minimumFloats(double a, double b) { return std::isnan(a) || a < b ? a : b; }
template <typename Predicate> static double compareFloats(double a, double b) { return Predicate()(a, b); }

// Signed, or not negative as a signed number: what compares and divides as an int64.
static bool isPlain(const Dim &a, Type element) {
  return a.isStatic() && (!scalar::isUnsigned(element) || a.size >= 0);
}

static Dim addValues(Dim a, Dim b, Type) { return a + b; }
static Dim subtractValues(Dim a, Dim b, Type) { return a - b; }
static Dim multiplyValues(Dim a, Dim b, Type) { return a * b; }
static Dim divideValues(Dim a, Dim b, Type element) {
  if (b.is(1))
    return a;
  if (!isPlain(a, element) || !isPlain(b, element) || b.size == 0 || b.size == -1)
    return Dim();
  return Dim(a.size / b.size);
}
static Dim maximumValues(Dim a, Dim b, Type element) {
  if (a.sameAs(b))
    return a;
  return isPlain(a, element) && isPlain(b, element) ? Dim(std::max(a.size, b.size)) : Dim();
}
static Dim minimumValues(Dim a, Dim b, Type element) {
  if (a.sameAs(b))
    return a;
  return isPlain(a, element) && isPlain(b, element) ? Dim(std::min(a.size, b.size)) : Dim();
}
// Symbols stand for sizes, which are not negative.
static Dim equalValues(Dim a, Dim b, Type) {
  if (a.sameAs(b))
    return Dim(1);
  bool differ = (a.isStatic() && b.isStatic()) || (a.symbol && b.isStatic() && b.size < 0) ||
                (b.symbol && a.isStatic() && a.size < 0);
  return differ ? Dim(0) : Dim();
}
template <typename Predicate> static Dim compareValues(Dim a, Dim b, Type element) {
  return isPlain(a, element) && isPlain(b, element) ? Dim(Predicate()(a.size, b.size)) : Dim();
}
static Dim andValues(Dim a, Dim b, Type) {
  if (a.is(0) || b.is(0))
    return Dim(0);
  return a.isStatic() && b.isStatic() ? Dim(a.size & b.size) : Dim();
}
static Dim orValues(Dim a, Dim b, Type) { return a.isStatic() && b.isStatic() ? Dim(a.size | b.size) : Dim(); }
static Dim xorValues(Dim a, Dim b, Type) { return a.isStatic() && b.isStatic() ? Dim(a.size ^ b.size) : Dim(); }

// The sign of the divisor; with fmod = 1, that of the dividend.
static ValueAnalysis::Values moduloValues(ShapeContext &c) {
  bool likeC = c.integer("fmod", 0) != 0;
  Type element = c.elementType(0);
  if (!isa_and_nonnull<IntegerType>(element))
    return std::nullopt;
  return broadcastValues(c, [&](ArrayRef<Dim> x) {
    if (!isPlain(x[0], element) || !isPlain(x[1], element) || x[1].size == 0 || x[1].size == -1)
      return Dim();
    int64_t rest = x[0].size % x[1].size;
    return Dim(!likeC && rest != 0 && (rest < 0) != (x[1].size < 0) ? rest + x[1].size : rest);
  });
}

//===----------------------------------------------------------------------===//
// Shapes, rules, upgrade
//===----------------------------------------------------------------------===//

// Up to version 6, B is spread over A: from `axis` on, or at the end, and only with `broadcast`.
static LogicalResult inferLegacy(ShapeContext &c) {
  std::optional<Shape> a = c.shape(0), b = c.shape(1);
  if (!a)
    return success();
  c.setShape(0, *a);
  if (!b || c.integer("broadcast", 0) != 0)
    return success();
  if (a->size() != b->size())
    return c.emitError() << "ranks " << a->size() << " and " << b->size() << " differ, and broadcast is not set";
  for (auto [i, dims] : llvm::enumerate(llvm::zip_equal(*a, *b)))
    if (auto [x, y] = dims; x.isStatic() && y.isStatic() && x.size != y.size)
      return c.emitError() << "sizes " << x.size << " and " << y.size << " of dimension " << i
                           << " differ, and broadcast is not set";
  return success();
}

static LogicalResult inferArithmetic(ShapeContext &c) { return c.version() < 7 ? inferLegacy(c) : inferBroadcast(c); }

static LogicalResult upgradeLegacy(Operation *op, PatternRewriter &rewriter) {
  int64_t version = cast<VersionedOpInterface>(op).getSinceVersion();
  if (getNextVersion(op) < 7)
    return dropConsumedInputs(op, rewriter);
  Value a = op->getOperand(0), b = op->getOperand(1);
  auto broadcast = op->getAttrOfType<IntegerAttr>("broadcast");
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  std::optional<Shape> shapeA = getShape(a.getType()), shapeB = getShape(b.getType());
  if (broadcast && broadcast.getInt() != 0) {
    bool single = shapeB && !shapeB->empty() && llvm::all_of(*shapeB, [](const Dim &dim) { return dim.is(1); });
    if (single) {
      Type scalarType = RankedTensorType::get({}, getElementTypeOrSelf(b.getType()));
      b = rewriter.create<ReshapeOp>(op->getLoc(), scalarType, b, makeIntegers(rewriter, op->getLoc(), {}));
    } else if (axis) {
      if (!shapeA || !shapeB)
        return op->emitOpError("cannot be upgraded from version ")
               << version << ": broadcasting from an axis needs the ranks of both operands";
      int64_t rank = shapeA->size(), at = axis.getInt() < 0 ? axis.getInt() + rank : axis.getInt();
      int64_t own = shapeB->size();
      if (at < 0 || at + own > rank)
        return op->emitOpError("axis ") << axis.getInt() << " is out of range for operands of rank " << rank << " and "
                                        << own;
      SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(own, rank - at));
      if (!axes.empty())
        b = makeUnsqueeze(rewriter, op->getLoc(), b, axes);
    }
  }
  replaceByNext(op, rewriter, {a, b}, {"broadcast", "axis"});
  return success();
}

// Where B, without its sizes 1 at both ends, lies in A's shape; none if its sizes are not there, or not known to be.
static std::optional<int64_t> findPlace(ArrayRef<Dim> a, ArrayRef<Dim> b, SmallVectorImpl<int64_t> &ones) {
  size_t first = 0, last = b.size();
  while (first < last && b[first].is(1))
    ones.push_back(first++);
  while (last > first && b[last - 1].is(1))
    ones.push_back(--last);
  if (b.size() > a.size())
    return std::nullopt;
  size_t axis = a.size() - b.size() + first;
  for (size_t i = first; i < last; ++i)
    if (!b[i].sameAs(a[axis + i - first]))
      return std::nullopt;
  llvm::sort(ones);
  return axis;
}

// Up to version 6 the operands have one shape, or B's sizes are some of A's, side by side.
static LogicalResult downgradeLegacy(Operation *op, PatternRewriter &rewriter) {
  if (getPreviousVersion(op) >= 7 || cast<VersionedOpInterface>(op).getSinceVersion() < 7)
    return downgradeStep(op, rewriter);
  Value a = op->getOperand(0), b = op->getOperand(1);
  std::optional<Shape> shapeA = getShape(a.getType()), shapeB = getShape(b.getType());
  if (!shapeA || !shapeB)
    return refuseDowngrade(op) << "it needs the ranks of both operands";
  auto isSame = [](const auto &pair) { return std::get<0>(pair).sameAs(std::get<1>(pair)); };
  if (shapeA->size() == shapeB->size() && llvm::all_of(llvm::zip(*shapeA, *shapeB), isSame))
    return downgradeStep(op, rewriter);
  SmallVector<int64_t> ones;
  std::optional<int64_t> axis = findPlace(*shapeA, *shapeB, ones);
  if (!axis)
    return refuseDowngrade(op) << "it broadcasts only a second operand whose sizes are some of the first one's, side "
                                  "by side, and these are "
                               << a.getType() << " and " << b.getType();
  if (!ones.empty()) {
    Shape squeezed;
    for (auto [i, dim] : llvm::enumerate(*shapeB))
      if (!llvm::is_contained(ones, static_cast<int64_t>(i)))
        squeezed.push_back(dim);
    auto axes = rewriter.getNamedAttr("axes", rewriter.getDenseI64ArrayAttr(ones));
    b = createVersion(rewriter, op->getLoc(), "Squeeze", 1, b, axes,
                      makeTensorType(squeezed, getElementTypeOrSelf(b.getType())))
            ->getResult(0);
  }
  SmallVector<NamedAttribute> added{rewriter.getNamedAttr("broadcast", rewriter.getI64IntegerAttr(1))};
  if (ones.size() != shapeB->size())
    added.push_back(rewriter.getNamedAttr("axis", rewriter.getI64IntegerAttr(*axis)));
  return replaceByPrevious(op, rewriter, {a, b}, {}, added);
}

// Up to version 6 all inputs have one shape.
static LogicalResult downgradeVariadic(Operation *op, PatternRewriter &rewriter) {
  if (getPreviousVersion(op) == 6) {
    std::optional<Shape> first = getShape(op->getOperand(0).getType());
    for (Value input : op->getOperands().drop_front()) {
      std::optional<Shape> shape = getShape(input.getType());
      if (!first || !shape || first->size() != shape->size() || !llvm::all_of(llvm::zip(*first, *shape), [](auto pair) {
            return std::get<0>(pair).sameAs(std::get<1>(pair));
          }))
        return refuseDowngrade(op) << "it does not broadcast, and the inputs are " << op->getOperand(0).getType()
                                   << " and " << input.getType();
    }
  }
  return downgradeStep(op, rewriter);
}

// Version 6 shares a slope of C elements across channels, version 7 broadcasts it along the last dimension.
static LogicalResult upgradePRelu(Operation *op, PatternRewriter &rewriter) {
  if (cast<VersionedOpInterface>(op).getSinceVersion() < 6)
    return dropConsumedInputs(op, rewriter);
  Value x = op->getOperand(0), slope = op->getOperand(1);
  std::optional<Shape> shapeX = getShape(x.getType()), shapeSlope = getShape(slope.getType());
  if (!shapeX || !shapeSlope)
    return op->emitOpError("cannot be upgraded from version 6: it needs the ranks of both operands");
  if (shapeSlope->size() == 1 && shapeX->size() > 2)
    slope = makeUnsqueeze(rewriter, op->getLoc(), slope, llvm::to_vector(llvm::seq<int64_t>(1, shapeX->size() - 1)));
  replaceByNext(op, rewriter, {x, slope});
  return success();
}

static LogicalResult downgradePRelu(Operation *op, PatternRewriter &rewriter) {
  if (getPreviousVersion(op) != 6)
    return downgradeStep(op, rewriter);
  Value x = op->getOperand(0), slope = op->getOperand(1);
  std::optional<Shape> shapeX = getShape(x.getType()), shapeSlope = getShape(slope.getType());
  auto isOne = [](const Dim &dim) { return dim.is(1); };
  if (shapeSlope && llvm::all_of(*shapeSlope, isOne))
    return downgradeStep(op, rewriter);
  if (!shapeX || !shapeSlope || shapeSlope->size() + 1 != shapeX->size() ||
      !llvm::all_of(ArrayRef(*shapeSlope).drop_front(), isOne))
    return refuseDowngrade(op) << "its slope is one number or one per channel, not " << slope.getType();
  if (shapeSlope->size() > 1) {
    auto axes = llvm::to_vector(llvm::seq<int64_t>(1, shapeSlope->size()));
    slope = createVersion(rewriter, op->getLoc(), "Squeeze", 1, slope,
                          rewriter.getNamedAttr("axes", rewriter.getDenseI64ArrayAttr(axes)),
                          makeTensorType((*shapeSlope)[0], getElementTypeOrSelf(slope.getType())))
                ->getResult(0);
  }
  return replaceByPrevious(op, rewriter, {x, slope});
}

static LogicalResult inferPRelu(ShapeContext &c) {
  c.copyShape(0);
  std::optional<Shape> x = c.shape(0), slope = c.shape(1);
  if (!x || !slope || c.version() < 7)
    return success();
  if (slope->size() > x->size())
    return c.emitError() << "slope of rank " << slope->size() << " does not broadcast to X of rank " << x->size();
  for (size_t i = 0, lead = x->size() - slope->size(); i < slope->size(); ++i) {
    const Dim &own = (*slope)[i], &size = (*x)[lead + i];
    if (own.isStatic() && size.isStatic() && !own.is(1) && own.size != size.size)
      return c.emitError() << "size " << own.size << " of slope does not broadcast to size " << size.size
                           << " of dimension " << lead + i << " of X";
  }
  return success();
}

// Up to version 6 the operands have the same shape.
static LogicalResult inferVariadic(ShapeContext &c) {
  if (c.version() >= 8)
    return inferBroadcast(c);
  Type common = c.input(0).getType();
  for (Value operand : c.getOperation()->getOperands()) {
    if (!mergeTypes(operand.getType(), c.input(0).getType()))
      return c.emitError() << "operands have different shapes: " << c.input(0).getType() << " and "
                           << operand.getType();
    if (Type merged = mergeTypes(common, operand.getType()))
      common = merged;
  }
  if (std::optional<Shape> shape = getShape(common))
    c.setShape(0, *shape);
  return success();
}

static LogicalResult verifyBitShift(Operation *op) {
  StringRef direction = op->getAttrOfType<StringAttr>("direction").getValue();
  if (direction != "LEFT" && direction != "RIGHT")
    return op->emitOpError("direction '") << direction << "' is neither LEFT nor RIGHT";
  return success();
}

// Version 11 does not say what amounts outside of [0, width) do.
static LogicalResult downgradeBitShift(Operation *op, PatternRewriter &rewriter) {
  int64_t width = getElementType(op->getOperand(0)).getIntOrFloatBitWidth();
  auto amounts = getIntegers(getConstant(op->getOperand(1)));
  if (!amounts || llvm::any_of(*amounts, [&](int64_t amount) { return amount < 0 || amount >= width; }))
    return refuseDowngrade(op) << "it does not say what amounts outside of [0, " << width << ") do";
  return downgradeStep(op, rewriter);
}

static LogicalResult verifyMod(Operation *op) {
  auto fmod = op->getAttrOfType<IntegerAttr>("fmod");
  int64_t value = fmod ? fmod.getInt() : 0;
  if (value != 0 && value != 1)
    return op->emitOpError("fmod is ") << value << ", but must be 0 or 1";
  if (value == 0 && cast<VersionedOpInterface>(op).getSinceVersion() < 28 &&
      isa<FloatType>(getElementType(op->getOperand(0))))
    return op->emitOpError("fmod must be 1 for floating-point operands");
  return success();
}

//===----------------------------------------------------------------------===//
// Pow
//===----------------------------------------------------------------------===//

// base^exponent by squaring, wrapping; a negative exponent gives the truncated reciprocal.
static Value integerPower(ImplicitLocOpBuilder &b, Value base, Value exponent, bool isUnsignedExponent) {
  Type type = base.getType();
  Type wide = b.getI64Type();
  auto extend = [&](Value v, bool isUnsigned) -> Value {
    if (v.getType() == wide)
      return v;
    return isUnsigned ? b.create<arith::ExtUIOp>(wide, v).getResult() : b.create<arith::ExtSIOp>(wide, v).getResult();
  };
  Value x = extend(base, false), e = extend(exponent, isUnsignedExponent);
  Value one = integerLike(b, x, 1), zero = zeroLike(b, x), minusOne = integerLike(b, x, -1);
  auto loop = b.create<scf::WhileOp>(
      TypeRange{wide, wide, wide}, ValueRange{one, x, e},
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Value more = nested.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, args[2], zero);
        nested.create<scf::ConditionOp>(loc, more, args);
      },
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder n(loc, nested);
        Value odd = compare(n, arith::CmpIPredicate::ne, n.create<arith::AndIOp>(args[2], one), zero);
        Value product = select(n, odd, n.create<arith::MulIOp>(args[0], args[1]), args[0]);
        n.create<scf::YieldOp>(
            ValueRange{product, n.create<arith::MulIOp>(args[1], args[1]), n.create<arith::ShRUIOp>(args[2], one)});
      });
  Value result = loop.getResult(0);
  if (!isUnsignedExponent) {
    // 1 / x^n: x itself for 1; 1 or -1 for -1; 0 otherwise (and for 0, which has no reciprocal).
    Value odd = compare(b, arith::CmpIPredicate::ne, b.create<arith::AndIOp>(e, one), zero);
    Value ofMinusOne = select(b, odd, minusOne, one);
    Value reciprocal = select(b, compare(b, arith::CmpIPredicate::eq, x, minusOne), ofMinusOne, zero);
    reciprocal = select(b, compare(b, arith::CmpIPredicate::eq, x, one), one, reciprocal);
    result = select(b, compare(b, arith::CmpIPredicate::slt, e, zero), reciprocal, result);
  }
  return type == wide ? result : b.create<arith::TruncIOp>(type, result).getResult();
}

// The exponent, if it is one number known at compile time.
static std::optional<double> getExponent(Value exponent) {
  ElementsAttr attr = getConstant(exponent);
  if (!attr || !attr.isSplat() || attr.getNumElements() == 0)
    return std::nullopt;
  if (auto floats = getFloats(attr))
    return floats->front();
  if (auto integers = getIntegers(attr); integers && std::abs(integers->front()) < 100)
    return static_cast<double>(integers->front());
  return std::nullopt;
}

static FailureOr<SmallVector<Value>> lowerPow(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type base = getElementType(op->getOperand(0)), exponent = getElementType(op->getOperand(1));
  std::optional<double> known = isa<FloatType>(base) ? getExponent(op->getOperand(1)) : std::nullopt;
  auto floatPower = [&](ImplicitLocOpBuilder &n, Value x, Value y) -> Value {
    auto constant = [&](double v) -> Value { return n.create<arith::ConstantOp>(n.getFloatAttr(x.getType(), v)); };
    if (known == 1.0)
      return x;
    if (known == 2.0 || known == 3.0) {
      Value square = n.create<arith::MulFOp>(x, x);
      return *known == 2.0 ? square : n.create<arith::MulFOp>(square, x).getResult();
    }
    if (known == -1.0)
      return n.create<arith::DivFOp>(constant(1), x);
    if (known == 0.5 || known == -0.5) { // pow(-0, 0.5) is 0 and pow(-inf, 0.5) is inf, unlike the square root.
      Value root = n.create<math::SqrtOp>(n.create<arith::AddFOp>(x, constant(0)));
      Value isLowest =
          n.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, constant(-std::numeric_limits<double>::infinity()));
      root = select(n, isLowest, constant(std::numeric_limits<double>::infinity()), root);
      return *known == 0.5 ? root : n.create<arith::DivFOp>(constant(1), root).getResult();
    }
    return n.create<math::PowFOp>(x, y);
  };
  auto body = [&](ImplicitLocOpBuilder &n, ValueRange x) -> Value {
    if (isa<FloatType>(base)) {
      Type compute = scalar::getComputeType(base);
      Value y = scalar::convert(n, x[1], exponent, compute);
      return scalar::encode(n, floatPower(n, scalar::decode(n, x[0], base), y), base);
    }
    if (isa<IntegerType>(exponent)) {
      Value y = x[1];
      return integerPower(n, x[0], y, scalar::isUnsigned(exponent));
    }
    Type wide = n.getF64Type();
    Value power =
        n.create<math::PowFOp>(scalar::convert(n, x[0], base, wide), scalar::convert(n, x[1], exponent, wide));
    return scalar::convert(n, power, wide, base);
  };
  return SmallVector<Value>{b.elementwise(operands, getSeamElementType(base), body, op->getOperands())};
}

// Strings are equal if their bytes are.
static FailureOr<SmallVector<Value>> lowerEqual(Operation *op, ValueRange operands, LinalgBuilder &b) {
  if (!isa<StringType>(getElementType(op->getOperand(0))))
    return lower<compareElements<arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, arith::CmpIPredicate::eq>>(
        op, operands, b);
  return SmallVector<Value>{mapElements(b, operands, b.getI1Type(), [&](ValueRange x) -> Value {
    Value equal = callRuntime(b, "strata_rt_string_equal", x, b.getI64Type());
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, equal, b.scalarInt(b.getI64Type(), 0));
  })};
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

STRATA_SLICE(Binary) {
  using LowerFn = decltype(OpBehavior::lower);
  using ValuesFn = decltype(OpBehavior::inferValues);
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  auto add = [&](StringRef name, LowerFn lower, ValuesFn values = nullptr, bool handles = false) {
    ops.add(name, {.inferShapes = inferArithmetic,
                   .inferValues = values,
                   .upgrade = upgradeLegacy,
                   .downgrade = downgradeLegacy,
                   .lower = lower,
                   .handles = handles});
  };
  add("Add", lower<arithmetic<arith::AddFOp, arith::AddIOp>>, inferElements<addValues, addFloats>);
  add("Sub", lower<arithmetic<arith::SubFOp, arith::SubIOp>>, inferElements<subtractValues, subtractFloats>);
  add("Mul", lower<arithmetic<arith::MulFOp, arith::MulIOp>>, inferElements<multiplyValues, multiplyFloats>);
  add("Div", lower<divide>, inferElements<divideValues, divideFloats>);
  add("Pow", lowerPow);
  add("Equal", lowerEqual, inferElements<equalValues, compareFloats<std::equal_to<double>>>, /*handles=*/true);
  add("Less", lower<compareElements<F::OLT, I::slt, I::ult>>,
      inferElements<compareValues<std::less<int64_t>>, compareFloats<std::less<double>>>);
  add("LessOrEqual", lower<compareElements<F::OLE, I::sle, I::ule>>,
      inferElements<compareValues<std::less_equal<int64_t>>, compareFloats<std::less_equal<double>>>);
  add("Greater", lower<compareElements<F::OGT, I::sgt, I::ugt>>,
      inferElements<compareValues<std::greater<int64_t>>, compareFloats<std::greater<double>>>);
  add("GreaterOrEqual", lower<compareElements<F::OGE, I::sge, I::uge>>,
      inferElements<compareValues<std::greater_equal<int64_t>>, compareFloats<std::greater_equal<double>>>);
  add("And", lower<bits<arith::AndIOp>>, inferElements<andValues>);
  add("Or", lower<bits<arith::OrIOp>>, inferElements<orValues>);
  add("Xor", lower<bits<arith::XOrIOp>>, inferElements<xorValues>);
  add("BitwiseAnd", lower<bits<arith::AndIOp>>);
  add("BitwiseOr", lower<bits<arith::OrIOp>>);
  add("BitwiseXor", lower<bits<arith::XOrIOp>>);
  ops.add(
      "BitShift",
      {.verify = verifyBitShift, .inferShapes = inferBroadcast, .downgrade = downgradeBitShift, .lower = lower<shift>});
  ops.add("Mod",
          {.verify = verifyMod, .inferShapes = inferBroadcast, .inferValues = moduloValues, .lower = lower<modulo>});
  ops.add("PRelu",
          {.inferShapes = inferPRelu, .upgrade = upgradePRelu, .downgrade = downgradePRelu, .lower = lower<prelu>});

  auto addVariadic = [&](StringRef name, LowerFn lower, ValuesFn values = nullptr) {
    ops.add(name, {.inferShapes = inferVariadic,
                   .inferValues = values,
                   .upgrade = dropConsumedInputs,
                   .downgrade = downgradeVariadic,
                   .lower = lower});
  };
  addVariadic("Max", lower<arithmetic<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>>,
              inferElements<maximumValues, maximumFloats>);
  addVariadic("Min", lower<arithmetic<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>>,
              inferElements<minimumValues, minimumFloats>);
  addVariadic("Sum", lower<arithmetic<arith::AddFOp, arith::AddIOp>>);
  addVariadic("Mean", lower<mean>);
}
