//===- ExpErf.cpp - exp, expm1, erf and tanh of f32 without branches ------===//
//
// Upstream's polynomials select among special cases, its erf among four rational
// functions, and its expm1 divides by a logarithm. These take half of the
// operations:
//
// - exp(x) = 2^n * exp(r), n = round(x / ln 2), |r| <= ln(2) / 2, and a polynomial
//   of degree 6 for exp(r). The power of two is applied in two halves, so that
//   one rounding, the last, gives subnormal and infinite results. The error is
//   below 0.9 units in the last place, 1.2 where products are not fused.
// - exp(x) with the flag afn, as a softmax has it, = 2^n * 2^r, n = round(x log2 e),
//   |r| <= 1/2, and a polynomial of degree 5 for 2^r, which is 1 for r = 0. What
//   would be subnormal is 0, where the product 2 * 2^r * 2^(n - 1) has a power of
//   two that is 0: processors take a hundred times as long for a product with it.
//   Nothing is infinite. The relative error is below 2^-24 (3 + |x| / 3), the second
//   part from log2 e as one f32: half of what the rounding of x itself, a difference,
//   makes. Where products are not fused, so that r would not be exact, exp(r) and its
//   polynomial are taken.
// - Without that attribute the flag says the same of subnormals, but numbers above 88.73
//   give infinity, and log2 e has two parts: the relative error is below 2^-24 3. So has
//   the exponential of a negated number, which costs no negation: 1 / (1 + exp(-x)), a
//   sigmoid, is off by less than 3.2 units.
// - expm1(x) = 2^n * (1 - 2^-n + expm1(r)) of the same n and r: below 1.3 units.
// - erf(x) = x * p(x^2) for |x| <= 3.92, where erf(x) rounds to 1; p has degree 15
//   in x^2 scaled to [-1, 1], where the sum of the
//   absolute values of its coefficients is no larger than its largest value: no
//   cancellation. The relative error is below 3e-7, or 3.1e-7 (products not fused).
// - erf(x) in a GELU, x / 2 * (1 + erf(x / sqrt 2)), that is rounded to bf16 with the flag
//   afn (--precision=bf16): p has degree 8 in x^2, goes up from where it passes 1, and
//   what is above 1 is 1. The error is below 3.3e-5, that of the GELU below 7e-5: a
//   thirtieth of what rounding its largest values makes.
// - tanh(x) = x * p(x^2) / q(x^2) for |x| <= 9.02, where tanh(x) rounds to 1, both
//   of degree 4 and with positive coefficients alone. The relative error is below
//   3.2e-7, or 3.6e-7.
//
// Minimal maximal relative errors, fitted in double precision. NaN stays NaN.
//
//===----------------------------------------------------------------------===//
#include "ApproximateMath.h"
#include "Conversion/ScalarOps.h"
#include "FloatBuilder.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using strata::Floats;
using Compare = arith::CmpFPredicate;

namespace {
struct ApproximateExp : OpRewritePattern<math::ExpOp> {
  ApproximateExp(MLIRContext *context, bool powerScaling, bool fused)
      : OpRewritePattern(context), powerScaling(powerScaling), fused(fused) {}

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Floats b(op.getLoc(), rewriter, op.getType());
    b.fused = fused;
    Value x = op.getOperand();
    bool flush = arith::bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn);
    if (!flush) {
      rewriter.replaceOp(op, anywhere(b, x));
      return success();
    }
    auto negation = x.getDefiningOp<arith::NegFOp>();
    bool notPositive = op->hasAttr(strata::scalar::kNotPositive);
    rewriter.replaceOp(op, negation && !notPositive ? normal(b, negation.getOperand(), false, /*negated=*/true)
                                                    : normal(b, x, notPositive, /*negated=*/false));
    return success();
  }

