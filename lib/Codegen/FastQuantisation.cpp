//===- FastQuantisation.cpp - quantisation in few instructions ------------===//
#include "QuantisedBodies.h"
#include "WholeNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using strata::floatOf, strata::matchQuotient, strata::rangeOf, strata::WholeRange;

/// No number of `value` is further from zero.
static std::optional<double> boundOf(Value value) {
  if (auto number = floatOf(value))
    return std::abs(*number);
  if (std::optional<WholeRange> range = rangeOf(value))
    return std::max(std::abs(range->low), std::abs(range->high));
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::MaximumFOp, arith::MaxNumFOp>(op))
    return std::nullopt;
  std::optional<double> x = boundOf(op->getOperand(0)), y = boundOf(op->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  return isa<arith::MulFOp>(op) ? *x * *y : *x + *y;
}

/// The range that the number is clamped to once it is rounded and moved by a zero point, if that is all that is done
/// with it. Of what is beyond, what rounds to an end of the range is as good: the quotient of the end times the scale
/// does.
static std::optional<WholeRange> rangeOfRounded(Value number) {
  auto userOf = [](Value value) -> Operation * { return value.hasOneUse() ? *value.user_begin() : nullptr; };
  auto rounded = dyn_cast_or_null<math::RoundEvenOp>(userOf(number));
  if (!rounded)
    return std::nullopt;
  Operation *user = userOf(rounded);
  double zero = 0;
  if (auto moved = dyn_cast_or_null<arith::AddFOp>(user)) {
    std::optional<double> by = floatOf(moved.getRhs());
    if (!by || std::nearbyint(*by) != *by || std::abs(*by) > 65536)
      return std::nullopt;
    zero = *by;
    user = userOf(moved);
  }
  auto lower = dyn_cast_or_null<arith::MaxNumFOp>(user);
  auto upper = lower ? dyn_cast_or_null<arith::MinNumFOp>(userOf(lower)) : nullptr;
  std::optional<WholeRange> range = upper ? rangeOf(upper) : std::nullopt;
  if (!range)
    return std::nullopt;
  return WholeRange{range->low - zero, range->high - zero};
}

namespace {
/// x / s as x * (1 / s) in f64, of a bounded x, or one of which only a bounded quotient counts: from the reciprocal in
/// f32 by two corrections. The first quotient is within two units of the last place, so the first correction leaves
/// less than one; of such a quotient q and the nearest reciprocal y, q + (x - q s) y, rounded, is x / s, rounded
/// (Markstein). Nothing overflows, and where x is so small that x - q s is not exact, the quotient is far below one
/// half.
struct DivideInSingle : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    double factor = 0;
    Value x = matchQuotient(op, factor);
    constexpr double large = 0x1p60, small = 0x1p-60;
    if (!x || !x.getType().isF32() || !(factor > small && factor < large) ||
        !llvm::all_of(op->getUsers(), [](Operation *user) { return isa<math::RoundEvenOp>(user); }))
      return failure();
    auto scale = static_cast<float>(1 / factor);
    std::optional<double> bound = boundOf(x);
    std::optional<WholeRange> range = bound ? std::nullopt : rangeOfRounded(op);
    if (range)
      bound = std::max(std::abs(range->low), std::abs(range->high)) * scale;
    if (1 / static_cast<double>(scale) != factor || !bound || !(*bound * std::max(1.0, factor) < large))
      return failure();
    Location loc = op.getLoc();
    auto constant = [&](double value) -> Value {
      return rewriter.create<arith::ConstantOp>(loc, rewriter.getF32FloatAttr(static_cast<float>(value)));
    };
    if (range) {
      x = rewriter.create<arith::MaxNumFOp>(loc, x, constant(range->low * scale));
      x = rewriter.create<arith::MinNumFOp>(loc, x, constant(range->high * scale));
    }
    Value y = constant(factor), minus = constant(-scale);
    Value quotient = rewriter.create<arith::MulFOp>(loc, x, y);
    for (int correction = 0; correction < 2; ++correction) {
      Value rest = rewriter.create<math::FmaOp>(loc, quotient, minus, x);
      quotient = rewriter.create<math::FmaOp>(loc, rest, y, quotient);
    }
    rewriter.replaceOp(op, quotient);
    return success();
  }
};

