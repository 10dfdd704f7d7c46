//===- NarrowWeights.h - float products of narrow weights -------*- C++ -*-===//
//
// Weights that are dequantized to f32 take four or eight times the bytes, and of
// few rows, to read them is what takes time. So these multiply the integers as
// they are kept,
//
//   y[n] = s[n] sum_k x[k] (w[k, n] - z[n])
//
// and where the scales are of blocks of k, the sums of each block first:
//
//   y[n] = sum_b s[b, n] sum_j x[b, j] (w[b, j, n] - z[b, n])
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_NARROWWEIGHTS_H
#define STRATA_LIB_DIALECT_ONNX_OPS_NARROWWEIGHTS_H

#include "MatrixProduct.h"

namespace strata::onnx {

struct NarrowWeights {
  Value value, scale, zero; ///< 4 or 8 bits; f32; null is 0
  int64_t depth;            ///< the dimension of the sum, of two
  int64_t blocks;           ///< of the depth; 0: scales and zero points do not vary along it

  /// Constant weights that fewer than 16 rows of f32 read.
  static std::optional<NarrowWeights> match(Value x, Value w, int64_t depth) {
    constexpr int64_t leastRows = 16; // as of products that take other weights in f32
    // Exporters of linear layers transpose what they dequantize.
    while (auto transpose = w.getDefiningOp<TransposeOp>()) {
      auto order = transpose->getAttrOfType<DenseI64ArrayAttr>("perm");
      if (!order || order.size() != 2)
        return std::nullopt;
      depth = order[depth];
      w = transpose.getData();
    }
    auto op = w.getDefiningOp<DequantizeLinearOp>();
    auto data = dyn_cast<RankedTensorType>(x.getType());
    if (!op || !data || data.getRank() == 0 || !getElementType(op.getY()).isF32() ||
        !getElementType(op.getXScale()).isF32() || !op.getX().getDefiningOp<InitializerOp>())
      return std::nullopt;
    ArrayRef<int64_t> rows = data.getShape().drop_back();
    auto type = dyn_cast<RankedTensorType>(op.getX().getType()),
         scale = dyn_cast<RankedTensorType>(op.getXScale().getType());
    auto integer = dyn_cast<IntegerType>(getElementType(op.getX()));
    Value zero = getFormalInput(op, 2);
    if (ShapedType::isDynamicShape(rows) || ShapedType::getNumElements(rows) >= leastRows || !type || !scale ||
        !type.hasStaticShape() || type.getRank() != 2 || !integer ||
        (integer.getWidth() != 4 && integer.getWidth() != 8) ||
        (zero && cast<TensorType>(zero.getType()).getShape() != scale.getShape()))
      return std::nullopt;
    auto along = op->getAttrOfType<IntegerAttr>("axis"), block = op->getAttrOfType<IntegerAttr>("block_size");
    int64_t axis = along ? (along.getInt() + 2) % 2 : 1, size = block ? block.getInt() : 0;
    NarrowWeights result{op.getX(), op.getXScale(), zero, depth, 0};
    if (scale.getRank() == 0 || scale.getNumElements() == 1 || (size == 0 && axis != depth))
      return result;
    // Blocks of one row each would be no sums.
    int64_t terms = type.getDimSize(depth);
    if (size < 8 || axis != depth || terms % size != 0)
      return std::nullopt;
    result.blocks = terms / size;
    return result;
  }

  /// x [..., K] with the weights: [..., N].
  Value multiply(LinalgBuilder &b, Value x, const Shape &shapeX) const {
    Type f32 = b.getF32Type(), element;
    Value w = centered(b, element), scales = b.lookup(scale);
    if (blocks == 0) {
      if (depth == 1)
        w = b.transpose(w, {1, 0});
      Shape shape{Dim(cast<RankedTensorType>(w.getType()).getDimSize(0)),
                  Dim(cast<RankedTensorType>(w.getType()).getDimSize(1))};
      Value sums = multiplyMatrices(b, x, w, shapeX, shape, {f32, element, f32});
      if (isOne(scales))
        scales = b.fromScalar(b.extractScalar(scales));
      return b.elementwise({sums, scales}, f32,
                           [](ImplicitLocOpBuilder &n, ValueRange v) { return mulScalars(n, v[0], v[1]); });
    }
    x = splitDim(b, x, getRank(x) - 1, blocks);
    // Loops: rows..., blocks, n, and the terms of a block.
    int64_t lead = getRank(x) - 2, loops = lead + 3;
    auto dim = [&](int64_t i) { return b.getAffineDimExpr(i); };
    SmallVector<AffineExpr> read, weights{dim(lead), dim(lead + 2)}, sum, out;
    for (int64_t i = 0; i < lead; ++i)
      out.push_back(dim(i));
    sum = read = out;
    read.append({dim(lead), dim(lead + 2)});
    sum.append({dim(lead), dim(lead + 1)});
    out.push_back(dim(lead + 1));
    weights.insert(depth == 1 ? weights.begin() : weights.end(), dim(lead + 1));
    using utils::IteratorType;
    SmallVector<IteratorType> kinds(loops, IteratorType::parallel);
    kinds.back() = IteratorType::reduction;
    auto map = [&](int64_t dims, ArrayRef<AffineExpr> exprs) { return AffineMap::get(dims, 0, exprs, b.getContext()); };
    Sizes sizes = b.sizes(x);
    sizes.back() = b.dim(w, depth == 1 ? 0 : 2);
    Value sums =
        contract(b, x, w, {map(loops, read), map(loops, weights), map(loops, sum)}, kinds, sizes, {f32, element, f32});
    sizes.erase(sizes.end() - 2);
    kinds.pop_back();
    kinds[lead] = IteratorType::reduction;
    SmallVector<AffineExpr> factors{dim(lead), dim(lead + 1)};
    if (depth == 1)
      std::swap(factors[0], factors[1]);
    return contract(b, sums, scales, {map(loops - 1, sum), map(loops - 1, factors), map(loops - 1, out)}, kinds, sizes,
                    f32);
  }

private:
  /// A number, whatever its rank.
  static bool isOne(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements() == 1; }

  /// The weights without their zero points, in as few bits as hold them, with the blocks as a dimension.
  Value centered(LinalgBuilder &b, Type &element) const {
    Type from = getElementType(value), i32 = b.getI32Type();
    std::optional<SmallVector<int64_t>> zeros = zero ? b.getIntegers(zero) : SmallVector<int64_t>{0};
    auto all = [&](int64_t number) { return zeros && llvm::all_of(*zeros, [&](int64_t z) { return z == number; }); };
    bool isByte = from.isInteger(8);
    Value w = b.lookup(value);
    if (blocks)
      w = splitDim(b, w, depth, blocks);
    element = isByte ? from : b.getI8Type();
    if (all(0))
      return w;
    bool fits = !isByte || (scalar::isUnsigned(from) && all(128));
    element = fits ? b.getI8Type() : b.getI16Type();
    Value moved = b.lookup(zero);
    if (isOne(moved))
      moved = b.fromScalar(b.extractScalar(moved));
    else if (blocks)
      moved = b.unsqueeze(moved, {depth + 1});
    else if (getRank(moved) == 1 && depth == 1)
      moved = b.unsqueeze(moved, {1});
    return b.elementwise({w, moved}, element, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
      Value difference =
          n.create<arith::SubIOp>(scalar::convert(n, v[0], from, i32), scalar::convert(n, v[1], from, i32));
      return n.create<arith::TruncIOp>(element, difference);
    });
  }
};

} // namespace strata::onnx

#endif // STRATA_LIB_DIALECT_ONNX_OPS_NARROWWEIGHTS_H
