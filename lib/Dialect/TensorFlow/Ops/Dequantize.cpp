//===- Dequantize.cpp - TensorFlow's Dequantize ---------------------------===//
//
// Equal, bit for bit, to what TensorFlow's own CPU kernels compute, which is not
// in its reference: they run with subnormal numbers flushed to zero, let the first
// NaN of an expression through, and round nothing but float32 operations in a
// fixed order. docs/operators/Dequantize.md has the formulas.
//
//===----------------------------------------------------------------------===//

#include "../../ONNX/Ops/Elementwise.h"
#include "Dialect/TensorFlow/IR/TensorFlow.h"

using arith::CmpFPredicate;
using tf::Dequantize_1Op;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

// How many ranges there are: one, or one per slice along the axis.
static Dim getSlices(Dequantize_1Op op) {
  int64_t axis = op.getAxis();
  if (axis < 0)
    return Dim(1);
  std::optional<Shape> input = getShape(op.getInput().getType());
  return input ? (*input)[axis] : Dim();
}

static LogicalResult verifyDequantize(Operation *operation) {
  auto op = cast<Dequantize_1Op>(operation);
  StringRef mode = op.getMode();
  if (!llvm::is_contained({"MIN_COMBINED", "MIN_FIRST", "SCALED"}, mode))
    return op.emitOpError("attribute 'mode' is '") << mode << "'; allowed are MIN_COMBINED, MIN_FIRST and SCALED";
  int64_t dtype = op.getDtype(), axis = op.getAxis(), narrowRange = op.getNarrowRange();
  int64_t float32 = getDataType(ElementKind::float32), bfloat16 = getDataType(ElementKind::bfloat16);
  if (dtype != float32 && dtype != bfloat16)
    return op.emitOpError("attribute 'dtype' is ") << dtype << "; allowed are 1 (float) and 16 (bfloat16)";
  if (dtype == bfloat16 && mode != "MIN_COMBINED")
    return op.emitOpError("with dtype bfloat16 the mode must be MIN_COMBINED, not ") << mode;
  if (narrowRange != 0 && narrowRange != 1)
    return op.emitOpError("attribute 'narrow_range' is ") << narrowRange << "; allowed are 0 and 1";
  // The importer asks before the result has a type.
  if (auto output = dyn_cast<TensorType>(op.getOutput().getType());
      output && output.getElementType().isBF16() != (dtype == bfloat16))
    return op.emitOpError("dtype is ") << dtype << ", but the result holds " << output.getElementType();
  std::optional<Shape> input = getShape(op.getInput().getType());
  if (input && axis >= static_cast<int64_t>(input->size()))
    return op.emitOpError("axis ") << axis << " is out of range for rank " << input->size();

  Dim slices = getSlices(op);
  if (!slices.isStatic())
    return success();
  // With one slice TensorFlow takes the path of the whole tensor, whatever the axis.
  if (mode == "MIN_FIRST" && slices.size != 1)
    return op.emitOpError("the mode MIN_FIRST takes one range, but there are ")
           << slices.size << " slices along axis " << axis;
  for (auto [range, name] : {std::pair(op.getMinRange(), "min_range"), {op.getMaxRange(), "max_range"}}) {
    std::optional<Shape> shape = getShape(range.getType());
    if (!shape)
      continue;
    Dim count(1);
    for (const Dim &dim : *shape)
      count = count * dim;
    if (count.isStatic() && count.size != slices.size)
      return op.emitOpError("needs ") << slices.size
                                      << (axis < 0 ? " range for the tensor" : " ranges, one per slice along axis ")
                                      << (axis < 0 ? std::string() : std::to_string(axis)) << ", but " << name
                                      << " has " << count.size << " elements";
    if (shape->size() != 1 && slices.size != 1)
      return op.emitOpError("with an axis the ranges must be 1-D, but ") << name << " is of rank " << shape->size();
  }
  return success();
}

