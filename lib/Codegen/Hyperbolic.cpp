//===- Hyperbolic.cpp - hyperbolic functions of f32 without calls ---------===//
//
// sinh and cosh, of x = |x| = n ln 2 + r: with A = 2^(n - 1), B = 2^(-n - 1),
//
//   sinh(x) = (A - B) cosh(r) + (A + B) sinh(r),
//   cosh(x) = (A + B) cosh(r) + (A - B) sinh(r):
//
// no division, and nothing cancels. n is round(x / ln 2), but 0 below 0.69, where
// sinh(x) is the odd polynomial alone, and at most 128, whose A is finite: what is
// larger than all numbers becomes so by the last sum. |r| < 0.7 where the result is
// finite.
//
// The inverses are an odd polynomial in the near of 0 (acosh: sqrt(2 t) times a
// polynomial in t = x - 1), and far from it logarithms of what is known exactly plus
// a polynomial that is small:
//
//   asinh(x) = log(2 x) + log((1 + sqrt(1 + w)) / 2), w = 1 / x^2, x > 1
//   acosh(x) = log(2 x) + log((1 + sqrt(1 - w)) / 2), x > 2
//   atanh(x) = (log(2) - log(d) + log(1 - d / 2)) / 2, d = 1 - x, x > 1/2
//
// Errors in units of the last place: sinh 1.3, cosh 1.3, asinh 1.1, acosh 1.6, atanh
// 0.9. Polynomials of minimal maximal relative error, fitted with 40 digits.
//
//===----------------------------------------------------------------------===//
#include "ApproximateMath.h"
#include "FloatBuilder.h"
#include "Logarithm.h"

using namespace mlir;
using strata::Floats;
using strata::Logarithm;
using Compare = arith::CmpFPredicate;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

namespace {
struct Exponentials {
  Value a, b, r, sinh, cosh; // sinh(r) - r and cosh(r) - 1

  Exponentials(Floats &f, Value x) {
    x = f.bound(x, Compare::OGT, 91);
    Value shifter = f.number(0x1.8p23f);
    Value n = f.subtract(f.multiplyAdd(x, f.number(Floats::log2e), shifter), shifter);
    n = f.bound(n, Compare::OGT, 128);
    // NaN has the power 0, too.
    n = f.select(f.is(Compare::OGE, x, 0.69f), n, f.number(0));
    r = f.besidesPower(x, n);
    Value z = f.multiply(r, r);
    sinh = f.multiply(f.multiply(r, z),
                      f.multiplyAdds(z, {0x1.562a6cp-19f, 0x1.a08ab6p-13f, 0x1.11108ep-7f, 0x1.555556p-3f}));
    cosh = f.multiply(z, f.multiplyAdds(z, {0x1.a4d854p-16f, 0x1.6c10b4p-10f, 0x1.55555ap-5f, 0.5f}));
    Value whole = f.create<arith::FPToSIOp>(f.integers(), n), position = f.integer(23);
    // 2^(-n - 1) is none of a large n; 0 will do.
    Value low = f.create<arith::MaxSIOp>(f.create<arith::SubIOp>(f.integer(126), whole), f.integer(0));
    a = f.fromBits(f.create<arith::ShLIOp>(f.create<arith::AddIOp>(whole, f.integer(126)), position));
    b = f.fromBits(f.create<arith::ShLIOp>(low, position));
  }
};
} // namespace

static Value expandSinh(Floats &b, Value x) {
  Exponentials e(b, b.magnitude(x));
  Value sum = b.add(e.a, e.b), difference = b.subtract(e.a, e.b);
  Value rest = b.multiplyAdd(sum, e.sinh, b.multiply(difference, e.cosh));
  return b.flip(b.add(difference, b.multiplyAdd(sum, e.r, rest)), x);
}

static Value expandCosh(Floats &b, Value x) {
  Exponentials e(b, b.magnitude(x));
  Value sum = b.add(e.a, e.b), difference = b.subtract(e.a, e.b);
  // A + B may have one bit too many.
  Value rest = b.multiplyAdd(difference, e.sinh, b.multiplyAdd(sum, e.cosh, e.b));
  return b.add(e.a, b.multiplyAdd(difference, e.r, rest));
}

/// log(2 x) + a small addend, of a normal x; infinity and NaN stay.
static Value logOfTwice(Floats &b, Value x, Value addend) {
  Logarithm log(b, x);
  Value n = b.add(log.n, b.number(1));
  Value rest = b.multiplyAdd(n, b.number(Floats::ln2Low), b.add(log.rest, addend));
  Value result = b.multiplyAdd(n, b.number(Floats::ln2), b.add(log.f, rest));
  return b.select(b.is(Compare::OLT, x, kInfinity), result, x);
}

