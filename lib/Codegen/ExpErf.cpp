//===- ExpErf.cpp - exp, expm1 and erf of f32 without branches ------------===//
//
// Upstream's polynomials select among special cases, its expm1 divides by a
// logarithm, and its erf selects among four rational functions. These take half of
// the operations, or less:
//
// - exp(x) = 2^n * exp(r), n = round(x / ln 2), |r| <= ln(2) / 2, and a polynomial
//   of degree 6 for exp(r). The power of two is applied in two halves, so that
//   one rounding, the last, gives subnormal and infinite results. The error is
//   below one unit in the last place. With the flag afn what would be subnormal
//   is 0: processors take a hundred times as long for a product with it. Without
//   an instruction for powers of two that is where 2 exp(r) 2^(n - 1) has one
//   that is 0, and nothing is infinite: half as many operations around exp(r).
// - exp(x) - 1 = 2^n * (exp(r) - 1) + (2^n - 1): of the polynomial without its constant, with one rounding behind it.
// The
//   error is below two units in the last place, since for n = -1 and 1 terms of opposite signs are added.
// - erf(x) = x * p(x^2) for |x| <= 3.92, where erf(x) rounds to 1; p has degree 15
//   in x^2 scaled to [-1, 1], where the sum of the
//   absolute values of its coefficients is no larger than its largest value: no
//   cancellation. The relative error is below 3e-7.
//
// Minimal maximal relative errors, fitted in double precision. NaN stays NaN.
//
//===----------------------------------------------------------------------===//
#include "ApproximateMath.h"
#include "FloatBuilder.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using strata::Floats;

static constexpr float log2e = 0x1.715476p0f;
/// exp(r).
static constexpr float polynomial[] = {
    0x1.687bf6p-10f, 0x1.123b9ep-7f, 0x1.555b58p-5f, 0x1.55548ep-3f, 0x1.fffff8p-2f, 1, 1};

/// What is left of x besides n ln 2; ln 2 in two parts, the product with the first of which is exact.
static Value rest(Floats &b, Value x, Value n) {
  return b.fma(n, b.number(-0x1.7f7d1cp-20f), b.fma(n, b.number(-0x1.62e4p-1f), x));
}

namespace {
struct ApproximateExp : OpRewritePattern<math::ExpOp> {
  ApproximateExp(MLIRContext *context, bool powerScaling) : OpRewritePattern(context), powerScaling(powerScaling) {}

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Floats b(op.getLoc(), rewriter, op.getType());
    bool flush = arith::bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn);
    rewriter.replaceOp(op, flush && !powerScaling ? normal(b, op.getOperand()) : anywhere(b, op.getOperand(), flush));
    return success();
  }

private:
  bool powerScaling;

  Value anywhere(Floats &b, Value x, bool flush) const {
    // Beyond, 0 and infinity.
    x = b.bound(x, arith::CmpFPredicate::OGT, 89.0f);
    if (!flush)
      x = b.bound(x, arith::CmpFPredicate::OLT, -104.5f);
    Value shifter = b.number(Floats::exponentShifter);
    Value shifted = b.fma(x, b.number(log2e), shifter);
    Value n = b.create<arith::SubFOp>(shifted, shifter);
    Value p = b.horner(rest(b, x, n), polynomial);
    Value result = b.timesPowerOfTwo(p, n, shifted, powerScaling);
    if (!flush)
      return result;
    // Below the logarithm of the least normal number.
    Value normal = b.create<arith::CmpFOp>(arith::CmpFPredicate::UGE, x, b.number(-0x1.5d589ep6f));
    return b.create<arith::SelectOp>(normal, result, b.number(0));
  }

  /// The bounds are where n is -126, and the logarithm of the largest number.
  static Value normal(Floats &b, Value x) {
    x = b.bound(x, arith::CmpFPredicate::OGT, 0x1.62e42ep6f);
    x = b.bound(x, arith::CmpFPredicate::OLT, -87.3f);
    // The last bits are n - 1 as an exponent.
    Value shifter = b.number(0x1.8p23f + 126);
    Value shifted = b.fma(x, b.number(log2e), shifter);
    Value n = b.create<arith::SubFOp>(shifted, shifter);
    SmallVector<float> twice = llvm::map_to_vector(polynomial, [](float c) { return 2 * c; });
    Value power = b.fromBits(b.create<arith::ShLIOp>(b.bits(shifted), b.integer(23)));
    return b.create<arith::MulFOp>(b.horner(rest(b, x, n), twice), power);
  }
};

struct ApproximateExpM1 : OpRewritePattern<math::ExpM1Op> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpM1Op op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Floats b(op.getLoc(), rewriter, op.getType());
    // Beyond, -1 and infinity.
    Value x = b.clamp(op.getOperand(), -25, 89);
    // The last bits are n - 1 as an exponent: 2^n itself may be infinite where the result is not.
    Value shifter = b.number(0x1.8p23f + 126);
    Value shifted = b.fma(x, b.number(log2e), shifter);
    Value r = rest(b, x, b.subtract(shifted, shifter));
    Value p = b.fma(b.multiply(r, r), b.horner(r, ArrayRef(polynomial).drop_back(2)), r);
    Value half = b.fromBits(b.create<arith::ShLIOp>(b.bits(shifted), b.integer(23)));
    Value halfOfAll = b.fma(p, half, b.subtract(half, b.number(0.5f)));
    // Halves of the least numbers lose a bit, and zero its sign.
    Value small = b.is(arith::CmpFPredicate::OLT, b.magnitude(x), 0x1p-100f);
    rewriter.replaceOp(op, b.select(small, x, b.add(halfOfAll, halfOfAll)));
    return success();
  }
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
  patterns.add<ApproximateExpM1, ApproximateErf>(patterns.getContext());
}
