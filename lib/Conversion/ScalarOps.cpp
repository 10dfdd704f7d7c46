//===- ScalarOps.cpp - scalar semantics of ONNX's element types -----------===//

#include "Conversion/ScalarOps.h"
#include "Conversion/LinalgBuilder.h"
#include "SmallFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace strata::scalar {

bool isUnsigned(Type onnxElement) {
  auto integer = dyn_cast<IntegerType>(onnxElement);
  return integer && (integer.isUnsigned() || integer.getWidth() == 1);
}

Type getComputeType(Type onnxElement) {
  if (isa<IntegerType, ComplexType, Float32Type, Float64Type>(onnxElement))
    return getSeamElementType(onnxElement);
  return Float32Type::get(onnxElement.getContext());
}

/// On what one operator rounds and another one extends: where both come into one loop, the folder of `arith.extf` takes
/// such a pair away. What is stored is rounded, and so is what `convert` reads and makes.
static constexpr arith::FastMathFlags kInLoop = arith::FastMathFlags::contract;

static Value decode(ImplicitLocOpBuilder &b, Value element, Type onnxElement, arith::FastMathFlags flags) {
  Type compute = getComputeType(onnxElement);
  if (element.getType() == compute)
    return element;
  if (isa<FloatType>(element.getType())) {
    auto extended = b.create<arith::ExtFOp>(compute, element);
    if (flags != arith::FastMathFlags::none)
      extended.setFastmath(flags);
    return extended;
  }
  return decodeSmallFloat(b, element, onnxElement);
}

Value decode(ImplicitLocOpBuilder &b, Value element, Type onnxElement) {
  return decode(b, element, onnxElement, kInLoop);
}

Value encode(ImplicitLocOpBuilder &b, Value value, Type onnxElement, bool saturate, RoundMode mode) {
  Type seam = getSeamElementType(onnxElement);
  if (value.getType() == seam)
    return value;
  if (isa<FloatType>(seam)) {
    auto rounded = b.create<arith::TruncFOp>(seam, value);
    rounded.setFastmath(kInLoop);
    return rounded;
  }
  return encodeSmallFloat(b, value, onnxElement, saturate, mode);
}

// An f64 as an f32 that rounds on as the f64 would: inexact values get an odd last bit ("round to odd").
static Value truncateToOdd(ImplicitLocOpBuilder &b, Value value) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type(), f64 = b.getF64Type();
  auto constant = [&](int64_t v) -> Value { return b.create<arith::ConstantOp>(b.getI32IntegerAttr(v)); };
  Value rounded = b.create<arith::TruncFOp>(f32, value), back = b.create<arith::ExtFOp>(f64, rounded);
  Value bits = b.create<arith::BitcastOp>(i32, rounded);
  Value away =
      b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, b.create<math::AbsFOp>(back), b.create<math::AbsFOp>(value));
  Value inexact = b.create<arith::CmpFOp>(arith::CmpFPredicate::ONE, back, value);
  bits = b.create<arith::SubIOp>(bits, b.create<arith::SelectOp>(away, constant(1), constant(0)));
  bits = b.create<arith::OrIOp>(bits, b.create<arith::SelectOp>(inexact, constant(1), constant(0)));
  return b.create<arith::BitcastOp>(f32, bits);
}

static Value zero(ImplicitLocOpBuilder &b, Type type) { return b.create<arith::ConstantOp>(b.getZeroAttr(type)); }

// Truncates towards zero; what does not fit saturates, NaN becomes 0 (fptosi alone would leave both undefined).
static Value floatToInteger(ImplicitLocOpBuilder &b, Value value, IntegerType to, bool isUnsigned, unsigned valueBits) {
  Type type = value.getType();
  if (cast<FloatType>(type).getWidth() < 32) {
    type = b.getF32Type();
    value = b.create<arith::ExtFOp>(type, value);
  }
  const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  APInt lowest = isUnsigned ? APInt::getZero(valueBits) : APInt::getSignedMinValue(valueBits);
  APInt highest = isUnsigned ? APInt::getMaxValue(valueBits) : APInt::getSignedMaxValue(valueBits);
  auto toFloat = [&](const APInt &bound) {
    APFloat f(semantics);
    f.convertFromAPInt(bound, !isUnsigned, APFloat::rmTowardZero);
    return b.create<arith::ConstantOp>(FloatAttr::get(type, f)).getResult();
  };
  // Numbers within the bounds first, so that the conversion is defined for every value.
  Value low = toFloat(lowest), high = toFloat(highest);
  Value isNaN = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
  Value number = b.create<arith::SelectOp>(isNaN, zero(b, type), value);
  Value clamped = b.create<arith::MinNumFOp>(b.create<arith::MaxNumFOp>(number, low), high);
  Value converted = isUnsigned ? b.create<arith::FPToUIOp>(to, clamped).getResult()
                               : b.create<arith::FPToSIOp>(to, clamped).getResult();
  APFloat above(semantics);
  if (above.convertFromAPInt(highest, !isUnsigned, APFloat::rmTowardPositive) == APFloat::opOK)
    return converted;
  // The float below 2^n is smaller than the highest integer: only values from 2^n on saturate.
  Value bound = b.create<arith::ConstantOp>(FloatAttr::get(type, above));
  Value tooHigh = b.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, value, bound);
  unsigned width = std::max(valueBits, to.getWidth());
  Value most =
      b.create<arith::ConstantOp>(IntegerAttr::get(to, isUnsigned ? highest.zext(width) : highest.sext(width)));
  return b.create<arith::SelectOp>(tooHigh, most, converted);
}