static LogicalResult inferDequantize(ShapeContext &c) {
  auto kind = getElementKindOfDataType(c.integer("dtype", 1));
  if (!kind)
    return c.emitError() << "attribute 'dtype' is no element type";
  c.setElementType(0, getElementType(c.getContext(), *kind));
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  // A 1-D range tells how many slices there are.
  int64_t axis = c.integer("axis", -1);
  if (axis >= 0 && axis < static_cast<int64_t>(shape->size()))
    for (unsigned range : {1, 2})
      if (std::optional<Shape> slices = c.shape(range); slices && slices->size() == 1 && !(*shape)[axis].isStatic())
        if ((*slices)[0].isStatic())
          (*shape)[axis] = (*slices)[0];
  c.setShape(0, *shape);
  return success();
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

namespace {
/// float32 operations as TensorFlow's threads do them.
struct Float32 {
  ImplicitLocOpBuilder &b;

  Value constant(double value) { return b.create<arith::ConstantOp>(b.getF32FloatAttr(value)); }
  Value integer(uint32_t bits) {
    return b.create<arith::ConstantOp>(b.getIntegerAttr(b.getI32Type(), APInt(32, bits)));
  }
  Value bits(Value x) { return b.create<arith::BitcastOp>(b.getI32Type(), x); }
  Value fromBits(Value x) { return b.create<arith::BitcastOp>(b.getF32Type(), x); }
  Value select(Value condition, Value x, Value y) { return b.create<arith::SelectOp>(condition, x, y); }
  Value compare(CmpFPredicate predicate, Value x, Value y) { return b.create<arith::CmpFOp>(predicate, x, y); }
  Value isNaN(Value x) { return compare(CmpFPredicate::UNO, x, x); }
  /// A zero with the sign of x.
  Value zeroLike(Value x) { return fromBits(b.create<arith::AndIOp>(bits(x), integer(0x80000000))); }
  Value quiet(Value nan) { return fromBits(b.create<arith::OrIOp>(bits(nan), integer(0x00400000))); }

  /// Subnormal numbers become zero.
  Value flush(Value x) {
    Value isTiny = compare(CmpFPredicate::OLT, b.create<math::AbsFOp>(x), constant(0x1p-126));
    return select(isTiny, zeroLike(x), x);
  }
  /// Where `result` is NaN: the first operand that is, quieted; the processor's own NaN if none is. Said explicitly
  /// because the compiler may compute it beforehand, or with exchanged operands.
  Value nameNaN(Value result, ValueRange operands) {
    Value nan = fromBits(integer(0xffc00000));
    for (Value operand : llvm::reverse(operands))
      nan = select(isNaN(operand), quiet(operand), nan);
    return select(isNaN(result), nan, result);
  }
  Value subtract(Value x, Value y) { return nameNaN(flush(b.create<arith::SubFOp>(x, y)), {x, y}); }
  /// x * y where only a zero can be too small.
  Value multiply(Value x, Value y) { return nameNaN(b.create<arith::MulFOp>(x, y), {x, y}); }
  Value divide(Value x, Value y) {
    Value quotient = b.create<arith::DivFOp>(x, y);
    return nameNaN(flushRounded(quotient, b.create<arith::DivFOp>(extend(x), extend(y))), {x, y});
  }
  /// `rounded`, or zero where the exact result, before it is rounded to 24 bits, lies below the normal numbers: the
  /// processor flushes what would round to less than 2^-126 if exponents were unbounded.
  Value flushRounded(Value rounded, Value exact) {
    Value bound = b.create<arith::ConstantOp>(b.getF64FloatAttr(0x1.ffffffp-127));
    return select(compare(CmpFPredicate::OLT, b.create<math::AbsFOp>(exact), bound), zeroLike(rounded), rounded);
  }
  Value extend(Value x) { return b.create<arith::ExtFOp>(b.getF64Type(), x); }
};

enum class Mode { minCombined, minFirst, scaled };

/// What depends on the quantised type.
struct Quantization {
  Mode mode;
  double lowest, highest;
  unsigned width;
  bool isSigned, narrowRange;

  explicit Quantization(Dequantize_1Op op) {
    auto type = cast<IntegerType>(getElementType(op.getInput()));
    width = type.getWidth();
    isSigned = !type.isUnsigned();
    lowest = isSigned ? -std::ldexp(1.0, width - 1) : 0;
    highest = std::ldexp(1.0, isSigned ? width - 1 : width) - 1;
    narrowRange = op.getNarrowRange();
    mode = op.getMode() == "SCALED" ? Mode::scaled : op.getMode() == "MIN_FIRST" ? Mode::minFirst : Mode::minCombined;
  }

  /// The factor of the elements. Constants of int32 round to float32, as in TensorFlow.
  Value scale(ImplicitLocOpBuilder &b, Value min, Value max) const {
    Float32 f{b};
    min = f.flush(min);
    max = f.flush(max);
    if (mode == Mode::scaled) {
      Value upper = f.divide(max, f.constant(highest));
      if (!isSigned)
        return upper;
      Value lower = f.divide(min, f.constant(lowest + narrowRange));
      return f.select(f.compare(CmpFPredicate::OLT, lower, upper), upper, lower);
    }
    Value range = f.subtract(max, min);
    if (mode == Mode::minCombined)
      return f.divide(range, f.constant(static_cast<float>(highest) - static_cast<float>(lowest)));
    // The one operation in double.
    Value steps = b.create<arith::ConstantOp>(b.getF64FloatAttr(std::ldexp(1.0, width) - 1));
    Value exact = b.create<arith::DivFOp>(f.extend(range), steps);
    return f.nameNaN(f.flushRounded(b.create<arith::TruncFOp>(b.getF32Type(), exact), exact), range);
  }

  /// What is added to the scaled elements.
  Value offset(ImplicitLocOpBuilder &b, Value min, Value max) const {
    Float32 f{b};
    if (mode == Mode::minCombined)
      return f.flush(min);
    Value scale = this->scale(b, min, max);
    min = f.flush(min);
    max = f.flush(max);
    // The lower end moves to a multiple of the scale, halves away from zero.
    Value steps = b.create<math::RoundOp>(f.divide(min, scale));
    Value onGrid = f.multiply(steps, scale);
    Value start = f.select(f.compare(CmpFPredicate::OEQ, max, min), min, onGrid);
    return f.subtract(start, f.multiply(f.constant(lowest), scale));
  }

  /// One element, in float32. `isWhole`: one range for all elements.
  Value apply(ImplicitLocOpBuilder &b, Value element, Value scale, Value offset, Value isWhole) const {
    Float32 f{b};
    Value x = isSigned ? b.create<arith::SIToFPOp>(b.getF32Type(), element).getResult()
                       : b.create<arith::UIToFPOp>(b.getF32Type(), element).getResult();
    // TensorFlow's path for one range goes from int32 to float32, back, and again: 2^31 does not survive it.
    if (mode == Mode::scaled && isSigned && width == 32) {
      Value limit = f.constant(0x1p31);
      Value wraps = b.create<arith::AndIOp>(isWhole, f.compare(CmpFPredicate::OGE, x, limit));
      x = f.select(wraps, f.constant(-0x1p31), x);
    }
    if (mode == Mode::minCombined && isSigned)
      x = b.create<arith::AddFOp>(x, f.constant((static_cast<float>(highest) - static_cast<float>(lowest) + 1) / 2));
    Value product = b.create<arith::MulFOp>(x, scale);
    if (mode == Mode::scaled)
      return f.nameNaN(product, scale);
    return f.nameNaN(f.flush(b.create<arith::AddFOp>(product, offset)), {scale, offset});
  }
};
} // namespace

// To nearest even; a NaN keeps its sign only.
static Value toBFloat16(ImplicitLocOpBuilder &b, Value x) {
  Float32 f{b};
  Type i16 = b.getI16Type();
  Value rounded = b.create<arith::BitcastOp>(i16, b.create<arith::TruncFOp>(b.getBF16Type(), x));
  Value sign = b.create<arith::ShRUIOp>(b.create<arith::AndIOp>(f.bits(x), f.integer(0x80000000)), f.integer(16));
  Value nan = b.create<arith::TruncIOp>(i16, b.create<arith::OrIOp>(sign, f.integer(0x7fc0)));
  return b.create<arith::BitcastOp>(b.getBF16Type(), f.select(f.isNaN(x), nan, rounded));
}

static FailureOr<SmallVector<Value>> lowerDequantize(Operation *operation, ValueRange operands, LinalgBuilder &b) {
  auto op = cast<Dequantize_1Op>(operation);
  Quantization q(op);
  Value input = operands[0], min = operands[1], max = operands[2];
  int64_t axis = op.getAxis(), rank = getRank(input);
  Type result = getSeamElementType(getElementType(op.getOutput()));
  auto rankOf = [](Value range) { return getRank(range); };

  // What the verifier could not tell.
  OpFoldResult slices = axis < 0 ? OpFoldResult(b.getIndexAttr(1)) : b.dim(input, axis);
  bool perSlice =
      axis >= 0 && q.mode != Mode::minFirst && rankOf(min) == 1 && rankOf(max) == 1 && getConstantIntValue(slices) != 1;
  if (!perSlice)
    b.checkEqual(slices, b.getIndexAttr(1),
                 q.mode == Mode::minFirst ? "the mode MIN_FIRST takes one range, not one per slice"
                                          : "with several slices along the axis the ranges must be 1-D");
  for (auto [range, name] : {std::pair(min, "min_range"), {max, "max_range"}})
    b.checkEqual(b.product(b.sizes(range)), slices,
                 Twine(name) + " must have " + (axis < 0 ? "one element" : "one element per slice along the axis"));

  Value isWhole;
  auto body = [&](ImplicitLocOpBuilder &n, Value element, Value scale, Value offset) {
    Value y = q.apply(n, element, scale, offset, isWhole);
    return result.isBF16() ? toBFloat16(n, y) : y;
  };
  if (!perSlice) {
    isWhole = b.scalarInt(b.getI1Type(), 1);
    Value low = b.extractScalar(min), high = b.extractScalar(max);
    Value scale = q.scale(b, low, high), offset = q.mode == Mode::scaled ? scale : q.offset(b, low, high);
    return SmallVector<Value>{b.elementwise(
        input, result, [&](ImplicitLocOpBuilder &n, ValueRange x) { return body(n, x[0], scale, offset); })};
  }

  isWhole = b.compare(arith::CmpIPredicate::eq, slices, b.getIndexAttr(1));
  auto generic = [&](ValueRange inputs, ArrayRef<AffineMap> maps, Value init, ScalarFn compute) -> Value {
    SmallVector<utils::IteratorType> loops(maps.back().getNumDims(), utils::IteratorType::parallel);
    return b
        .create<linalg::GenericOp>(init.getType(), inputs, init, maps, loops,
                                   [&](OpBuilder &nested, Location loc, ValueRange arguments) {
                                     ImplicitLocOpBuilder n(loc, nested);
                                     n.create<linalg::YieldOp>(compute(n, arguments.drop_back()));
                                   })
        .getResult(0);
  };
  // The sizes are equal from here on.
  int64_t known = getConstantIntValue(slices).value_or(ShapedType::kDynamic);
  auto rangeType = RankedTensorType::get({known}, b.getF32Type());
  min = b.castTo(min, rangeType);
  max = b.castTo(max, rangeType);
  AffineMap one = b.getMultiDimIdentityMap(1), all = b.getMultiDimIdentityMap(rank);
  AffineMap along = AffineMap::get(rank, 0, b.getAffineDimExpr(axis));
  auto perRange = [&](ScalarFn compute) {
    return generic({min, max}, {one, one, one}, b.empty(slices, b.getF32Type()), compute);
  };
  Value scales = perRange([&](ImplicitLocOpBuilder &n, ValueRange r) { return q.scale(n, r[0], r[1]); });
  Value offsets = q.mode == Mode::scaled
                      ? scales
                      : perRange([&](ImplicitLocOpBuilder &n, ValueRange r) { return q.offset(n, r[0], r[1]); });
  return SmallVector<Value>{generic({input, scales, offsets}, {all, along, along, all}, b.empty(b.sizes(input), result),
                                    [&](ImplicitLocOpBuilder &n, ValueRange x) { return body(n, x[0], x[1], x[2]); })};
}

STRATA_SLICE_OF(tf, Dequantize) {
  ops.add("Dequantize", {.verify = verifyDequantize, .inferShapes = inferDequantize, .lower = lowerDequantize});
}
