//===- ExpErf.cpp - exp and erf of f32 without branches -------------------===//
//
// Upstream's polynomials select among special cases, and its erf among four
// rational functions. These take half of the operations:
//
// - exp(x) = 2^n * exp(r), n = round(x / ln 2), |r| <= ln(2) / 2, and a polynomial
//   of degree 6 for exp(r). The power of two is applied in two halves, so that
//   one rounding, the last, gives subnormal and infinite results. The error is
//   below one unit in the last place.
// - erf(x) = x * p(x^2) for |x| <= 3.92, where erf(x) rounds to 1; p has degree 15
//   in x^2 scaled to [-1, 1], where the sum of the
//   absolute values of its coefficients is no larger than its largest value: no
//   cancellation. The relative error is below 2.5e-7.
//
// Minimal maximal relative errors, fitted in double precision. NaN stays NaN.
//
//===----------------------------------------------------------------------===//
#include "ApproximateMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace {
/// Operations on f32, or on vectors of it.
struct Floats : ImplicitLocOpBuilder {
  Floats(Location loc, OpBuilder &b, Type type) : ImplicitLocOpBuilder(loc, b), type(type) {}
  Type type;

  Type integers() {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(getI32Type())) : getI32Type();
  }
  Value constant(Type type, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(type))
      return create<arith::ConstantOp>(DenseElementsAttr::get(vector, Attribute(value)));
    return create<arith::ConstantOp>(value);
  }
  Value number(float value) { return constant(type, getF32FloatAttr(value)); }
  Value integer(int32_t value) { return constant(integers(), getI32IntegerAttr(value)); }
  Value integer32(int32_t value) { return create<arith::ConstantOp>(getI32IntegerAttr(value)); }
  Value fma(Value x, Value y, Value z) { return create<math::FmaOp>(x, y, z); }
  Value bits(Value x) { return create<arith::BitcastOp>(integers(), x); }
  Value fromBits(Value x) { return create<arith::BitcastOp>(type, x); }
  /// NaN is in no range and stays.
  Value clamp(Value x, float low, float high) {
    auto bound = [&](arith::CmpFPredicate beyond, float limit) {
      Value is = create<arith::CmpFOp>(beyond, x, number(limit));
      x = create<arith::SelectOp>(is, number(limit), x);
    };
    bound(arith::CmpFPredicate::OLT, low);
    bound(arith::CmpFPredicate::OGT, high);
    return x;
  }
  /// The polynomial of these coefficients, the constant one last.
  Value horner(Value x, ArrayRef<float> coefficients) {
    Value sum = number(coefficients.front());
    for (float c : coefficients.drop_front())
      sum = fma(sum, x, number(c));
    return sum;
  }
};

struct ApproximateExp : OpRewritePattern<math::ExpOp> {
  ApproximateExp(MLIRContext *context, bool powerScaling) : OpRewritePattern(context), powerScaling(powerScaling) {}
  bool powerScaling;

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Floats b(op.getLoc(), rewriter, op.getType());
    // Beyond, 0 and infinity.
    Value x = b.clamp(op.getOperand(), -104.5f, 89.0f);
    // The sum's last bits are n + 254: of the two halves that these fall into, each is an exponent.
    Value shifter = b.number(0x1.8p23f + 254);
    Value shifted = b.fma(x, b.number(0x1.715476p0f), shifter);
    Value n = b.create<arith::SubFOp>(shifted, shifter);
    // ln 2 in two parts, the product with the first of which is exact.
    Value r = b.fma(n, b.number(-0x1.62e4p-1f), x);
    r = b.fma(n, b.number(-0x1.7f7d1cp-20f), r);
    Value p = b.horner(r, {0x1.687bf6p-10f, 0x1.123b9ep-7f, 0x1.555b58p-5f, 0x1.55548ep-3f, 0x1.fffff8p-2f, 1, 1});
    if (auto vector = dyn_cast<VectorType>(op.getType()); powerScaling && vector && vector.getNumElements() == 16) {
      // The same in one instruction: with every lane, rounded as usual.
      Value lanes = b.create<arith::ConstantOp>(b.getI16IntegerAttr(-1)), rounding = b.integer32(4);
      auto scaled = b.create<LLVM::CallIntrinsicOp>(op.getType(), b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
                                                    ValueRange{p, n, p, lanes, rounding});
      rewriter.replaceOp(op, scaled);
      return success();
    }
    Value mantissaBits = b.integer(23), all = b.bits(shifted);
    Value half = b.create<arith::ShRUIOp>(all, b.integer(1));
    Value rest = b.create<arith::SubIOp>(all, half);
    Value first = b.fromBits(b.create<arith::ShLIOp>(half, mantissaBits));
    Value second = b.fromBits(b.create<arith::ShLIOp>(rest, mantissaBits));
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, b.create<arith::MulFOp>(p, first), second);
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
    Value p = b.horner(scaled, {-0x1.ba6cb8p-11f, 0x1.131608p-9f, -0x1.6da2fcp-10f, 0x1.f7535p-10f, -0x1.f6041cp-8f,
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
