//===- Range.cpp - OpenVINO's Range-4 -------------------------------------===//
//
// The number of elements comes from the operands as they are given, the values
// from the operands cast to the accumulation type: 64-bit integers for integers,
// f64 for f64 and f32, f32 for narrower floating-point types. This is how
// torch.arange does it, with which the specification says Range is aligned.
//
//===----------------------------------------------------------------------===//

#include "../../ONNX/Ops/Elementwise.h"
#include "Dialect/OpenVINO/IR/OpenVINO.h"
#include <cmath>

using arith::CmpFPredicate, arith::CmpIPredicate;

// OpenVINO's names of the numeric element types.
static std::optional<ElementKind> parseOpenVINOType(StringRef name) {
  return llvm::StringSwitch<std::optional<ElementKind>>(name)
      .Case("f16", ElementKind::float16)
      .Case("f32", ElementKind::float32)
      .Case("f64", ElementKind::float64)
      .Case("bf16", ElementKind::bfloat16)
      .Case("f8e4m3", ElementKind::float8e4m3fn)
      .Case("f8e5m2", ElementKind::float8e5m2)
      .Case("i4", ElementKind::int4)
      .Case("i8", ElementKind::int8)
      .Case("i16", ElementKind::int16)
      .Case("i32", ElementKind::int32)
      .Case("i64", ElementKind::int64)
      .Case("u4", ElementKind::uint4)
      .Case("u8", ElementKind::uint8)
      .Case("u16", ElementKind::uint16)
      .Case("u32", ElementKind::uint32)
      .Case("u64", ElementKind::uint64)
      .Default(std::nullopt);
}

static constexpr const char *kAllowedTypes =
    "'; allowed are f16, f32, f64, bf16, f8e4m3, f8e5m2, i4 to i64 and u4 to u64";
static constexpr const char *kNames[] = {"start", "stop", "step"};
enum { kStart, kStop, kStep };

static LogicalResult verifyRange(Operation *operation) {
  auto op = cast<ov::Range_4Op>(operation);
  std::optional<ElementKind> kind = parseOpenVINOType(op.getOutputType());
  if (!kind)
    return op.emitOpError("attribute 'output_type' is '") << op.getOutputType() << kAllowedTypes;
  for (auto [name, scalar] : llvm::zip_equal(kNames, op->getOperands()))
    if (std::optional<Shape> shape = getShape(scalar.getType()); shape && !shape->empty())
      return op.emitOpError() << name << " must be a scalar, but is of rank " << shape->size();
  // The importer asks before the result has a type.
  if (auto output = dyn_cast<TensorType>(op.getOutput().getType());
      output && output.getElementType() != getElementType(op.getContext(), *kind))
    return op.emitOpError("output_type is ")
           << op.getOutputType() << ", but the result holds " << output.getElementType();
  if (std::optional<Shape> shape = getShape(op.getOutput().getType()); shape && shape->size() != 1)
    return op.emitOpError("the result is 1-D, but is declared of rank ") << shape->size();
  return success();
}

//===----------------------------------------------------------------------===//
// What is the same at compile time and at run time
//===----------------------------------------------------------------------===//

namespace {
/// How the elements of a type are computed.
struct Accumulation {
  Type element, type;
  bool isInteger, isUnsigned64;