private:
  bool powerScaling, fused;

  Value anywhere(Floats &b, Value x) const {
    // Beyond, 0 and infinity.
    x = b.clamp(x, -104.5f, 89.0f);
    Value shifter = b.number(Floats::exponentShifter);
    Value shifted = b.multiplyAdd(x, b.number(Floats::log2e), shifter);
    Value n = b.subtract(shifted, shifter);
    return b.timesPowerOfTwo(b.multiplyAdds(b.besidesPower(x, n), polynomial), n, shifted, powerScaling);
  }

  /// Of -x if `negated`. The bounds are where n is -126, and where it is 129, whose power is infinite.
  static Value normal(Floats &b, Value x, bool notPositive, bool negated) {
    float sign = negated ? -1 : 1;
    if (!notPositive)
      x = b.bound(x, negated ? Compare::OLT : Compare::OGT, sign * 89.2f);
    x = b.bound(x, negated ? Compare::OGT : Compare::OLT, sign * -87.3f);
    // The last bits are n - 1 as an exponent.
    Value shifter = b.number(0x1.8p23f + 126), scale = b.number(sign * Floats::log2e);
    Value shifted = b.multiplyAdd(x, scale, shifter), twice;
    if (b.fused) {
      Value r = b.multiplyAdd(x, scale, b.subtract(shifter, shifted));
      if (!notPositive)
        r = b.multiplyAdd(x, b.number(sign * Floats::log2eLow), r);
      twice = b.multiplyAdds(r, twicePowerOfTwo);
    } else {
      SmallVector<float> coefficients = llvm::map_to_vector(polynomial, [](float c) { return 2 * c; });
      x = negated ? b.create<arith::NegFOp>(x) : x;
      twice = b.multiplyAdds(b.besidesPower(x, b.subtract(shifted, shifter)), coefficients);
    }
    Value power = b.fromBits(b.create<arith::ShLIOp>(b.bits(shifted), b.integer(23)));
    return b.multiply(twice, power);
  }

  static constexpr float polynomial[] = {
      0x1.687bf6p-10f, 0x1.123b9ep-7f, 0x1.555b58p-5f, 0x1.55548ep-3f, 0x1.fffff8p-2f, 1, 1};
  static constexpr float twicePowerOfTwo[] = {0x1.5bd97ap-9f, 0x1.3ce8b2p-6f, 0x1.c6b6dap-4f,
                                              0x1.ebf9c2p-2f, 0x1.62e42ap0f,  2};
};
} // namespace

static Value expandExpM1(Floats &b, Value x) {
  // Beyond, -1 and infinity.
  Value bounded = b.clamp(x, -18, 89);
  // The last bits are n - 1 as an exponent; 2^-n is none of the largest n, for which 0 will do.
  Value shifter = b.number(0x1.8p23f + 126), position = b.integer(23);
  Value shifted = b.multiplyAdd(bounded, b.number(Floats::log2e), shifter);
  Value r = b.besidesPower(bounded, b.subtract(shifted, shifter));
  Value low = b.create<arith::SubIOp>(b.integer(llvm::bit_cast<int32_t>(0x1.8p23f) + 253), b.bits(shifted));
  low = b.create<arith::MaxSIOp>(low, b.integer(0));
  Value power = b.fromBits(b.create<arith::ShLIOp>(b.bits(shifted), position));
  Value inverse = b.fromBits(b.create<arith::ShLIOp>(low, position));
  Value rest =
      b.multiply(b.multiply(r, r),
                 b.multiplyAdds(r, {0x1.6b96f4p-10f, 0x1.1226d8p-7f, 0x1.5556f8p-5f, 0x1.5554b2p-3f, 0x1.fffffep-2f}));
  Value sum = b.add(b.add(b.subtract(b.number(1), inverse), r), rest);
  Value result = b.multiply(b.add(sum, sum), power);
  // Of -0.
  return b.fromBits(b.either(b.bits(result), b.signBit(x)));
}

static Value expandErf(Floats &b, Value x) {
  constexpr float most = 3.92f;
  x = b.clamp(x, -most, most);
  Value scaled = b.multiplyAdd(b.multiply(x, x), b.number(2 / (most * most)), b.number(-1));
  Value p = b.polynomial(scaled, {-0x1.ba6cb8p-11f, 0x1.131608p-9f, -0x1.6da2fcp-10f, 0x1.f7535p-10f, -0x1.f6041cp-8f,
                                  0x1.d1a102p-7f, -0x1.479a6p-6f, 0x1.e690dap-6f, -0x1.63d57ap-5f, 0x1.de613ep-5f,
                                  -0x1.2f2f6ep-4f, 0x1.7315dp-4f, -0x1.bf32b6p-4f, 0x1.129aecp-3f, -0x1.70dccap-3f,
                                  0x1.7164fep-2f});
  return b.clamp(b.multiply(p, x), -1, 1);
}

