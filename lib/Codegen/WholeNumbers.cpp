//===- WholeNumbers.cpp - floats that are integers ------------------------===//
#include "WholeNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata;

std::optional<double> strata::floatOf(Value value) {
  FloatAttr attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  return attribute.getValueAsDouble();
}

std::optional<int64_t> strata::integerOf(Value value) {
  IntegerAttr attribute;
  if (!matchPattern(value, m_Constant(&attribute)) || !attribute.getType().isSignlessInteger())
    return std::nullopt;
  return attribute.getInt();
}

static bool isWhole(double number) { return std::nearbyint(number) == number; }

/// Whether a float is an integer, an infinity or no number.
static bool isIntegral(Value value) {
  if (auto number = floatOf(value))
    return isWhole(*number);
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<math::RoundEvenOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return true;
  return isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MaxNumFOp, arith::MinNumFOp>(op) &&
         isIntegral(op->getOperand(0)) && isIntegral(op->getOperand(1));
}

std::optional<WholeRange> strata::rangeOfInteger(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::SubIOp, arith::AddIOp>(op)) {
    std::optional<int64_t> by = integerOf(op->getOperand(1));
    std::optional<WholeRange> range = rangeOfInteger(op->getOperand(0));
    if (!by || !range)
      return std::nullopt;
    double moved = isa<arith::SubIOp>(op) ? -static_cast<double>(*by) : *by;
    return WholeRange{range->low + moved, range->high + moved};
  }
  if (!isa_and_nonnull<arith::ExtUIOp, arith::ExtSIOp>(op))
    return std::nullopt;
  unsigned bits = op->getOperand(0).getType().getIntOrFloatBitWidth();
  if (bits > 16)
    return std::nullopt;
  double size = std::ldexp(1.0, bits);
  return isa<arith::ExtUIOp>(op) ? WholeRange{0, size - 1} : WholeRange{-size / 2, size / 2 - 1};
}

std::optional<WholeRange> strata::rangeOf(Value value) {
  if (!isIntegral(value))
    return std::nullopt;
  if (auto converted = value.getDefiningOp<arith::SIToFPOp>())
    return rangeOfInteger(converted.getIn());
  auto upper = value.getDefiningOp<arith::MinNumFOp>();
  auto lower = upper ? upper.getLhs().getDefiningOp<arith::MaxNumFOp>() : nullptr;
  std::optional<double> low, high;
  if (lower) {
    low = floatOf(lower.getRhs());
    high = floatOf(upper.getRhs());
  }
  if (!low || !high || std::abs(*low) > 65536 || std::abs(*high) > 65536)
    return std::nullopt;
  return WholeRange{*low, *high};
}

Value strata::matchQuotient(Value value, double &factor) {
  auto narrow = value.getDefiningOp<arith::TruncFOp>();
  auto product = (narrow ? narrow.getIn() : value).getDefiningOp<arith::MulFOp>();
  std::optional<double> by = product ? floatOf(product.getRhs()) : std::nullopt;
  if (!by)
    return {};
  factor = *by;
  if (!narrow)
    return product.getLhs();
  auto wide = product.getLhs().getDefiningOp<arith::ExtFOp>();
  return wide && wide.getIn().getType() == value.getType() ? wide.getIn() : Value();
}
