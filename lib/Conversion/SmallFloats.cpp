//===- SmallFloats.cpp - floating-point types of at most 8 bits -----------===//
//
// By integer arithmetic on the bits of an f32; every step is defined for all
// values and has a vector form. The encodings are those of the Open Compute
// Project's MX and OFP8 specifications and, for the FNUZ types, of Noune et al.
//
//===----------------------------------------------------------------------===//

#include "SmallFloats.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace strata::scalar {

namespace {
struct Format {
  int exponentBits, mantissaBits, bias;
  int64_t highest;   // Bits of the largest finite number.
  int64_t infinity;  // Bits, without sign; -1: none.
  int64_t nan;       // Bits, without sign; -1: none.
  bool unsignedZero; // FNUZ: no -0; its bits are the only NaN.
};

/// i32 and f32 arithmetic in a few letters.
struct Bits {
  ImplicitLocOpBuilder &b;

  Value integer(int64_t value) { return b.create<arith::ConstantOp>(b.getI32IntegerAttr(static_cast<int32_t>(value))); }
  Value number(double value) { return b.create<arith::ConstantOp>(b.getF32FloatAttr(static_cast<float>(value))); }
  Value add(Value x, Value y) { return b.create<arith::AddIOp>(x, y); }
  Value bitAnd(Value x, int64_t mask) { return b.create<arith::AndIOp>(x, integer(mask)); }
  Value bitOr(Value x, Value y) { return b.create<arith::OrIOp>(x, y); }
  Value left(Value x, int64_t by) { return b.create<arith::ShLIOp>(x, integer(by)); }
  Value right(Value x, int64_t by) { return b.create<arith::ShRUIOp>(x, integer(by)); }
  Value equal(Value x, int64_t y) { return b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, x, integer(y)); }
  // Of numbers below 2^31.
  Value less(Value x, int64_t y) { return b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, x, integer(y)); }
  Value greater(Value x, int64_t y) { return b.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, x, integer(y)); }
  Value select(Value condition, Value x, Value y) { return b.create<arith::SelectOp>(condition, x, y); }
  Value toFloat(Value x) { return b.create<arith::BitcastOp>(b.getF32Type(), x); }
  Value toBits(Value x) { return b.create<arith::BitcastOp>(b.getI32Type(), x); }
};
} // namespace

static constexpr int64_t kInfinity = 0x7f800000, kNaN = 0x7fc00000;

static std::optional<Format> getFormat(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return Format{4, 3, 7, 0x7e, -1, 0x7f, false};
  if (isa<Float8E4M3FNUZType>(type))
    return Format{4, 3, 8, 0x7f, -1, 0x80, true};
  if (isa<Float8E5M2Type>(type))
    return Format{5, 2, 15, 0x7b, 0x7c, 0x7e, false};
  if (isa<Float8E5M2FNUZType>(type))
    return Format{5, 2, 16, 0x7f, -1, 0x80, true};
  if (isa<onnx::F6E2M3Type>(type))
    return Format{2, 3, 1, 0x1f, -1, -1, false};
  if (isa<onnx::F6E3M2Type>(type))
    return Format{3, 2, 3, 0x1f, -1, -1, false};
  if (isa<onnx::F4E2M1Type>(type))
    return Format{2, 1, 1, 0x7, -1, -1, false};
  return std::nullopt;
}

// float8e8m0: 2^(bits - 127), 255 is NaN. The exponent of an f32, but for 2^-127, which is denormal there.
static Value decodeE8M0(Bits n, Value bits) {
  Value value = n.select(n.equal(bits, 0), n.integer(0x00400000), n.left(bits, 23));
  return n.toFloat(n.select(n.equal(bits, 0xff), n.integer(kNaN), value));
}

// Rounds |x| to a power of two: up, down, or to the nearest (the larger of two that are equally near).
static Value encodeE8M0(Bits n, Value value, bool saturate, RoundMode mode) {
  Value magnitude = n.bitAnd(n.toBits(value), 0x7fffffff);
  // Half of the smallest f32 is not needed: below 2^-126 the result is 0 or 1, by comparison with 2^-127 or 1.5 *
  // 2^-127.
  int64_t increment = mode == RoundMode::up ? 0x7fffff : mode == RoundMode::nearest ? 0x400000 : 0;
  Value rounded = n.right(n.add(magnitude, n.integer(increment)), 23);
  Value isTiny = n.less(magnitude, 0x00800000);
  Value tiny = mode == RoundMode::up        ? n.greater(magnitude, 0x00400000)
               : mode == RoundMode::nearest ? n.greater(magnitude, 0x005fffff)
                                            : n.less(magnitude, 0);
  rounded = n.select(isTiny, n.select(tiny, n.integer(1), n.integer(0)), rounded);
  Value tooLarge = n.greater(rounded, 0xfe), tooSmall = n.less(magnitude, 0x00400000);
  rounded = n.select(tooLarge, n.integer(saturate ? 0xfe : 0xff), rounded);
  if (!saturate)
    rounded = n.select(tooSmall, n.integer(0xff), rounded);
  return n.select(n.greater(magnitude, kInfinity), n.integer(0xff), rounded);
}

