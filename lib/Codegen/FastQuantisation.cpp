//===- FastQuantisation.cpp - quantisation in few instructions ------------===//
#include "QuantisedBodies.h"
#include "WholeNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <limits>

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

/// Whether x most + x left is below, at or above each half of the range where x / s, rounded, is: then both are rounded
/// to the same integer of it. Both are within few units of the last place of the quotient, so the numbers next to a half
/// times s tell.
static bool isExactAtHalves(WholeRange range, double factor, float most, float left) {
  if (range.high - range.low > 1024)
    return false;
  constexpr int near = 8;
  for (double whole = range.low - 1; whole <= range.high; ++whole) {
    auto half = static_cast<float>(whole + 0.5);
    auto side = [&](float quotient) { return (quotient > half) - (quotient < half); };
    auto x = static_cast<float>(half / factor);
    for (int step = 0; step < near; ++step)
      x = std::nextafter(x, -std::numeric_limits<float>::infinity());
    for (int step = -near; step <= near; ++step) {
      if (side(std::fma(x, most, x * left)) != side(static_cast<float>(x * factor)))
        return false;
      x = std::nextafter(x, std::numeric_limits<float>::infinity());
    }
  }
  return true;
}

namespace {
/// x / s as x * (1 / s) in f64. Of which only a bounded quotient counts: x most + x left, where both factors together
/// are the reciprocal, if that misses no half of the range. Otherwise, and of a bounded x, by two corrections. The first
/// quotient is within two units of the last place, so the first correction leaves less than one; of such a quotient q
/// and the nearest reciprocal y, q + (x - q s) y, rounded, is x / s, rounded (Markstein). Nothing overflows, and where x
/// is so small that x - q s is not exact, the quotient is far below one half.
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
    Location loc = op.getLoc();
    auto constant = [&](double value) -> Value {
      return rewriter.create<arith::ConstantOp>(loc, rewriter.getF32FloatAttr(static_cast<float>(value)));
    };
    std::optional<WholeRange> range = rangeOfRounded(op);
    // Towards zero: both products have one sign, and an infinity stays.
    auto most = static_cast<float>(factor);
    most = most > factor ? std::nextafter(most, 0.0f) : most;
    auto left = static_cast<float>(factor - most);
    if (range && isExactAtHalves(*range, factor, most, left)) {
      Value quotient = rewriter.create<arith::MulFOp>(loc, x, constant(left == 0 ? most : left));
      if (left != 0)
        quotient = rewriter.create<math::FmaOp>(loc, x, constant(most), quotient);
      rewriter.replaceOp(op, quotient);
      return success();
    }
    std::optional<double> bound = boundOf(x);
    bool clamps = !bound && range;
    if (clamps)
      bound = std::max(std::abs(range->low), std::abs(range->high)) * scale;
    if (1 / static_cast<double>(scale) != factor || !bound || !(*bound * std::max(1.0, factor) < large))
      return failure();
    if (clamps) {
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

/// Rounding to a clamped integer of 8 bits. The number is clamped before it is rounded. Where integers are narrowed by
/// saturation, one says so that changes nothing. Elsewhere it is rounded by a sum: numbers between 2^23 and 2^24 are
/// integers, so a sum with the middle of these is rounded, to the even one of two as near, and its last bits are the
/// integer.
struct RoundToByte : OpRewritePattern<arith::TruncIOp> {
  RoundToByte(MLIRContext *context, bool packs) : OpRewritePattern(context), packs(packs) {}

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
    Value clamped = clamp(rounded.getOperand(), range->low, arith::CmpFPredicate::OGT);
    clamped = clamp(clamped, range->high, arith::CmpFPredicate::OLT);
    Type i32 = rewriter.getI32Type();
    Value bits, by;
    if (packs) {
      bits = rewriter.create<arith::FPToSIOp>(loc, i32, rewriter.create<math::RoundEvenOp>(loc, clamped));
    } else {
      constexpr double middle = 0x1.8p23;
      Value sum = rewriter.create<arith::AddFOp>(loc, clamped, constant(middle));
      bits = rewriter.create<arith::BitcastOp>(loc, i32, sum);
    }
    auto integer = [&](double value) -> Value {
      return rewriter.create<arith::ConstantOp>(loc, rewriter.getI32IntegerAttr(static_cast<int32_t>(value)));
    };
    if (moved)
      by = rewriter.create<arith::FPToSIOp>(loc, i32, moved);
    else if (zero != 0)
      by = integer(zero);
    if (by)
      bits = rewriter.create<arith::AddIOp>(loc, bits, by);
    if (packs) {
      bits = rewriter.create<arith::MaxSIOp>(loc, bits, integer(range->low));
      bits = rewriter.create<arith::MinSIOp>(loc, bits, integer(range->high));
    }
    rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, op.getType(), bits);
    return success();
  }

private:
  bool packs;
};
} // namespace

void strata::quantiseFast(Operation *root, bool fma, bool packs) {
  MLIRContext *context = root->getContext();
  auto apply = [&](RewritePatternSet patterns) { (void)applyPatternsAndFoldGreedily(root, std::move(patterns)); };
  // Quotients first, while it is seen what rounds them. Without the instruction, a fused multiply-add is a function.
  RewritePatternSet quotients(context), roundings(context);
  quotients.add<DivideInSingle>(context);
  roundings.add<RoundToByte>(context, packs);
  if (fma)
    apply(std::move(quotients));
  apply(std::move(roundings));
}