  explicit Accumulation(Type element) : element(element) {
    MLIRContext *context = element.getContext();
    auto integer = dyn_cast<IntegerType>(element);
    isInteger = static_cast<bool>(integer);
    isUnsigned64 = integer && integer.getWidth() == 64 && integer.isUnsigned();
    if (isInteger)
      type = IntegerType::get(context, 64);
    else
      type = element.isF64() || element.isF32() ? Type(Float64Type::get(context)) : Type(Float32Type::get(context));
  }
  StringRef getName() const { return isInteger ? "64-bit integers" : type.isF64() ? "f64" : "f32"; }
  /// Operands of floating point that an accumulation in integers can hold: [-2^63, limit).
  double getLimit() const { return isUnsigned64 ? 0x1p64 : 0x1p63; }
  /// Where all operands are 64-bit integers or narrower, and so is the result, nothing is rounded.
  bool countsExactly(TypeRange operands) const {
    auto integer = dyn_cast<IntegerType>(element);
    return integer && integer.getWidth() == 64 &&
           llvm::all_of(operands, [](Type type) { return isa<IntegerType>(cast<TensorType>(type).getElementType()); });
  }
  /// More elements than fit into the address space are an error before they are asked for.
  int64_t getMostElements() const {
    return (int64_t(1) << 47) / (getSeamElementType(element).getIntOrFloatBitWidth() / 8);
  }
  std::string notFinite(unsigned i) const { return (Twine(kNames[i]) + " is infinite or not a number").str(); }
  std::string outOfRange(unsigned i) const {
    return (Twine(kNames[i]) + " is out of the range of " + getName() + ", in which the elements are computed").str();
  }
  std::string zero() const { return "step is zero"; }
  std::string castToZero() const {
    return ("step is zero after its cast to " + getName() + ", in which the elements are computed").str();
  }
  std::string tooMany() const { return "there are more elements than memory can hold"; }
};
} // namespace

//===----------------------------------------------------------------------===//
// At compile time
//===----------------------------------------------------------------------===//

namespace {
/// An operand: its value in f64 and, of an integer, the value itself.
struct Known {
  bool isInteger = false;
  double number = 0;
  __int128 integer = 0;
  /// As a 64-bit integer, wrapped.
  int64_t bits() const { return static_cast<int64_t>(isInteger ? integer : static_cast<__int128>(number)); }
};
} // namespace

static std::optional<Known> getKnown(ShapeContext &c, unsigned i) {
  auto type = dyn_cast<IntegerType>(c.elementType(i));
  if (!type) {
    auto numbers = c.floats(i);
    return numbers && numbers->size() == 1 ? std::optional(Known{false, numbers->front(), 0}) : std::nullopt;
  }
  __int128 value;
  // Not from the analysis, which has no number for the lowest int64.
  if (auto constant = dyn_cast_or_null<DenseIntElementsAttr>(getConstant(c.input(i)));
      constant && constant.getNumElements() == 1) {
    APInt element = *constant.value_begin<APInt>();
    value = type.isUnsigned() ? static_cast<__int128>(element.getZExtValue()) : element.getSExtValue();
  } else if (auto integers = c.integers(i); integers && integers->size() == 1) {
    value = type.isUnsigned() ? static_cast<__int128>(static_cast<uint64_t>(integers->front())) : integers->front();
  } else {
    return std::nullopt;
  }
  return Known{true, static_cast<double>(value), value};
}

namespace {
struct Sequence {
  int64_t count;
  int64_t start, step; ///< of integers, wrapped
};
} // namespace

// Fails, with a diagnostic, if an operand that is known is none that the run takes; none if one is unknown.
static FailureOr<std::optional<Sequence>> evaluate(ShapeContext &c, const Accumulation &type) {
  std::optional<Known> known[] = {getKnown(c, kStart), getKnown(c, kStop), getKnown(c, kStep)};
  for (auto [i, operand] : llvm::enumerate(known)) {
    if (!operand)
      continue;
    double number = operand->number;
    if (!std::isfinite(number))
      return c.emitError() << type.notFinite(i);
    if (i == kStep && number == 0)
      return c.emitError() << type.zero();
    bool fits = type.isInteger      ? operand->isInteger || (number >= -0x1p63 && number < type.getLimit())
                : type.type.isF32() ? std::isfinite(static_cast<float>(number))
                                    : true;
    if (!fits)
      return c.emitError() << type.outOfRange(i);
    if (i == kStep && (type.isInteger ? operand->bits() == 0 : type.type.isF32() && static_cast<float>(number) == 0))
      return c.emitError() << type.castToZero();
  }
  const auto &[start, stop, step] = known;
  if (!start || !stop || !step)
    return std::optional<Sequence>();
  Sequence sequence{0, start->bits(), step->bits()};
  if (!type.isInteger)
    sequence.start = sequence.step = 0;
  if (type.countsExactly(c.getOperation()->getOperandTypes())) {
    __int128 span = step->integer > 0 ? stop->integer - start->integer : start->integer - stop->integer;
    __int128 by = step->integer > 0 ? step->integer : -step->integer;
    __int128 count = span > 0 ? (span - 1) / by + 1 : 0;
    if (count > type.getMostElements())
      return c.emitError() << type.tooMany();
    sequence.count = static_cast<int64_t>(count);
    return std::optional(sequence);
  }
  double count = std::ceil((stop->number - start->number) / step->number);
  if (count > static_cast<double>(type.getMostElements()))
    return c.emitError() << type.tooMany();
  sequence.count = std::max<int64_t>(static_cast<int64_t>(std::max(count, -1.0)), 0);
  return std::optional(sequence);
}

