//===- NarrowWeights.h - float products of narrow weights -------*- C++ -*-===//
//
// Weights that are dequantized to f32 would take four or eight times the bytes. So
// products read the integers as they are kept,
//
//   y[n] = s[n] sum_k x[k] (w[k, n] - z)
//
// and where scales or zero points are of blocks of k (with zero points for each
// column, all of k is one), dequantize in the sum:
//
//   y[n] = sum_b,j x[b, j] ((w[b, j, n] - z[b, n]) s[b, n])
//
// What is done of that how often, and where, is decided behind the seam.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_NARROWWEIGHTS_H
#define STRATA_LIB_DIALECT_ONNX_OPS_NARROWWEIGHTS_H

#include "Dequantized.h"

namespace strata::onnx {

struct NarrowWeights {
  Value value, scale, zero; ///< 4 or 8 bits; f32, f16 or bf16; null is 0
  int64_t depth;            ///< the dimension of the sum, of two
  int64_t blocks;           ///< of the depth; 0: scales and zero points do not vary along it

  /// Of constants only.
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
    auto isConstant = [](Value v) { return !v || v.getDefiningOp<InitializerOp>(); };
    if (!op || !data || data.getRank() == 0 || !isComputedInF32(op) || !llvm::all_of(op->getOperands(), isConstant))
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
    if (size < 8 || axis != depth || terms == 0 || terms % size != 0)
      return std::nullopt;
    result.blocks = terms / size;
    return result;
  }

  /// x [..., K] with the weights: [..., N], of f32.
  Value multiply(LinalgBuilder &b, Value x) const {
    // Of large tensors it is not known here whether they are of equal elements.
    std::optional<SmallVector<int64_t>> zeros = zero ? b.getIntegers(zero) : SmallVector<int64_t>{0};
    bool isOneZero = zeros && llvm::all_equal(*zeros), byBlocks = blocks || !isOneZero;
    int64_t parts = std::max<int64_t>(blocks, 1);
    Type from = getElementType(value), i32 = b.getI32Type(), f32 = b.getF32Type();
    Value w = b.lookup(value), scales = widen(b, b.lookup(scale), getElementType(scale));
    int64_t depth = this->depth;
    if (!byBlocks && depth == 1) {
      w = b.transpose(w, {1, 0});
      depth = 0;
    }
    Sizes sizes = b.sizes(x);
    sizes.back() = b.dim(w, 1 - depth);
    // Loops: rows..., n, blocks if there are such, and the terms.
    int64_t rows = getRank(x) - 1, loops = rows + 2 + byBlocks;
    auto dims = llvm::map_to_vector(llvm::seq(loops), [&](int64_t i) { return b.getAffineDimExpr(i); });
    auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(loops, 0, exprs, b.getContext()); };
    auto ofColumns = [&](ArrayRef<AffineExpr> exprs) {
      SmallVector<AffineExpr> all(exprs);
      all.insert(depth == 1 ? all.begin() : all.end(), dims[rows]);
      return map(all);
    };
    auto byBlock = [&](Value all) { return blocks ? all : b.unsqueeze(all, {depth}); };
    ArrayRef<AffineExpr> terms = ArrayRef(dims).drop_front(rows + 1), block = terms.drop_back();
    SmallVector<AffineExpr> read(ArrayRef(dims).take_front(rows));
    read.append(terms.begin(), terms.end());
    SmallVector<Value> inputs{x, w};
    if (byBlocks) {
      inputs = {splitDim(b, x, rows, parts), splitDim(b, w, depth, parts), byBlock(scales)};
      if (!isOneZero)
        inputs.push_back(byBlock(b.lookup(zero)));
    }
    inputs[0] = widen(b, inputs[0], getElementType(x));
    SmallVector<AffineMap> maps{map(read), ofColumns(terms)};
    maps.resize(inputs.size(), ofColumns(block));
    maps.push_back(map(ArrayRef(dims).take_front(rows + 1)));
    SmallVector<utils::IteratorType> kinds(loops, utils::IteratorType::parallel);
    std::fill(kinds.begin() + rows + 1, kinds.end(), utils::IteratorType::reduction);
    Value sums = b.fill(sizes, b.scalar(f32, 0));
    auto body = [&](OpBuilder &nested, Location loc, ValueRange args) {
      ImplicitLocOpBuilder n(loc, nested);
      Value w = scalar::convert(n, args[1], from, i32);
      if (!isOneZero)
        w = n.create<arith::SubIOp>(w, scalar::convert(n, args[3], from, i32));
      else if (int64_t number = zeros->front())
        w = n.create<arith::SubIOp>(w, n.create<arith::ConstantOp>(n.getI32IntegerAttr(number)));
      w = n.create<arith::SIToFPOp>(f32, w);
      if (byBlocks)
        w = mulScalars(n, w, args[2]);
      n.create<linalg::YieldOp>(addScalars(n, args.back(), mulScalars(n, args[0], w)));
    };
    sums = b.create<linalg::GenericOp>(sums.getType(), inputs, sums, maps, kinds, body).getResult(0);
    if (byBlocks)
      return sums;
    if (cast<RankedTensorType>(scales.getType()).getNumElements() == 1) // whatever its rank
      scales = b.fromScalar(b.extractScalar(scales));
    return b.elementwise({sums, scales}, f32,
                         [](ImplicitLocOpBuilder &n, ValueRange v) { return mulScalars(n, v[0], v[1]); });
  }
};

} // namespace strata::onnx

#endif // STRATA_LIB_DIALECT_ONNX_OPS_NARROWWEIGHTS_H