/// A constant, or one that all lanes have.
static std::optional<APFloat> numberOf(Value x) {
  if (auto broadcast = x.getDefiningOp<vector::BroadcastOp>())
    x = broadcast.getSource();
  APFloat number(0.0);
  return matchPattern(x, m_ConstantFloat(&number)) ? std::optional(number) : std::nullopt;
}

/// What `x` is a constant times of.
static Value withoutFactors(Value x) {
  while (Operation *op = x.getDefiningOp()) {
    if (isa<arith::MulFOp, arith::DivFOp>(op) && numberOf(op->getOperand(1)))
      x = op->getOperand(0);
    else if (isa<arith::MulFOp>(op) && numberOf(op->getOperand(0)))
      x = op->getOperand(1);
    else
      break;
  }
  return x;
}

/// Whether all that comes of `value`, by products with constants and with what `x` is a multiple of, is rounded to
/// bf16.
static bool isRoundedTimes(Value value, Value x) {
  return !value.use_empty() && llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (auto rounding = dyn_cast<arith::TruncFOp>(use.getOwner()))
      return getElementTypeOrSelf(rounding.getType()).isBF16() && rounding.getFastmath() == arith::FastMathFlags::afn;
    auto product = dyn_cast<arith::MulFOp>(use.getOwner());
    if (!product)
      return false;
    Value other = product->getOperand(1 - use.getOperandNumber());
    return (numberOf(other) || withoutFactors(other) == x) && isRoundedTimes(product, x);
  });
}

namespace {
struct ApproximateGelu : OpRewritePattern<math::ErfOp> {
  ApproximateGelu(MLIRContext *context, bool fused) : OpRewritePattern(context, /*benefit=*/2), fused(fused) {}

  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    auto sum = op->hasOneUse() ? dyn_cast<arith::AddFOp>(*op->user_begin()) : arith::AddFOp();
    Value x = op.getOperand();
    if (!getElementTypeOrSelf(op.getType()).isF32() || !sum || !isRoundedTimes(sum, withoutFactors(x)))
      return failure();
    std::optional<APFloat> one = numberOf(sum->getOperand(1 - op->use_begin()->getOperandNumber()));
    if (!one || !one->isExactlyValue(1))
      return failure();
    Floats b(op.getLoc(), rewriter, op.getType());
    b.fused = fused;
    Value p = b.multiplyAdds(b.multiply(x, x), coefficients);
    rewriter.replaceOp(op, b.clamp(b.multiply(p, x), -1, 1));
    return success();
  }

private:
  bool fused;
  static constexpr float coefficients[] = {0x1.1a9b04p-25f, -0x1.bcc838p-20f, 0x1.3422dap-15f,
                                           -0x1.f3e44p-12f, 0x1.0b808p-8f,    -0x1.94f22cp-6f,
                                           0x1.c4e392p-4f,  -0x1.800454p-2f,  0x1.20d2eep0f};
};
} // namespace

static Value expandTanh(Floats &b, Value x) {
  x = b.clamp(x, -9.02f, 9.02f);
  Value z = b.multiply(x, x);
  Value p = b.multiplyAdds(z, {0x1.c9a0bp-27f, 0x1.595464p-16f, 0x1.c9f7eap-9f, 0x1.12043p-3f, 1});
  Value q = b.multiplyAdds(z, {0x1.a0b6a6p-21f, 0x1.58414p-12f, 0x1.a7deeep-6f, 0x1.de5762p-2f, 1});
  return b.clamp(b.divide(b.multiply(x, p), q), -1, 1);
}

void strata::populateExpErfPatterns(RewritePatternSet &patterns, bool powerScaling, bool fused) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ApproximateExp>(context, powerScaling, fused);
  patterns.add<ExpandFloats<math::ExpM1Op>>(context, expandExpM1, fused);
  patterns.add<ApproximateGelu>(context, fused);
  patterns.add<ExpandFloats<math::ErfOp>>(context, expandErf, fused);
  patterns.add<ExpandFloats<math::TanhOp>>(context, expandTanh, fused);
}
