//===- Padding.cpp - taps of a window that lie in the padding -------------===//
//
// In the first and the last rows of an image some rows of a window read nothing but zeros. The fewer rows the image
// has, and the further the taps lie apart, the more they are: a tenth of a 3x3 convolution of 7x7, more than half of
// one of 14x14 with a dilation of 12. With columns it is the same.
//
//===----------------------------------------------------------------------===//
#include "Padding.h"
#include "ConstantExpressions.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using linalg::GenericOp;

static constexpr llvm::StringLiteral attributeName = "strata.inside";

/// Whether zeros times the elements are zeros, those of integers, and finite ones.
static bool isFinite(Value weights) {
  Type element = getElementTypeOrSelf(weights.getType());
  if (element.isInteger())
    return true;
  auto [bytes, stored] = strata::elementsBehind(weights);
  if (bytes.empty() || !isa<Float32Type, Float16Type, BFloat16Type>(stored))
    return false;
  if (stored.isF16())
    return strata::areAtMost<uint16_t>(bytes, 0x7bff);
  if (stored.isBF16())
    return strata::areAtMost<uint16_t>(bytes, 0x7f7f);
  // What f32 is rounded to may be infinite.
  return strata::areAtMost<uint32_t>(bytes, element.isBF16() ? 0x7f7f0000 : 0x7f7fffff);
}

std::optional<strata::PaddedLoop> strata::matchWindow(AffineExpr expr, ArrayRef<utils::IteratorType> kinds) {
  strata::PaddedLoop result{-1, -1, 1, 1, 0, 0};
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return std::nullopt;
  for (AffineExpr term : {sum.getLHS(), sum.getRHS()}) {
    int64_t factor = 1;
    if (auto product = dyn_cast<AffineBinaryOpExpr>(term); product && product.getKind() == AffineExprKind::Mul) {
      auto constant = dyn_cast<AffineConstantExpr>(product.getRHS());
      if (!constant || constant.getValue() <= 0)
        return std::nullopt;
      factor = constant.getValue();
      term = product.getLHS();
    }
    auto dim = dyn_cast<AffineDimExpr>(term);
    if (!dim)
      return std::nullopt;
    bool reduction = kinds[dim.getPosition()] == utils::IteratorType::reduction;
    (reduction ? result.tap : result.position) = dim.getPosition();
    (reduction ? result.dilation : result.stride) = factor;
  }
  return result.position >= 0 && result.tap >= 0 ? std::optional(result) : std::nullopt;
}

double strata::PaddedLoop::share(int64_t positions, int64_t taps) const {
  int64_t inside = 0;
  for (int64_t position = 0; position < positions; ++position)
    for (int64_t tap = 0; tap < taps; ++tap)
      inside += isInside(position, tap);
  return static_cast<double>(inside) / (positions * taps);
}

/// Whether so many taps lie in the padding that a loop whose bounds are computed is worth it.
static bool isWorthIt(const strata::PaddedLoop &loop, int64_t positions, int64_t taps) {
  return loop.share(positions, taps) <= 0.97;
}

void strata::markPadding(GenericOp op) {
  std::optional<ProductSum> sum = matchProductSum(op);
  auto isKnown = [&](Type element) {
    return sum->sum.isInteger() ? element.isInteger() : element.isF32() || element.isBF16();
  };
  if (!sum || !(sum->sum.isF32() || sum->sum.isInteger()) || !llvm::all_of(sum->elements, isKnown) ||
      !getPaddedLoops(op).empty())
    return;
  OpOperand *data = op.getDpsInputOperand(0), *weights = op.getDpsInputOperand(1);
  auto pad = data->get().getDefiningOp<tensor::PadOp>();
  if (!pad) {
    std::swap(data, weights);
    pad = data->get().getDefiningOp<tensor::PadOp>();
  }
  Value padding = pad ? pad.getConstantPaddingValue() : Value();
  if (!padding || !(matchPattern(padding, m_AnyZeroFloat()) || matchPattern(padding, m_Zero())))
    return;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<PaddedLoop> windows, worth;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(data).getResults())) {
    std::optional<PaddedLoop> loop = matchWindow(expr, kinds);
    if (!loop)
      continue;
    loop->low = pad.getStaticLow()[dim];
    loop->size = pad.getSourceType().getDimSize(dim);
    windows.push_back(*loop);
  }
  for (const PaddedLoop &loop : windows) {
    int64_t positions = ranges[loop.position], taps = ranges[loop.tap];
    if (llvm::any_of(ArrayRef{loop.low, loop.size, positions, taps}, ShapedType::isDynamic) || positions * taps == 0 ||
        !isWorthIt(loop, positions, taps))
      continue;
    worth.push_back(loop);
  }
  if (!worth.empty() && isFinite(weights->get()))
    setPaddedLoops(op, worth);
}

void strata::setPaddedLoops(Operation *op, ArrayRef<PaddedLoop> loops) {
  if (loops.empty())
    return;
  SmallVector<int64_t> fields;
  for (const PaddedLoop &loop : loops)
    fields.append({loop.position, loop.tap, loop.stride, loop.dilation, loop.low, loop.size});
  op->setAttr(attributeName, DenseI64ArrayAttr::get(op->getContext(), fields));
}

SmallVector<strata::PaddedLoop> strata::getPaddedLoops(Operation *op) {
  SmallVector<PaddedLoop> result;
  auto attribute = op->getAttrOfType<DenseI64ArrayAttr>(attributeName);
  if (!attribute || attribute.size() % 6)
    return result;
  for (ArrayRef<int64_t> f = attribute; !f.empty(); f = f.drop_front(6))
    result.push_back({static_cast<int>(f[0]), static_cast<int>(f[1]), f[2], f[3], f[4], f[5]});
  return result;
}
