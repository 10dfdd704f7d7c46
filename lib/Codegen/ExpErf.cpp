//===- ExpErf.cpp - exp and erf of f32 without branches -------------------===//
//
// Upstream's polynomials select among special cases, and its erf among four
// rational functions. These take half of the operations:
//
// - exp(x) = 2^n * exp(r), n = round(x / ln 2), |r| <= ln(2) / 2, and a polynomial
//   of degree 6 for exp(r). The power of two is applied in two halves, so that
//   one rounding, the last, gives subnormal and infinite results. The error is
//   below one unit in the last place.
// - exp(x) with the flag afn, as a softmax has it, = 2^n * 2^r, n = round(x log2 e),
//   |r| <= 1/2, and a polynomial of degree 5 for 2^r, which is 1 for r = 0. What
//   would be subnormal is 0, where the product 2 * 2^r * 2^(n - 1) has a power of
//   two that is 0, and nothing is infinite: two thirds of the operations. The
//   relative error is below 2^-24 (3 + |x| / 3), the second part from log2 e as
//   one f32: half of what the rounding of x itself, a difference, makes.
// - erf(x) = x * p(x^2) for |x| <= 3.92, where erf(x) rounds to 1; p has degree 15
//   in x^2 scaled to [-1, 1], where the sum of the
//   absolute values of its coefficients is no larger than its largest value: no
//   cancellation. The relative error is below 3e-7.
//
// Minimal maximal relative errors, fitted in double precision. NaN stays NaN.
//
//===----------------------------------------------------------------------===//
#include "ApproximateMath.h"
#include "Conversion/ScalarOps.h"
#include "FloatBuilder.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using strata::Floats;

namespace {
struct ApproximateExp : OpRewritePattern<math::ExpOp> {
  ApproximateExp(MLIRContext *context, bool powerScaling) : OpRewritePattern(context), powerScaling(powerScaling) {}

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Floats b(op.getLoc(), rewriter, op.getType());
    Value x = op.getOperand();
    bool flush = arith::bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn);
    rewriter.replaceOp(op, flush ? normal(b, x, op->hasAttr(strata::scalar::kNotPositive)) : anywhere(b, x));
    return success();
  }

private:
  bool powerScaling;

  /// What is left of x besides n ln 2; ln 2 in two parts, the product with the first of which is exact.
  static Value rest(Floats &b, Value x, Value n) {
    return b.fma(n, b.number(-0x1.7f7d1cp-20f), b.fma(n, b.number(-0x1.62e4p-1f), x));
  }

  Value anywhere(Floats &b, Value x) const {
    // Beyond, 0 and infinity.
    x = b.clamp(x, -104.5f, 89.0f);
    Value shifter = b.number(Floats::exponentShifter);
    Value shifted = b.fma(x, b.number(log2e), shifter);
    Value n = b.create<arith::SubFOp>(shifted, shifter);
    return b.timesPowerOfTwo(b.horner(rest(b, x, n), polynomial), n, shifted, powerScaling);
  }

  /// The bounds are where n is -126, and the logarithm of the largest number.
  static Value normal(Floats &b, Value x, bool notPositive) {
    if (!notPositive)
      x = b.bound(x, arith::CmpFPredicate::OGT, 0x1.62e42ep6f);
    x = b.bound(x, arith::CmpFPredicate::OLT, -87.3f);
    // The last bits are n - 1 as an exponent.
    Value shifter = b.number(0x1.8p23f + 126), scale = b.number(log2e);
    Value shifted = b.fma(x, scale, shifter);
    Value r = b.fma(x, scale, b.subtract(shifter, shifted));
    Value power = b.fromBits(b.create<arith::ShLIOp>(b.bits(shifted), b.integer(23)));
    return b.multiply(b.horner(r, twicePowerOfTwo), power);
  }

  static constexpr float log2e = 0x1.715476p0f;
  static constexpr float polynomial[] = {
      0x1.687bf6p-10f, 0x1.123b9ep-7f, 0x1.555b58p-5f, 0x1.55548ep-3f, 0x1.fffff8p-2f, 1, 1};
  static constexpr float twicePowerOfTwo[] = {0x1.5bd97ap-9f, 0x1.3ce8b2p-6f, 0x1.c6b6dap-4f, 0x1.ebf9c2p-2f, 0x1.62e42ap0f, 2};
};

struct ApproximateErf : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Floats b(op.getLoc(), rewriter, op.getType());
    constexpr float most = 3.92f;
    Value x = b.clamp(op.getOperand(), -most, most);
    Value square = b.create<arith::MulFOp>(x, x);
    Value scaled = b.fma(square, b.number(2 / (most * most)), b.number(-1));
    Value p = b.polynomial(scaled, {-0x1.ba6cb8p-11f, 0x1.131608p-9f, -0x1.6da2fcp-10f, 0x1.f7535p-10f, -0x1.f6041cp-8f,
                                    0x1.d1a102p-7f, -0x1.479a6p-6f, 0x1.e690dap-6f, -0x1.63d57ap-5f, 0x1.de613ep-5f,
                                    -0x1.2f2f6ep-4f, 0x1.7315dp-4f, -0x1.bf32b6p-4f, 0x1.129aecp-3f, -0x1.70dccap-3f,
                                    0x1.7164fep-2f});
    rewriter.replaceOp(op, b.clamp(b.create<arith::MulFOp>(p, x), -1, 1));
    return success();
  }
};
} // namespace

void strata::populateExpErfPatterns(RewritePatternSet &patterns, bool powerScaling) {
  patterns.add<ApproximateExp>(patterns.getContext(), powerScaling);
  patterns.add<ApproximateErf>(patterns.getContext());
}
