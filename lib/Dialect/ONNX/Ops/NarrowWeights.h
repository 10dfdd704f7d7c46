//===- NarrowWeights.h - float products of narrow weights -------*- C++ -*-===//
//
// Weights that are dequantized to f32 would take four or eight times the bytes. So
// products read the integers as they are kept,
//
//   y[n] = s[n] sum_k x[k] (w[k, n] - z[n])
//
// and where the scales are of blocks of k, dequantize in the sum:
//
//   y[n] = sum_b,j x[b, j] ((w[b, j, n] - z[b, n]) s[b, n])
//
// What is done of that how often, and where, is decided behind the seam.
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

  /// Constant weights.
  static std::optional<NarrowWeights> match(Value x, Value w, int64_t depth) {
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
    auto type = dyn_cast<RankedTensorType>(op.getX().getType()),
         scale = dyn_cast<RankedTensorType>(op.getXScale().getType());
    auto integer = dyn_cast<IntegerType>(getElementType(op.getX()));
    Value zero = getFormalInput(op, 2);
    if (!type || !scale || !type.hasStaticShape() || type.getRank() != 2 || !integer ||
        (integer.getWidth() != 4 && integer.getWidth() != 8) || data.getShape().back() != type.getDimSize(depth) ||
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
    Type f32 = b.getF32Type();
    Value scales = b.lookup(scale), zeros = zero && !areAll(b, 0) ? b.lookup(zero) : Value();
    // Columns with zero points of their own are one block each.
    bool areColumns = blocks == 0 && zeros && getRank(scales) == 1 && !isOne(scales);
    if (areColumns) {
      scales = b.unsqueeze(scales, {depth});
      zeros = b.unsqueeze(zeros, {depth});
    } else if (blocks == 0) {
      Type element;
      Value w = centered(b, element);
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
    int64_t parts = std::max<int64_t>(blocks, 1);
    x = splitDim(b, x, getRank(x) - 1, parts);
    // Loops: rows..., n, blocks, and the terms of a block.
    int64_t lead = getRank(x) - 2, loops = lead + 3;
    SmallVector<AffineExpr> out;
    for (int64_t i = 0; i <= lead; ++i)
      out.push_back(b.getAffineDimExpr(i));
    AffineExpr n = out.back(), block = b.getAffineDimExpr(lead + 1), term = b.getAffineDimExpr(lead + 2);
    SmallVector<AffineExpr> read(ArrayRef(out).drop_back()), weights{block, term}, factors{block};
    read.append({block, term});
    weights.insert(depth == 1 ? weights.begin() : weights.end(), n);
    factors.insert(depth == 1 ? factors.begin() : factors.end(), n);
    auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(loops, 0, exprs, b.getContext()); };
    SmallVector<Value> inputs{x, splitDim(b, b.lookup(value), depth, parts), scales};
    SmallVector<AffineMap> maps{map(read), map(weights), map(factors)};
    if (zeros) {
      inputs.push_back(zeros);
      maps.push_back(map(factors));
    }
    maps.push_back(map(out));
    SmallVector<utils::IteratorType> kinds(loops, utils::IteratorType::parallel);
    kinds[lead + 1] = kinds[lead + 2] = utils::IteratorType::reduction;
    Sizes sizes = b.sizes(x);
    sizes.resize(lead + 1);
    sizes.back() = b.dim(scales, depth == 1 ? 0 : 1);
    Value sums = b.fill(sizes, b.scalar(f32, 0));
    Type from = getElementType(value), i32 = b.getI32Type();
    return b
        .create<linalg::GenericOp>(sums.getType(), inputs, sums, maps, kinds,
                                   [&](OpBuilder &nested, Location loc, ValueRange args) {
                                     ImplicitLocOpBuilder n(loc, nested);
                                     Value w = scalar::convert(n, args[1], from, i32);
                                     if (inputs.size() > 3)
                                       w = n.create<arith::SubIOp>(w, scalar::convert(n, args[3], from, i32));
                                     w = n.create<arith::MulFOp>(n.create<arith::SIToFPOp>(f32, w), args[2]);
                                     Value product = n.create<arith::MulFOp>(args[0], w);
                                     n.create<linalg::YieldOp>(
                                         n.create<arith::AddFOp>(args.back(), product).getResult());
                                   })
        .getResult(0);
  }

private:
  /// A number, whatever its rank.
  static bool isOne(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements() == 1; }

  /// Whether all zero points are known to be `number`.
  bool areAll(LinalgBuilder &b, int64_t number) const {
    std::optional<SmallVector<int64_t>> zeros = zero ? b.getIntegers(zero) : SmallVector<int64_t>{0};
    return zeros && llvm::all_of(*zeros, [&](int64_t z) { return z == number; });
  }

  /// The weights without their zero points, in as few bits as hold them.
  Value centered(LinalgBuilder &b, Type &element) const {
    Type from = getElementType(value), i32 = b.getI32Type();
    bool isByte = from.isInteger(8);
    Value w = b.lookup(value);
    element = isByte ? from : b.getI8Type();
    if (areAll(b, 0))
      return w;
    bool fits = !isByte || (scalar::isUnsigned(from) && areAll(b, 128));
    element = fits ? b.getI8Type() : b.getI16Type();
    Value moved = b.fromScalar(b.extractScalar(b.lookup(zero)));
    return b.elementwise({w, moved}, element, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
      Value difference =
          n.create<arith::SubIOp>(scalar::convert(n, v[0], from, i32), scalar::convert(n, v[1], from, i32));
      return n.create<arith::TruncIOp>(element, difference);
    });
  }
};

} // namespace strata::onnx

#endif // STRATA_LIB_DIALECT_ONNX_OPS_NARROWWEIGHTS_H
