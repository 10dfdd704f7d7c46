//===- Division.cpp - divisions that vectors have no instruction for ------===//
//
// Quotients and remainders of integers, and remainders of f32: a division in a
// wider floating-point type, in which nothing is lost. Remainders of f64: fused
// products, which lose nothing either.
//
// - A quotient of n-bit integers that is no integer is at least 2^-n of itself away
//   from the next one: 24 bits hold quotients of 16, 53 those of 32.
// - x mod y of f32 in f64: where x / y is below 2^28, the whole part q of the rounded
//   quotient is that of the exact one (for x and y are multiples of some u, y of at
//   most 2^24 of them or x / y below 2^24), q y has 52 bits, and x - q y is exact.
//   Where it is not, 28 bits of the quotient leave another x, 2^27 times smaller, and
//   exactly, since both terms are close to each other. It may be below zero by less
//   than y if the quotient was rounded up: y is added once in the end.
// - x mod y of f64 alike: the first 51 bits of the rounded quotient, q, are not above
//   those of the exact one by more than its rounding, and x - q y, a multiple of y's last
//   bit times that of q, is smaller than y times the latter, so that it has 53 bits and
//   the fused product is exact. Where x / y would be infinite, x is scaled down and y up.
//
//===----------------------------------------------------------------------===//
#include "ApproximateMath.h"
#include "FloatBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace {
template <typename Op> struct DivideInFloats : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  static constexpr bool isSigned = std::is_same_v<Op, arith::DivSIOp> || std::is_same_v<Op, arith::RemSIOp>;
  static constexpr bool isRest = std::is_same_v<Op, arith::RemSIOp> || std::is_same_v<Op, arith::RemUIOp>;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    auto element = type ? dyn_cast<IntegerType>(type.getElementType()) : IntegerType();
    // By a constant it is a multiplication.
    if (!element || element.getWidth() < 8 || element.getWidth() > 32 || matchPattern(op.getRhs(), m_Constant()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type wide = type.clone(element.getWidth() <= 16 ? b.getF32Type() : b.getF64Type());
    auto toFloat = [&](Value x) -> Value {
      if (isSigned)
        return b.create<arith::SIToFPOp>(wide, x);
      return b.create<arith::UIToFPOp>(wide, x);
    };
    Value x = toFloat(op.getLhs()), y = toFloat(op.getRhs()), result = b.create<arith::DivFOp>(x, y);
    if (isRest)
      result = b.create<arith::SubFOp>(x, b.create<arith::MulFOp>(b.create<math::TruncOp>(result), y));
    if (isSigned)
      rewriter.replaceOpWithNewOp<arith::FPToSIOp>(op, type, result);
    else
      rewriter.replaceOpWithNewOp<arith::FPToUIOp>(op, type, result);
    return success();
  }
};

/// What is left of x when the multiples of y that `next` takes, which says whether there are more, are taken from it;
/// then with the sign of x.
Value subtractMultiples(strata::Floats &b, Value x, Value y,
                        llvm::function_ref<std::pair<Value, Value>(Value rest)> next) {
  using P = arith::CmpFPredicate;
  auto loop = b.create<scf::WhileOp>(
      TypeRange(b.type), ValueRange(x),
      [&](OpBuilder &, Location, ValueRange rest) {
        auto [less, isLarge] = next(rest[0]);
        Value again = b.create<vector::ReductionOp>(vector::CombiningKind::OR, isLarge);
        b.create<scf::ConditionOp>(again, less);
      },
      [&](OpBuilder &, Location, ValueRange rest) { b.create<scf::YieldOp>(rest); });
  Value rest = loop.getResult(0);
  Value moved = b.add(rest, b.create<math::CopySignOp>(y, x));
  // The product of two small ones would be 0.
  Value one = b.number(1), sign = b.multiply(b.create<math::CopySignOp>(one, rest), b.create<math::CopySignOp>(one, x));
  Value otherSign = b.both(b.is(P::OLT, sign, 0), b.is(P::ONE, rest, 0));
  rest = b.create<math::CopySignOp>(b.select(otherSign, moved, rest), x);
  // Infinity is subtracted never, and has no multiple of 0.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value all = b.both(b.is(P::OEQ, y, infinity), b.is(P::OLT, b.magnitude(x), infinity));
  return b.select(all, x, rest);
}

struct RemainderOfFloats : OpRewritePattern<arith::RemFOp> {
  RemainderOfFloats(MLIRContext *context, bool fused) : OpRewritePattern(context), fused(fused) {}

  LogicalResult matchAndRewrite(arith::RemFOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1)
      return failure();
    if (type.getElementType().isF32()) {
      strata::Floats b(op.getLoc(), rewriter, type.clone(rewriter.getF64Type()));
      Value x = b.extend(op.getLhs()), y = b.magnitude(b.extend(op.getRhs()));
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, inWiderType(b, x, y));
      return success();
    }
    if (!type.getElementType().isF64() || !fused)
      return failure();
    strata::Floats b(op.getLoc(), rewriter, type);
    b.fused = true;
    rewriter.replaceOp(op, byFusedProducts(b, op.getLhs(), b.magnitude(op.getRhs())));
    return success();
  }

private:
  bool fused;

  /// Without the last `bits` bits.
  static Value round(strata::Floats &b, Value quotient, int64_t bits) {
    return b.fromBits(b.both(b.bits(quotient), b.integer(-(int64_t(1) << bits))));
  }

  static Value inWiderType(strata::Floats &b, Value x, Value y) {
    return subtractMultiples(b, x, y, [&](Value rest) {
      Value quotient = b.divide(rest, y), whole = b.create<math::TruncOp>(round(b, quotient, 25));
      return std::pair(b.subtract(rest, b.multiply(whole, y)),
                       b.is(arith::CmpFPredicate::OGE, b.magnitude(quotient), 0x1p28));
    });
  }

  static Value byFusedProducts(strata::Floats &b, Value x, Value y) {
    Value most = b.multiply(y, b.number(0x1p1000)), up = b.multiply(y, b.number(0x1p990));
    return subtractMultiples(b, x, y, [&](Value rest) {
      Value isFar = b.is(arith::CmpFPredicate::OGT, b.magnitude(rest), most);
      Value scaled = b.select(isFar, b.multiply(rest, b.number(0x1p-100)), rest), unit = b.select(isFar, up, y);
      Value quotient = b.divide(scaled, unit), first = round(b, quotient, 2);
      Value whole = b.select(isFar, first, b.create<math::TruncOp>(first));
      Value less = b.create<math::FmaOp>(b.create<arith::NegFOp>(whole), unit, scaled);
      Value isLarge = b.is(arith::CmpFPredicate::OGE, b.magnitude(quotient), 0x1p51);
      return std::pair(b.select(isFar, b.multiply(less, b.number(0x1p100)), less), b.either(isFar, isLarge));
    });
  }
};
} // namespace

void strata::populateDivisionPatterns(RewritePatternSet &patterns, bool fused) {
  patterns.add<DivideInFloats<arith::DivSIOp>, DivideInFloats<arith::DivUIOp>, DivideInFloats<arith::RemSIOp>,
               DivideInFloats<arith::RemUIOp>>(patterns.getContext());
  patterns.add<RemainderOfFloats>(patterns.getContext(), fused);
}
