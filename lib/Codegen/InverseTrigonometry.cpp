//===- InverseTrigonometry.cpp - asin, acos and atan of f32 without calls -===//
//
// Odd polynomials of |x| where it is small, and elsewhere of what has a known
// distance from it:
//
// - atan(x) = pi/2 + atan(-1 / x) for x > 1, and one polynomial in the square on [0, 1].
// - asin(x) = pi/2 - 2 asin(s), s = sqrt((1 - x) / 2), for x > 1/2: (1 - x) / 2 is
//   exact, and one polynomial in the square serves [0, 1/2]. Half a unit of the root
//   is one of the result: what was lost of it, ((1 - x) / 2 - h^2) / (s + h) behind its
//   first half h, is added. So did Sun's libm.
// - acos(x) = pi/2 - asin(x), 2 asin(s), or pi - 2 asin(s) of -x.
//
// Errors in units of the last place: atan 1.2, asin 0.8, acos 1.1. What is beyond 1
// has the root of a number below 0, which is NaN. Polynomials of minimal maximal
// relative error, fitted with 40 digits.
//
//===----------------------------------------------------------------------===//
#include "ApproximateMath.h"
#include "FloatBuilder.h"

using namespace mlir;
using strata::Floats;
using Compare = arith::CmpFPredicate;

static constexpr float kPi = 0x1.921fb6p1f, kPiLow = -0x1.777a5cp-24f;

static Value expandAtan(Floats &b, Value x) {
  Value magnitude = b.magnitude(x), big = b.is(Compare::OGT, magnitude, 1.0f);
  Value t = b.divide(b.select(big, b.number(-1), magnitude), b.select(big, magnitude, b.number(1)));
  Value z = b.multiply(t, t);
  Value p = b.multiplyAdds(z, {-0x1.d91f5ep-10f, 0x1.66acdep-7f, -0x1.ff3d3cp-6f, 0x1.dac3e4p-5f, -0x1.5824bap-4f,
                               0x1.c09132p-4f, -0x1.2420bp-3f, 0x1.9991e4p-3f, -0x1.55553ep-2f});
  Value high = b.select(big, b.number(kPi / 2), b.number(0)), low = b.select(big, b.number(kPiLow / 2), b.number(0));
  Value sum = b.add(t, b.multiplyAdd(b.multiply(t, z), p, low));
  return b.flip(b.add(high, sum), x);
}

namespace {
/// asin of |x| is s + s * p if it is not `big`, pi/2 - 2 (s + s * p) otherwise.
struct Arcsine {
  Value big, z, s, p;

  Arcsine(Floats &b, Value magnitude) {
    big = b.is(Compare::OGT, magnitude, 0.5f);
    Value distance = b.multiplyAdd(magnitude, b.number(-0.5f), b.number(0.5f));
    z = b.select(big, distance, b.multiply(magnitude, magnitude));
    s = b.select(big, b.create<math::SqrtOp>(z), magnitude);
    p = b.multiply(z, b.multiplyAdds(z, {0x1.34bde4p-5f, 0x1.d52f7ep-7f, 0x1.04d28p-5f, 0x1.6ca758p-5f, 0x1.3338acp-4f,
                                         0x1.55554cp-3f}));
  }
};
} // namespace

static Value expandAsin(Floats &b, Value x) {
  Arcsine of(b, b.magnitude(x));
  Value small = b.multiplyAdd(of.s, of.p, of.s);
  // Its square, and the difference from pi/4 below, are exact.
  Value half = b.fromBits(b.both(b.bits(of.s), b.integer(0xfffff000)));
  Value rest = b.subtract(of.z, b.multiply(half, half));
  // Not 0 by 0 where x is 1.
  Value lost = b.divide(rest, b.add(of.s, b.add(half, b.number(1e-30f))));
  Value correction = b.multiplyAdd(lost, b.number(-2), b.number(kPiLow / 2));
  Value twice = b.multiply(b.add(of.s, of.s), of.p);
  Value angle = b.multiplyAdd(half, b.number(-2), b.number(kPi / 4));
  Value big = b.add(b.number(kPi / 4), b.add(angle, b.subtract(correction, twice)));
  return b.flip(b.select(of.big, big, small), x);
}

static Value expandAcos(Floats &b, Value x) {
  Arcsine of(b, b.magnitude(x));
  Value part = b.flip(b.multiplyAdd(of.s, of.p, of.s), x);
  part = b.select(of.big, b.add(part, part), b.subtract(b.number(0), part));
  // pi, 0 or pi/2.
  Value negative = b.is(Compare::OLT, x, 0.0f);
  auto choose = [&](float whole) {
    Value ofBig = b.select(negative, b.number(whole), b.number(0));
    return b.select(of.big, ofBig, b.number(whole / 2));
  };
  return b.add(choose(kPi), b.add(part, choose(kPiLow)));
}

void strata::populateInverseTrigonometryPatterns(RewritePatternSet &patterns, bool fused) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandFloats<math::AtanOp>>(context, expandAtan, fused);
  patterns.add<ExpandFloats<math::AsinOp>>(context, expandAsin, fused);
  patterns.add<ExpandFloats<math::AcosOp>>(context, expandAcos, fused);
}
