//===- Dequantized.h - float products of dequantized operands ---*- C++ -*-===//
//
// Of operands that were 8-bit integers x and w, with constant w,
//
//   sum sx (x - zx) * sw (w - zw) = sx sw * sum (x - zx) (w - zw)
//
// The sum on the right is exact and is rounded once, which is nearer to the real
// number than the f32 sum on the left.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_DEQUANTIZED_H
#define STRATA_LIB_DIALECT_ONNX_OPS_DEQUANTIZED_H

#include "Composer.h"
#include "Dialect/VersionSteps.h"

namespace strata::onnx {

struct Dequantized {
  Value value, scale, zero; ///< 8-bit integers; f32, f16 or bf16; null is 0
};

/// Whether all that it computes is of f32, or rounded from it.
inline bool isComputedInF32(DequantizeLinearOp op) {
  auto isFloat = [](Value v) { return isa<Float32Type, Float16Type, BFloat16Type>(getElementType(v)); };
  return isFloat(op.getY()) && isFloat(op.getXScale());
}

/// What `operand` was, if it has one scale, or one for each index of `axis` (-1: one only).
inline std::optional<Dequantized> matchDequantized(Value operand, int64_t axis) {
  auto op = operand ? operand.getDefiningOp<DequantizeLinearOp>() : DequantizeLinearOp();
  if (!op || !isComputedInF32(op) || !getElementType(op.getX()).isInteger(8))
    return std::nullopt;
  auto x = dyn_cast<RankedTensorType>(op.getX().getType()),
       scale = dyn_cast<RankedTensorType>(op.getXScale().getType());
  auto blocks = op->getAttrOfType<IntegerAttr>("block_size"), along = op->getAttrOfType<IntegerAttr>("axis");
  if (!x || !scale || (blocks && blocks.getInt() != 0) || scale.getRank() > 1)
    return std::nullopt;
  int64_t own = along ? along.getInt() : 1, rank = x.getRank();
  if (scale.getRank() == 1 && scale.getDimSize(0) != 1 && (axis < 0 || (own < 0 ? own + rank : own) != axis))
    return std::nullopt;
  Value zero = getFormalInput(op, 2);
  if (zero && cast<TensorType>(zero.getType()).getShape() != scale.getShape())
    return std::nullopt;
  return Dequantized{op.getX(), op.getXScale(), zero};
}

struct DequantizedProduct {
  Dequantized x, w;

  /// Of an operand of one scale and constant weights with one for each index of `axis`, of sums of `terms` products
  /// that i32 holds.
  static std::optional<DequantizedProduct> match(Value x, Value w, int64_t axis, int64_t terms) {
    std::optional<Dequantized> left = matchDequantized(x, -1), right = matchDequantized(w, axis);
    constexpr int64_t most = std::numeric_limits<int32_t>::max() / (255 * 255);
    if (!left || !right || !right->value.getDefiningOp<InitializerOp>() || ShapedType::isDynamic(terms) || terms < 1 ||
        terms > most)
      return std::nullopt;
    return DequantizedProduct{*left, *right};
  }

  /// The f32 product by an operator of integers, whose result has w's channels as dimension `axis`.
  template <typename IntegerOp> Value multiply(Composer &k, int64_t axis, ArrayRef<NamedAttribute> attrs = {}) const {
    Type f32 = Float32Type::get(x.scale.getContext()), i32 = IntegerType::get(x.scale.getContext(), 32);
    SmallVector<Value> operands{x.value, w.value};
    SmallVector<int32_t> segments{1, 1, 0, 0};
    for (auto [i, zero] : llvm::enumerate(SmallVector<Value>{x.zero, w.zero}))
      if (zero) {
        operands.push_back(zero);
        segments[2 + i] = 1;
      }
    Builder b(x.scale.getContext());
    SmallVector<NamedAttribute> all(attrs);
    all.push_back(b.getNamedAttr("operandSegmentSizes", b.getDenseI32ArrayAttr(segments)));
    Value sums = k.make<IntegerOp>(operands, i32, all);
    if (!sums)
      return {};
    Value factor = k.make<MulOp>({k.cast(x.scale, f32), k.alongAxis(k.cast(w.scale, f32), axis, getRank(sums))}, f32);
    return k.make<MulOp>({k.cast(sums, f32), factor}, f32);
  }
};

} // namespace strata::onnx

#endif // STRATA_LIB_DIALECT_ONNX_OPS_DEQUANTIZED_H