static LogicalResult inferRange(ShapeContext &c) {
  auto kind = parseOpenVINOType(c.string("output_type", ""));
  if (!kind)
    return c.emitError() << "attribute 'output_type' is '" << c.string("output_type", "") << kAllowedTypes;
  Type element = getElementType(c.getContext(), *kind);
  c.setElementType(0, element);
  FailureOr<std::optional<Sequence>> sequence = evaluate(c, Accumulation(element));
  if (failed(sequence))
    return failure();
  Dim count;
  if (*sequence)
    count = Dim((*sequence)->count);
  else if (ValueAnalysis::Values start = c.values(kStart), stop = c.values(kStop), step = c.values(kStep);
           start && stop && step && start->front().is(0) && step->front().is(1) && stop->front().symbol)
    count = stop->front(); // 0, 1, ... up to a size.
  c.setShape(0, count);
  return success();
}

static ValueAnalysis::Values inferElements(ShapeContext &c) {
  constexpr int64_t maxElements = 256;
  Type element = getElementType(c.getOperation()->getResult(0));
  Accumulation type(element);
  if (!type.isInteger)
    return std::nullopt;
  // What is wrong is said by the rule of shapes.
  ScopedDiagnosticHandler silence(c.getContext(), [](Diagnostic &) { return success(); });
  FailureOr<std::optional<Sequence>> sequence = evaluate(c, type);
  if (failed(sequence) || !*sequence || (*sequence)->count > maxElements)
    return std::nullopt;
  SmallVector<Dim> values;
  for (int64_t i = 0; i < (*sequence)->count; ++i) {
    uint64_t value = static_cast<uint64_t>((*sequence)->start) + static_cast<uint64_t>(i) * (*sequence)->step;
    values.push_back(Dim(wrapInteger(static_cast<int64_t>(value), element)));
  }
  return values;
}

//===----------------------------------------------------------------------===//
// At run time
//===----------------------------------------------------------------------===//

namespace {
class RangeLowering {
public:
  RangeLowering(ov::Range_4Op op, ValueRange operands, LinalgBuilder &b)
      : b(b), op(op), type(getElementType(op.getOutput())) {
    for (auto [operand, source] : llvm::zip_equal(operands, op->getOperands())) {
      scalars.push_back(b.extractScalar(operand));
      types.push_back(getElementType(source));
    }
  }

