//===- Scaling.cpp - Scaler, Imputer, Normalizer --------------------------===//
//
// The ai.onnx.ml operators that map elements by a parameter per feature or row.
//
//===----------------------------------------------------------------------===//

#include "../Norms.h"

// A number as f32 if it is one, as f64 (which holds every int32, and rounds int64) otherwise.
static Value toFloat(ImplicitLocOpBuilder &n, Value x) {
  if (isa<FloatType>(x.getType()))
    return x;
  return n.create<arith::SIToFPOp>(n.getF64Type(), x);
}
static Value toF32(ImplicitLocOpBuilder &n, Value x) {
  return x.getType().isF32() ? x : n.create<arith::TruncFOp>(n.getF32Type(), x).getResult();
}

//===----------------------------------------------------------------------===//
// Scaler and Imputer: one parameter per feature, or one for all
//===----------------------------------------------------------------------===//

// Errors unless the named lists have one value or one per feature.
static LogicalResult checkPerFeature(ShapeContext &c, ArrayRef<StringRef> names) {
  std::optional<Shape> shape = c.shape(0);
  for (StringRef name : names) {
    Attribute attr = c.getOperation()->getAttr(name);
    int64_t count = 1;
    if (auto floats = dyn_cast_or_null<DenseF32ArrayAttr>(attr))
      count = floats.size();
    else if (auto integers = dyn_cast_or_null<DenseI64ArrayAttr>(attr))
      count = integers.size();
    if (count == 1 || !shape)
      continue;
    if (count == 0 || shape->empty() || (shape->back().isStatic() && shape->back().size != count))
      return c.emitError() << "'" << name << "' has " << count << " values, neither 1 nor one per feature";
  }
  return success();
}

// A constant of the values in `element`, to be broadcast over the features.
template <typename T> static Value perFeature(LinalgBuilder &b, ArrayRef<T> values, Type element, Value x) {
  if (values.size() > 1)
    b.checkEqual(b.dim(x, getRank(x) - 1), b.getIndexAttr(values.size()), "there is not one parameter per feature");
  SmallVector<Attribute> attrs;
  for (T value : values)
    attrs.push_back(isa<FloatType>(element) ? TypedAttr(b.getFloatAttr(element, static_cast<double>(value)))
                                            : TypedAttr(b.getIntegerAttr(element, static_cast<int64_t>(value))));
  SmallVector<int64_t> shape;
  if (values.size() > 1)
    shape.push_back(values.size());
  return b.constant(DenseElementsAttr::get(RankedTensorType::get(shape, element), attrs));
}

static LogicalResult inferScaler(ShapeContext &c) {
  c.copyShape(0);
  return checkPerFeature(c, {"offset", "scale"});
}

static FailureOr<SmallVector<Value>> lowerScaler(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto scaler = cast<ScalerOp>(op);
  Type compute = getElementType(operands[0]).isF32() ? Type(b.getF32Type()) : Type(b.getF64Type());
  Value offset = perFeature<float>(b, scaler.getOffset().value_or(ArrayRef<float>{0.0f}), compute, operands[0]);
  Value scale = perFeature<float>(b, scaler.getScale().value_or(ArrayRef<float>{1.0f}), compute, operands[0]);
  return SmallVector<Value>{
      b.elementwise({operands[0], offset, scale}, b.getF32Type(), [&](ImplicitLocOpBuilder &n, ValueRange v) {
        Value moved = n.create<arith::SubFOp>(toFloat(n, v[0]), v[1]);
        return toF32(n, n.create<arith::MulFOp>(moved, v[2]));
      })};
}

static LogicalResult inferImputer(ShapeContext &c) {
  c.copyShape(0);
  Type element = c.elementType(0);
  if (element && !c.hasAttr(isa<FloatType>(element) ? "imputed_value_floats" : "imputed_value_int64s"))
    return c.emitError() << "has no values of the input's kind to replace with";
  return checkPerFeature(c, {"imputed_value_floats", "imputed_value_int64s"});
}

static FailureOr<SmallVector<Value>> lowerImputer(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto imputer = cast<ImputerOp>(op);
  Type element = getElementType(operands[0]);
  bool isFloat = isa<FloatType>(element);
  Value values = isFloat ? perFeature<float>(b, *imputer.getImputedValueFloats(), element, operands[0])
                         : perFeature<int64_t>(b, *imputer.getImputedValueInt64s(), element, operands[0]);
  APFloat missing = imputer.getReplacedValueFloat();
  return SmallVector<Value>{
      b.elementwise({operands[0], values}, element, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
        Value isMissing;
        if (!isFloat)
          isMissing = n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, v[0],
                                              n.create<arith::ConstantOp>(n.getIntegerAttr(
                                                  element, static_cast<int64_t>(imputer.getReplacedValueInt64()))));
        else if (missing.isNaN())
          isMissing = n.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, v[0], v[0]);
        else
          isMissing = n.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, v[0],
                                              constantFloat(n, element, missing.convertToDouble()));
        return n.create<arith::SelectOp>(isMissing, v[1], v[0]);
      })};
}

//===----------------------------------------------------------------------===//
// Normalizer: rows divided by their maximum, sum of magnitudes or Euclidean norm, unless that is 0
//===----------------------------------------------------------------------===//

static LogicalResult inferNormalizer(ShapeContext &c) {
  StringRef norm = c.string("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2")
    return c.emitError() << "'norm' is '" << norm << "', not MAX, L1 or L2";
  if (auto rank = c.rank(0); rank && *rank != 1 && *rank != 2)
    return c.emitError() << "needs an input of rank 1 or 2, not " << *rank;
  c.copyShape(0);
  return success();
}

static FailureOr<SmallVector<Value>> lowerNormalizer(Operation *op, ValueRange operands, LinalgBuilder &b) {
  StringRef norm = cast<NormalizerOp>(op).getNorm();
  Value x = operands[0];
  int64_t rank = getRank(x);
  Type compute = getElementType(x).isF32() ? Type(b.getF32Type()) : Type(b.getF64Type());
  AffineMap full = b.getMultiDimIdentityMap(rank), row = mapWithout(b.getContext(), rank, {rank - 1});
  double start = norm == "MAX" ? -std::numeric_limits<double>::infinity() : 0;
  Value divisors =
      reduceMany(b, x, full, {rank - 1}, b.scalar(compute, start), [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
        Value element = toFloat(n, v[0]);
        if (norm == "MAX")
          return n.create<arith::MaximumFOp>(v[1], element);
        return n.create<arith::AddFOp>(v[1], powerOfAbs(n, element, norm == "L1" ? 1 : 2));
      });
  return SmallVector<Value>{mapElements(
      b, {x, divisors}, {full, row}, b.sizes(x), b.getF32Type(), [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
        Value divisor = norm == "L2" ? n.create<math::SqrtOp>(v[1]).getResult() : v[1];
        Value isZero = n.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, divisor, constantFloat(n, compute, 0));
        divisor = n.create<arith::SelectOp>(isZero, constantFloat(n, compute, 1), divisor);
        return toF32(n, n.create<arith::DivFOp>(toFloat(n, v[0]), divisor));
      })};
}

STRATA_SLICE(Scaling) {
  ops.add("ml.Scaler", {.inferShapes = inferScaler, .lower = lowerScaler});
  ops.add("ml.Imputer", {.inferShapes = inferImputer, .lower = lowerImputer});
  ops.add("ml.Normalizer", {.inferShapes = inferNormalizer, .lower = lowerNormalizer});
}
