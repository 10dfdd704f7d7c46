//===- WinogradTransform.cpp - matrices times tiles of vectors ------------===//
#include "WinogradTransform.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

/// The product of a matrix' row and a column of vectors.
static Value weigh(OpBuilder &b, Location loc, ArrayRef<float> row, ArrayRef<Value> values, bool fma) {
  Value sum;
  auto type = cast<VectorType>(values[0].getType());
  bool floats = isa<FloatType>(type.getElementType());
  auto constant = [&](float factor) -> Value {
    if (floats)
      return b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, factor));
    auto number = b.getIntegerAttr(type.getElementType(), static_cast<int64_t>(factor));
    return b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, Attribute(number)));
  };
  auto multiplied = [&](Value value, float factor) {
    return vector::makeArithReduction(b, loc, vector::CombiningKind::MUL, value, constant(factor));
  };
  auto added = [&](Value x, Value y) { return vector::makeArithReduction(b, loc, vector::CombiningKind::ADD, x, y); };
  auto term = [&](float factor, Value value) {
    if (!sum)
      sum = factor == 1 ? value : multiplied(value, factor);
    else if (factor == 1)
      sum = added(sum, value);
    else if (factor == -1 && floats)
      sum = b.create<arith::SubFOp>(loc, sum, value);
    else if (factor == -1)
      sum = b.create<arith::SubIOp>(loc, sum, value);
    else if (floats && fma)
      sum = b.create<math::FmaOp>(loc, value, constant(factor), sum);
    else
      sum = added(sum, multiplied(value, factor));
  };
  // The ones first.
  for (bool ones : {true, false})
    for (auto [factor, value] : llvm::zip(row, values))
      if (factor != 0 && (factor == 1) == ones)
        term(factor, value);
  return sum;
}

SmallVector<Value> strata::transformTile(OpBuilder &b, Location loc, TransformMatrix first, TransformMatrix second,
                                         ArrayRef<Value> tile, bool fma) {
  size_t high = first.columns, wide = second.columns;
  SmallVector<Value> half, result;
  for (ArrayRef<float> each = first.values; !each.empty(); each = each.drop_front(high))
    for (size_t j = 0; j < wide; ++j) {
      SmallVector<Value> column;
      for (size_t i = 0; i < high; ++i)
        column.push_back(tile[i * wide + j]);
      half.push_back(weigh(b, loc, each.take_front(high), column, fma));
    }
  for (ArrayRef<Value> row = half; !row.empty(); row = row.drop_front(wide))
    for (ArrayRef<float> each = second.values; !each.empty(); each = each.drop_front(wide))
      result.push_back(weigh(b, loc, each.take_front(wide), row.take_front(wide), fma));
  return result;
}