  /// Checks the operands; to be called before the others.
  void check();
  OpFoldResult count();
  Value elements(OpFoldResult count);

private:
  Value real(double value) { return b.scalar(b.getF64Type(), value); }
  bool isFloat(unsigned i) { return !isa<IntegerType>(types[i]); }
  Value compare(CmpFPredicate predicate, Value x, Value y) { return b.createOrFold<arith::CmpFOp>(predicate, x, y); }
  Value compare(CmpIPredicate predicate, Value x, Value y) { return b.createOrFold<arith::CmpIOp>(predicate, x, y); }
  Value isFinite(Value x) {
    Value infinity = b.create<arith::ConstantOp>(
        FloatAttr::get(x.getType(), APFloat::getInf(cast<FloatType>(x.getType()).getFloatSemantics())));
    return compare(CmpFPredicate::OLT, b.createOrFold<math::AbsFOp>(x), infinity);
  }
  Value isNotZero(Value x) {
    if (isa<FloatType>(x.getType()))
      return compare(CmpFPredicate::UNE, x, b.scalar(x.getType(), 0));
    return compare(CmpIPredicate::ne, x, b.scalarInt(x.getType(), 0));
  }
  Value asDouble(unsigned i) { return scalar::convert(b, scalars[i], types[i], b.getF64Type()); }
  /// In the accumulation type; an integer is wrapped.
  Value accumulated(unsigned i) {
    if (!type.isInteger || !isFloat(i) || !type.isUnsigned64)
      return scalar::convert(b, scalars[i], types[i], type.type);
    Type i64 = b.getI64Type(), u64 = b.getIntegerType(64, /*isSigned=*/false);
    Value value = asDouble(i);
    return b.createOrFold<arith::SelectOp>(compare(CmpFPredicate::OLT, value, real(0)),
                                           scalar::convert(b, value, b.getF64Type(), i64),
                                           scalar::convert(b, value, b.getF64Type(), u64));
  }
  /// Of an integer operand, without loss.
  Value wide(unsigned i) {
    Type i64 = b.getI64Type(), i128 = b.getIntegerType(128);
    Value value = scalar::convert(b, scalars[i], types[i], i64);
    bool isUnsigned64 = scalar::isUnsigned(types[i]) && cast<IntegerType>(types[i]).getWidth() == 64;
    return isUnsigned64 ? b.createOrFold<arith::ExtUIOp>(i128, value) : b.createOrFold<arith::ExtSIOp>(i128, value);
  }
  OpFoldResult countIntegers();
  OpFoldResult countNumbers();
  OpFoldResult asIndex(Value count) { return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), count); }

  LinalgBuilder &b;
  ov::Range_4Op op;
  Accumulation type;
  SmallVector<Value> scalars;
  SmallVector<Type> types;
};
} // namespace

void RangeLowering::check() {
  for (unsigned i : {kStart, kStop, kStep})
    if (isFloat(i))
      b.check(isFinite(asDouble(i)), type.notFinite(i));
  b.check(isNotZero(isFloat(kStep) ? asDouble(kStep) : scalars[kStep]), type.zero());
  for (unsigned i : {kStart, kStop, kStep}) {
    if (type.isInteger && isFloat(i)) {
      Value value = asDouble(i);
      b.check(b.createOrFold<arith::AndIOp>(compare(CmpFPredicate::OGE, value, real(-0x1p63)),
                                            compare(CmpFPredicate::OLT, value, real(type.getLimit()))),
              type.outOfRange(i));
    } else if (type.type.isF32() && types[i].isF64()) {
      b.check(isFinite(accumulated(i)), type.outOfRange(i));
    }
  }
  if (isFloat(kStep) && (type.isInteger || type.type.isF32()))
    b.check(isNotZero(accumulated(kStep)), type.castToZero());
}

// max(ceil((stop - start) / step), 0) in f64.
OpFoldResult RangeLowering::countNumbers() {
  Value span = b.createOrFold<arith::SubFOp>(asDouble(kStop), asDouble(kStart));
  Value count = b.createOrFold<math::CeilOp>(b.createOrFold<arith::DivFOp>(span, asDouble(kStep)));
  b.check(compare(CmpFPredicate::OLE, count, real(static_cast<double>(type.getMostElements()))), type.tooMany());
  Value integer = scalar::convert(b, count, b.getF64Type(), b.getI64Type());
  return asIndex(b.createOrFold<arith::MaxSIOp>(integer, b.scalarInt(b.getI64Type(), 0)));
}