Value convert(ImplicitLocOpBuilder &b, Value element, Type from, Type to, bool saturate, RoundMode mode) {
  if (from == to)
    return element;
  Value value = decode(b, element, from, arith::FastMathFlags::none);
  Type seamTo = getSeamElementType(to), computeTo = getComputeType(to);
  Type type = value.getType();

  if (auto complexTo = dyn_cast<ComplexType>(to)) {
    Type part = complexTo.getElementType();
    Value re = value, im;
    if (isa<ComplexType>(from)) {
      Type fromPart = cast<ComplexType>(from).getElementType();
      re = convert(b, b.create<complex::ReOp>(value), fromPart, part);
      im = convert(b, b.create<complex::ImOp>(value), fromPart, part);
    } else {
      re = convert(b, value, from, part);
      im = zero(b, part);
    }
    return b.create<complex::CreateOp>(complexTo, re, im);
  }
  if (isa<ComplexType>(from)) // Only the real part counts.
    return convert(b, b.create<complex::ReOp>(value), cast<ComplexType>(from).getElementType(), to, saturate, mode);

  if (to.isSignlessInteger(1)) {
    if (isa<FloatType>(type))
      return b.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, value, zero(b, type));
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, value, zero(b, type));
  }
  if (auto integer = dyn_cast<IntegerType>(to)) {
    auto seam = cast<IntegerType>(seamTo);
    if (isa<FloatType>(type)) {
      if (integer.getWidth() >= 8)
        return floatToInteger(b, value, seam, isUnsigned(to), integer.getWidth());
      value = floatToInteger(b, value, b.getI32Type(), /*isUnsigned=*/false, 32);
      type = value.getType();
    }
    unsigned width = cast<IntegerType>(type).getWidth();
    if (width > seam.getWidth())
      value = b.create<arith::TruncIOp>(seam, value);
    else if (width < seam.getWidth())
      value = isUnsigned(from) ? b.create<arith::ExtUIOp>(seam, value).getResult()
                               : b.create<arith::ExtSIOp>(seam, value).getResult();
    if (integer.getWidth() < 8) { // Wraps to its own width, then extends within the byte.
      Value shift = b.create<arith::ConstantOp>(b.getI8IntegerAttr(8 - integer.getWidth()));
      value = b.create<arith::ShLIOp>(value, shift);
      value = isUnsigned(to) ? b.create<arith::ShRUIOp>(value, shift).getResult()
                             : b.create<arith::ShRSIOp>(value, shift).getResult();
    }
    return value;
  }
  // To floating point.
  if (isa<IntegerType>(type)) {
    // Through f64 where that is exact for more integers than f32, so that the only rounding is the last.
    Type wide = computeTo.isF32() && seamTo.isF32() ? computeTo : Type(b.getF64Type());
    if (computeTo.isF64())
      wide = computeTo;
    value = isUnsigned(from) ? b.create<arith::UIToFPOp>(wide, value).getResult()
                             : b.create<arith::SIToFPOp>(wide, value).getResult();
    if (isa<FloatType>(seamTo))
      return value.getType() == seamTo ? value : b.create<arith::TruncFOp>(seamTo, value).getResult();
    return encode(b, truncateToOdd(b, value), to, saturate, mode);
  }
  if (isa<FloatType>(seamTo)) {
    unsigned fromWidth = cast<FloatType>(type).getWidth(), toWidth = cast<FloatType>(seamTo).getWidth();
    if (type == seamTo)
      return value;
    return fromWidth < toWidth ? b.create<arith::ExtFOp>(seamTo, value).getResult()
                               : b.create<arith::TruncFOp>(seamTo, value).getResult();
  }
  return encode(b, type.isF64() ? truncateToOdd(b, value) : value, to, saturate, mode);
}

TypedAttr getLowest(Type onnxElement) {
  Type type = getComputeType(onnxElement);
  if (auto f = dyn_cast<FloatType>(type))
    return FloatAttr::get(f, APFloat::getInf(f.getFloatSemantics(), /*Negative=*/true));
  unsigned width = cast<IntegerType>(type).getWidth(), bits = cast<IntegerType>(onnxElement).getWidth();
  return IntegerAttr::get(type,
                          isUnsigned(onnxElement) ? APInt::getZero(width) : APInt::getSignedMinValue(bits).sext(width));
}

TypedAttr getHighest(Type onnxElement) {
  Type type = getComputeType(onnxElement);
  if (auto f = dyn_cast<FloatType>(type))
    return FloatAttr::get(f, APFloat::getInf(f.getFloatSemantics()));
  unsigned width = cast<IntegerType>(type).getWidth(), bits = cast<IntegerType>(onnxElement).getWidth();
  return IntegerAttr::get(type, isUnsigned(onnxElement) ? APInt::getMaxValue(bits).zext(width)
                                                        : APInt::getSignedMaxValue(bits).sext(width));
}

Value expBelow(ImplicitLocOpBuilder &b, Value x, Value most) {
  auto exp = b.create<math::ExpOp>(b.create<arith::SubFOp>(x, most), arith::FastMathFlags::afn);
  exp->setDiscardableAttr(kNotPositive, b.getUnitAttr());
  return exp;
}

// The exponential is infinite for a very negative x and the quotient is 0, as it should be.
Value logistic(ImplicitLocOpBuilder &b, Value x) {
  Value one = b.create<arith::ConstantOp>(b.getFloatAttr(x.getType(), 1));
  Value exp = b.create<math::ExpOp>(b.create<arith::NegFOp>(x), arith::FastMathFlags::afn);
  return b.create<arith::DivFOp>(one, b.create<arith::AddFOp>(exp, one));
}

} // namespace strata::scalar