static Value expandAsinh(Floats &b, Value x) {
  Value magnitude = b.magnitude(x), z = b.multiply(magnitude, magnitude);
  Value p = b.multiplyAdds(z, {0x1.6161f6p-11f, -0x1.f7211cp-9f, 0x1.55cdbcp-7f, -0x1.3a47e4p-6f, 0x1.e29cc4p-6f,
                               -0x1.6c71dap-5f, 0x1.3325bcp-4f, -0x1.555524p-3f});
  Value near = b.multiplyAdd(b.multiply(magnitude, z), p, magnitude);
  Value w = b.divide(b.number(1), z);
  Value addend = b.multiplyAdds(w, {-0x1.80664cp-11f, 0x1.1239a2p-8f, -0x1.7653b8p-7f, 0x1.5b8b1p-6f, -0x1.0ff0a2p-5f,
                                    0x1.a9522ap-5f, -0x1.7ff1c6p-4f, 0x1.ffffccp-3f});
  Value far = logOfTwice(b, magnitude, b.multiply(w, addend));
  return b.flip(b.select(b.is(Compare::OGT, magnitude, 1.0f), far, near), x);
}

static Value expandAcosh(Floats &b, Value x) {
  // Below 1, the root of a number below 0.
  Value t = b.subtract(x, b.number(1)), root = b.create<math::SqrtOp>(b.add(t, t));
  Value p = b.multiplyAdds(
      t, {0x1.5b1ac4p-14f, -0x1.09af66p-11f, 0x1.d4c38ap-10f, -0x1.6b7b3cp-8f, 0x1.331e6ap-6f, -0x1.555514p-4f});
  Value near = b.multiplyAdd(b.multiply(root, t), p, root);
  Value w = b.divide(b.number(1), b.multiply(x, x));
  Value addend =
      b.multiplyAdds(w, {-0x1.789ad2p-5f, -0x1.c25ca2p-6f, -0x1.b1fb48p-5f, -0x1.7fcacep-4f, -0x1.00003ep-2f});
  Value far = logOfTwice(b, x, b.multiply(w, addend));
  return b.select(b.is(Compare::OGT, x, 2.0f), far, near);
}

static Value expandAtanh(Floats &b, Value x) {
  Value magnitude = b.magnitude(x), z = b.multiply(magnitude, magnitude);
  Value p =
      b.multiplyAdds(z, {0x1.6947fp-3f, 0x1.a69738p-5f, 0x1.e4046p-4f, 0x1.234d6p-3f, 0x1.99a678p-3f, 0x1.55554p-2f});
  Value near = b.multiplyAdd(b.multiply(magnitude, z), p, magnitude);
  Value d = b.subtract(b.number(1), magnitude);
  Value addend = b.multiplyAdds(
      d, {-0x1.8538dp-9f, -0x1.d828d4p-10f, -0x1.0fa9b4p-7f, -0x1.53f264p-6f, -0x1.00071cp-4f, -0x1.ffffe8p-3f});
  Logarithm log(b, d);
  Value n = b.subtract(b.number(1), log.n), half = b.number(-0.5f);
  Value rest = b.multiplyAdd(n, b.number(Floats::ln2Low / 2), b.multiplyAdd(log.rest, half, b.multiply(d, addend)));
  Value far = b.multiplyAdd(n, b.number(Floats::ln2 / 2), b.multiplyAdd(log.f, half, rest));
  Value beyond = b.select(b.is(Compare::OEQ, magnitude, 1.0f), b.number(kInfinity),
                          b.number(std::numeric_limits<float>::quiet_NaN()));
  far = b.select(b.is(Compare::OLT, magnitude, 1.0f), far, beyond);
  return b.flip(b.select(b.is(Compare::OGT, magnitude, 0.5f), far, near), x);
}

void strata::populateHyperbolicPatterns(RewritePatternSet &patterns, bool fused) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandFloats<math::SinhOp>>(context, expandSinh, fused);
  patterns.add<ExpandFloats<math::CoshOp>>(context, expandCosh, fused);
  patterns.add<ExpandFloats<math::AsinhOp>>(context, expandAsinh, fused);
  patterns.add<ExpandFloats<math::AcoshOp>>(context, expandAcosh, fused);
  patterns.add<ExpandFloats<math::AtanhOp>>(context, expandAtanh, fused);
}