// The same for integers, exactly. The span has up to 66 bits, and there is no division of such: the upper 64 are
// divided as such, the last two by shifting and subtracting.
OpFoldResult RangeLowering::countIntegers() {
  Type i64 = b.getI64Type(), i128 = b.getIntegerType(128);
  auto number = [&](int64_t value) { return b.create<arith::ConstantOp>(IntegerAttr::get(i128, value)).getResult(); };
  Value start = wide(kStart), stop = wide(kStop), step = wide(kStep), zero = number(0), one = number(1);
  Value up = compare(CmpIPredicate::sgt, step, zero);
  Value span = b.createOrFold<arith::SelectOp>(up, b.createOrFold<arith::SubIOp>(stop, start),
                                               b.createOrFold<arith::SubIOp>(start, stop));
  span = b.createOrFold<arith::MaxSIOp>(span, zero);
  Value by = b.createOrFold<arith::SelectOp>(up, step, b.createOrFold<arith::SubIOp>(zero, step));
  by = b.createOrFold<arith::MaxSIOp>(by, one); // A zero was refused before.
  Value upper = b.createOrFold<arith::TruncIOp>(i64, b.createOrFold<arith::ShRUIOp>(span, number(2)));
  Value divisor = b.createOrFold<arith::TruncIOp>(i64, by);
  Value quotient = b.createOrFold<arith::ExtUIOp>(i128, b.createOrFold<arith::DivUIOp>(upper, divisor));
  Value rest = b.createOrFold<arith::ExtUIOp>(i128, b.createOrFold<arith::RemUIOp>(upper, divisor));
  for (int64_t bit : {1, 0}) {
    Value next = b.createOrFold<arith::AndIOp>(b.createOrFold<arith::ShRUIOp>(span, number(bit)), one);
    rest = b.createOrFold<arith::OrIOp>(b.createOrFold<arith::ShLIOp>(rest, one), next);
    Value fits = compare(CmpIPredicate::uge, rest, by);
    rest = b.createOrFold<arith::SubIOp>(rest, b.createOrFold<arith::SelectOp>(fits, by, zero));
    quotient = b.createOrFold<arith::OrIOp>(b.createOrFold<arith::ShLIOp>(quotient, one),
                                            b.createOrFold<arith::ExtUIOp>(i128, fits));
  }
  Value count = b.createOrFold<arith::AddIOp>(
      quotient, b.createOrFold<arith::ExtUIOp>(i128, compare(CmpIPredicate::ne, rest, zero)));
  b.check(compare(CmpIPredicate::ule, count, number(type.getMostElements())), type.tooMany());
  return asIndex(b.createOrFold<arith::TruncIOp>(i64, count));
}

OpFoldResult RangeLowering::count() {
  return type.countsExactly(op->getOperandTypes()) ? countIntegers() : countNumbers();
}

Value RangeLowering::elements(OpFoldResult count) {
  Value start = accumulated(kStart), step = accumulated(kStep);
  return b.generate({count}, getSeamElementType(type.element),
                    [&](ImplicitLocOpBuilder &n, ValueRange indices) -> Value {
                      Value i = n.create<arith::IndexCastOp>(n.getI64Type(), indices[0]);
                      if (type.isInteger) {
                        Value value = n.create<arith::AddIOp>(start, n.create<arith::MulIOp>(i, step));
                        return scalar::convert(n, value, n.getI64Type(), type.element);
                      }
                      // Rounded once in the accumulation type.
                      Value value = n.create<math::FmaOp>(n.create<arith::SIToFPOp>(type.type, i), step, start);
                      return scalar::convert(n, value, type.type, type.element);
                    });
}

static FailureOr<SmallVector<Value>> lowerRange(Operation *operation, ValueRange operands, LinalgBuilder &b) {
  auto op = cast<ov::Range_4Op>(operation);
  RangeLowering range(op, operands, b);
  ShapeContext context(op, b.getAnalysis());
  FailureOr<std::optional<Sequence>> known = evaluate(context, Accumulation(getElementType(op.getOutput())));
  if (failed(known))
    return failure();
  if (*known)
    return SmallVector<Value>{range.elements(b.getIndexAttr((*known)->count))};
  range.check();
  return SmallVector<Value>{range.elements(range.count())};
}

STRATA_SLICE_OF(ov, Range) {
  ops.add("Range",
          {.verify = verifyRange, .inferShapes = inferRange, .inferValues = inferElements, .lower = lowerRange});
}
