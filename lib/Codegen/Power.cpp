//===- Power.cpp - powers of f32 without calls ----------------------------===//
//
// x^y = 2^(y * log2 |x|) and a sign. The exponent is up to 150 and its error that
// of the result, so that f32 has not enough bits for it (upstream's expansion is
// exp(y * log |x|) in the type itself: dozens of units in the last place): the
// logarithm and the product are f64, of which vectors have half as many lanes.
//
// - log2 |x| = e + log2 m, m in [sqrt(1/2), sqrt(2)), and with s = (m - 1) / (m + 1)
//   log2 m = s * q(s^2), q of degree 4. Relative error 4.3e-12, near 1 too.
// - 2^z = 2^n * 2^r, n = round(z), |r| <= 1/2, and a polynomial of degree 6 for 2^r
//   in f32. The last multiplication rounds to subnormal and infinite results.
//
// The error is below 1.1 units in the last place. Polynomials of minimal maximal
// relative error, fitted with 50 digits.
//
//===----------------------------------------------------------------------===//
#include "ApproximateMath.h"
#include "FloatBuilder.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using strata::Floats;
using Compare = arith::CmpFPredicate;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

namespace {
struct PowerBuilder : Floats {
  using Floats::Floats;

  /// log2 of x >= 0 or NaN, in f64; -inf of 0.
  Value log2(Value x) {
    Value small = is(Compare::OLT, x, 0x1p-126f);
    Value normal = select(small, create<arith::MulFOp>(x, number(0x1p24f)), x);
    // The exponent of what is relative to sqrt(1/2) is that of m.
    Value all = bits(normal);
    Value e = create<arith::ShRSIOp>(create<arith::SubIOp>(all, integer(0x3f3504f3)), integer(23));
    Value m = fromBits(create<arith::SubIOp>(all, create<arith::ShLIOp>(e, integer(23))));
    Value exponent = create<arith::SIToFPOp>(type, e);
    exponent = create<arith::SubFOp>(exponent, select(small, number(24), number(0)));
    // 0, infinity and NaN have a finite m.
    exponent = select(is(Compare::OEQ, x, 0.0f), number(-kInfinity), exponent);
    exponent = select(is(Compare::OLT, x, kInfinity), exponent, x);
    Value less = extend(create<arith::SubFOp>(m, number(1))); // Exact.
    Value s = create<arith::DivFOp>(less, create<arith::AddFOp>(less, number64(2)));
    Value q = multiplyAdds64(multiply(s, s), {0x1.5ce7d06e84086p-2, 0x1.a58d8f9a9942ep-2, 0x1.27777fdab4992p-1,
                                              0x1.ec709d12e0f37p-1, 0x1.71547652bede5p+1});
    return multiplyAdd(s, q, extend(exponent));
  }

  /// 2^z in f32 of a z in f64.
  Value exp2(Value z, bool powerScaling) {
    // Beyond, 0 and infinity.
    Value low = number64(-160), high = number64(160);
    z = create<arith::SelectOp>(is(Compare::OLT, z, low), low, z);
    z = create<arith::SelectOp>(is(Compare::OGT, z, high), high, z);
    Value shifter = number64(0x1.8p52);
    Value whole = create<arith::SubFOp>(create<arith::AddFOp>(z, shifter), shifter);
    Value r = truncate(create<arith::SubFOp>(z, whole)), n = truncate(whole);
    Value p = multiplyAdds(
        r, {0x1.41d334p-13f, 0x1.5f456ap-10f, 0x1.3b2dbcp-7f, 0x1.c6aed4p-5f, 0x1.ebfbdap-3f, 0x1.62e43p-1f, 1.0f});
    return timesPowerOfTwo(p, n, create<arith::AddFOp>(n, number(exponentShifter)), powerScaling);
  }

  Value isWhole(Value x) { return is(Compare::OEQ, create<math::FloorOp>(x), x); }
};

struct ApproximatePower : OpRewritePattern<math::PowFOp> {
  ApproximatePower(MLIRContext *context, bool powerScaling, bool fused)
      : OpRewritePattern(context), powerScaling(powerScaling), fused(fused) {}
  bool powerScaling, fused;

  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    PowerBuilder b(op.getLoc(), rewriter, op.getType());
    b.fused = fused;
    Value x = op.getLhs(), y = op.getRhs(), magnitude = b.create<math::AbsFOp>(x);
    // What an infinite exponent gives, the largest gives too, and 1 of -1.
    constexpr float most = std::numeric_limits<float>::max();
    Value z = b.create<arith::MulFOp>(b.extend(b.clamp(y, -most, most)), b.log2(magnitude));
    Value result = b.exp2(z, powerScaling);
    // Numbers below 0 have powers of whole exponents only; -0 and -inf have all, with the sign of the odd ones.
    Value whole = b.isWhole(y), halfWhole = b.isWhole(b.create<arith::MulFOp>(y, b.number(0.5f)));
    Value sign = b.signBit(x);
    sign = b.select(whole, b.select(halfWhole, b.integer(0), sign), b.integer(0));
    result = b.fromBits(b.create<arith::OrIOp>(b.bits(result), sign));
    Value negative = b.both(b.is(Compare::OLT, x, 0.0f), b.is(Compare::OGT, x, -kInfinity));
    Value undefined = b.both(negative, b.is(Compare::UNE, b.create<math::FloorOp>(y), y));
    result = b.select(undefined, b.number(std::numeric_limits<float>::quiet_NaN()), result);
    // Even of NaN.
    Value one = b.either(b.is(Compare::OEQ, x, 1.0f), b.is(Compare::OEQ, y, 0.0f));
    rewriter.replaceOp(op, b.select(one, b.number(1), result));
    return success();
  }
};
} // namespace

void strata::populatePowerPatterns(RewritePatternSet &patterns, bool powerScaling, bool fused) {
  patterns.add<ApproximatePower>(patterns.getContext(), powerScaling, fused);
}
