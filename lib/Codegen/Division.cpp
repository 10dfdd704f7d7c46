//===- Division.cpp - divisions that vectors have no instruction for ------===//
//
// Quotients and remainders of integers, and remainders of f32: a division in a
// wider floating-point type, in which nothing is lost.
//
// - A quotient of n-bit integers that is no integer is at least 2^-n of itself away
//   from the next one: 24 bits hold quotients of 16, 53 those of 32.
// - x mod y of f32 in f64: where x / y is below 2^28, the whole part q of the rounded
//   quotient is that of the exact one (for x and y are multiples of some u, y of at
//   most 2^24 of them or x / y below 2^24), q y has 52 bits, and x - q y is exact.
//   Where it is not, 28 bits of the quotient leave another x, 2^27 times smaller, and
//   exactly, since both terms are close to each other. It may be below zero by less
//   than y if the quotient was rounded up: y is added once in the end.
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

struct RemainderInDouble : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::RemFOp op, PatternRewriter &rewriter) const override {
    auto single = dyn_cast<VectorType>(op.getType());
    if (!single || !single.getElementType().isF32() || single.getRank() != 1)
      return failure();
    auto type = cast<VectorType>(single.clone(rewriter.getF64Type()));
    auto integers = cast<VectorType>(single.clone(rewriter.getI64Type()));
    strata::Floats b(op.getLoc(), rewriter, type);
    auto number = [&](double value) { return b.constant(type, b.getF64FloatAttr(value)); };
    auto is = [&](arith::CmpFPredicate how, Value x, Value y) { return b.create<arith::CmpFOp>(how, x, y); };
    Value x = b.create<arith::ExtFOp>(type, op.getLhs());
    Value y = b.create<math::AbsFOp>(b.create<arith::ExtFOp>(type, op.getRhs()));
    Value high = b.constant(integers, b.getI64IntegerAttr(-(int64_t(1) << 25)));
    Value large = number(0x1p28);
    auto loop = b.create<scf::WhileOp>(
        TypeRange(type), ValueRange(x),
        [&](OpBuilder &, Location, ValueRange rest) {
          Value quotient = b.create<arith::DivFOp>(rest[0], y);
          Value bits = b.create<arith::AndIOp>(b.create<arith::BitcastOp>(integers, quotient), high);
          Value whole = b.create<math::TruncOp>(b.create<arith::BitcastOp>(type, bits));
          Value next = b.create<arith::SubFOp>(rest[0], b.create<arith::MulFOp>(whole, y));
          Value isLarge = is(arith::CmpFPredicate::OGE, b.create<math::AbsFOp>(quotient), large);
          Value again = b.create<vector::ReductionOp>(vector::CombiningKind::OR, isLarge);
          b.create<scf::ConditionOp>(again, next);
        },
        [&](OpBuilder &, Location, ValueRange rest) { b.create<scf::YieldOp>(rest); });
    Value rest = loop.getResult(0);
    Value moved = b.create<arith::AddFOp>(rest, b.create<math::CopySignOp>(y, x));
    Value otherSign = is(arith::CmpFPredicate::OLT, b.create<arith::MulFOp>(rest, x), number(0));
    rest = b.create<math::CopySignOp>(b.create<arith::SelectOp>(otherSign, moved, rest), x);
    // Infinity is subtracted never, and has no multiple of 0.
    Value infinity = number(std::numeric_limits<double>::infinity());
    Value all = b.create<arith::AndIOp>(is(arith::CmpFPredicate::OEQ, y, infinity),
                                        is(arith::CmpFPredicate::OLT, b.create<math::AbsFOp>(x), infinity));
    rest = b.create<arith::SelectOp>(all, x, rest);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, single, rest);
    return success();
  }
};
} // namespace

void strata::populateDivisionPatterns(RewritePatternSet &patterns) {
  patterns.add<DivideInFloats<arith::DivSIOp>, DivideInFloats<arith::DivUIOp>, DivideInFloats<arith::RemSIOp>,
               DivideInFloats<arith::RemUIOp>, RemainderInDouble>(patterns.getContext());
}