/// Whether a float is an integer of 8 bits.
static bool isOfByte(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<arith::UIToFPOp, arith::SIToFPOp>(op) && op->getOperand(0).getType().isInteger(8);
}

/// Rounding to a clamped integer of 8 bits: numbers between 2^23 and 2^24 are integers, so a sum with the middle of
/// these is rounded, to the even one of two as near, and its last bits are the integer.
struct RoundBySum : OpRewritePattern<arith::TruncIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncIOp op, PatternRewriter &rewriter) const override {
    auto converted = op.getIn().getDefiningOp<arith::FPToSIOp>();
    std::optional<WholeRange> range = converted ? rangeOf(converted.getIn()) : std::nullopt;
    auto upper = converted ? converted.getIn().getDefiningOp<arith::MinNumFOp>() : nullptr;
    auto lower = upper ? upper.getLhs().getDefiningOp<arith::MaxNumFOp>() : nullptr;
    if (!range || !lower || !op.getType().isInteger(8) || !op.getIn().getType().isInteger(32) ||
        !upper.getType().isF32() || !upper->hasOneUse() || !lower->hasOneUse())
      return failure();
    Value number = lower.getLhs();
    Value moved; // The zero point, where it is not known.
    double zero = 0;
    if (auto sum = number.getDefiningOp<arith::AddFOp>()) {
      std::optional<double> known = floatOf(sum.getRhs());
      moved = known ? Value() : sum.getRhs();
      zero = known.value_or(0);
      number = sum.getLhs();
    }
    auto rounded = number.getDefiningOp<math::RoundEvenOp>();
    if (!rounded || std::nearbyint(zero) != zero || std::abs(zero) > 65536 || (moved && !isOfByte(moved)))
      return failure();
    Location loc = op.getLoc();
    auto constant = [&](double value) -> Value {
      return rewriter.create<arith::ConstantOp>(loc, rewriter.getF32FloatAttr(static_cast<float>(value)));
    };
    // A comparison with what is no number fails: known ends are not, of others only this form says so.
    auto clamp = [&](Value x, double end, arith::CmpFPredicate inside) -> Value {
      Value limit = constant(end - zero);
      if (moved)
        limit = rewriter.create<arith::SubFOp>(loc, constant(end), moved);
      Value is = rewriter.create<arith::CmpFOp>(loc, inside, x, limit);
      return rewriter.create<arith::SelectOp>(loc, is, x, limit);
    };
    constexpr double middle = 0x1.8p23;
    Value clamped = clamp(rounded.getOperand(), range->low, arith::CmpFPredicate::OGT);
    clamped = clamp(clamped, range->high, arith::CmpFPredicate::OLT);
    Value sum = rewriter.create<arith::AddFOp>(loc, clamped, constant(middle));
    Type i32 = rewriter.getI32Type();
    Value bits = rewriter.create<arith::BitcastOp>(loc, i32, sum), by;
    if (moved)
      by = rewriter.create<arith::FPToSIOp>(loc, i32, moved);
    else if (zero != 0)
      by = rewriter.create<arith::ConstantOp>(loc, rewriter.getI32IntegerAttr(static_cast<int32_t>(zero)));
    if (by)
      bits = rewriter.create<arith::AddIOp>(loc, bits, by);
    rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, op.getType(), bits);
    return success();
  }
};
} // namespace

void strata::quantiseFast(Operation *root, bool fma) {
  MLIRContext *context = root->getContext();
  auto apply = [&](RewritePatternSet patterns) { (void)applyPatternsAndFoldGreedily(root, std::move(patterns)); };
  // Quotients first, while it is seen what rounds them. Without the instruction, a fused multiply-add is a function.
  RewritePatternSet quotients(context), roundings(context);
  quotients.add<DivideInSingle>(context);
  roundings.add<RoundBySum>(context);
  if (fma)
    apply(std::move(quotients));
  apply(std::move(roundings));
}