Value decodeSmallFloat(ImplicitLocOpBuilder &b, Value byte, Type onnxElement) {
  Bits n{b};
  Value bits = b.create<arith::ExtUIOp>(b.getI32Type(), byte);
  std::optional<Format> format = getFormat(onnxElement);
  if (!format)
    return decodeE8M0(n, bits);
  int width = format->exponentBits + format->mantissaBits;
  Value magnitude = n.bitAnd(bits, (1 << width) - 1);
  Value sign = n.left(n.bitAnd(bits, 1 << width), 31 - width);
  Value normal = n.add(n.left(magnitude, 23 - format->mantissaBits), n.integer(int64_t(127 - format->bias) << 23));
  // Below the smallest normal number: a multiple of the smallest number.
  Value count = b.create<arith::SIToFPOp>(b.getF32Type(), magnitude);
  Value unit = n.number(std::ldexp(1.0, 1 - format->bias - format->mantissaBits));
  Value denormal = n.toBits(b.create<arith::MulFOp>(count, unit));
  Value result = n.select(n.less(magnitude, 1 << format->mantissaBits), denormal, normal);
  if (format->infinity >= 0)
    result = n.select(n.equal(magnitude, format->infinity), n.integer(kInfinity), result);
  if (format->nan >= 0) {
    Value isNaN = format->unsignedZero    ? n.equal(bits, format->nan)
                  : format->infinity >= 0 ? n.greater(magnitude, format->infinity)
                                          : n.equal(magnitude, format->nan);
    result = n.select(isNaN, n.integer(kNaN), result);
  }
  return n.toFloat(n.bitOr(result, sign));
}

Value encodeSmallFloat(ImplicitLocOpBuilder &b, Value value, Type onnxElement, bool saturate, RoundMode mode) {
  Bits n{b};
  auto toByte = [&](Value bits) -> Value { return b.create<arith::TruncIOp>(b.getI8Type(), bits); };
  std::optional<Format> format = getFormat(onnxElement);
  if (!format)
    return toByte(encodeE8M0(n, value, saturate, mode));
  int width = format->exponentBits + format->mantissaBits, dropped = 23 - format->mantissaBits;
  Value all = n.toBits(value), magnitude = n.bitAnd(all, 0x7fffffff);
  Value sign = n.left(n.right(all, 31), width);

  // Normal: the exponent's bias changes, then the mantissa rounds to nearest even, into the exponent if it must.
  Value odd = n.bitAnd(n.right(magnitude, dropped), 1);
  Value half = n.integer((int64_t(1) << (dropped - 1)) - 1 - (int64_t(127 - format->bias) << 23));
  Value normal = n.right(n.add(n.add(magnitude, half), odd), dropped);
  // Denormal: added to a number whose last bit is the smallest number, it rounds by itself.
  double anchor = std::ldexp(1.0, 1 - format->bias - format->mantissaBits + 23);
  Value sum = n.toBits(b.create<arith::AddFOp>(n.toFloat(magnitude), n.number(anchor)));
  Value denormal = b.create<arith::SubIOp>(sum, n.toBits(n.number(anchor)));
  Value isDenormal = n.less(magnitude, int64_t(127 - format->bias + 1) << 23);
  Value result = n.select(isDenormal, denormal, normal);

  int64_t overflow = saturate || format->nan < 0 ? format->highest
                     : format->infinity >= 0     ? format->infinity
                                                 : format->nan;
  Value isTooLarge = n.b.create<arith::CmpIOp>(arith::CmpIPredicate::ugt, result, n.integer(format->highest));
  result = n.select(isTooLarge, n.integer(overflow), result);
  // Without a NaN, it becomes a zero; which one is no difference of value, and as others do it.
  Value isNaN = n.greater(magnitude, kInfinity);
  result = n.select(isNaN, n.integer(std::max<int64_t>(format->nan, 0)), result);
  if (format->nan < 0)
    sign = b.create<arith::XOrIOp>(sign, n.select(isNaN, n.integer(1 << width), n.integer(0)));
  if (format->unsignedZero) // Neither zero nor NaN has a sign.
    sign = n.select(n.equal(n.bitAnd(result, 0x7f), 0), n.integer(0), sign);
  return toByte(n.bitOr(result, sign));
}

} // namespace strata::scalar
