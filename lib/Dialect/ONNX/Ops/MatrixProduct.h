//===- MatrixProduct.h - matrix products with broadcast batches -*- C++ -*-===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_MATRIXPRODUCT_H
#define STRATA_LIB_DIALECT_ONNX_OPS_MATRIXPRODUCT_H

#include "Compute.h"

namespace strata {

/// x [batch..., M, K] with y [batch..., K, N] in the compute type, as NumPy's matmul, of the types' `shapeX` and
/// `shapeY`. Batch dimension `i` of the result and how each operand reads it: sizes that only the run tells must agree
/// or be known to be 1: an operand whose dimension may be either is refused at run time unless it is equal.
inline Value multiplyMatrices(LinalgBuilder &b, Value x, Value y, const Shape &shapeX, const Shape &shapeY,
                              const ProductTypes &types) {
  int64_t rankX = getRank(x), rankY = getRank(y);
  int64_t batchX = std::max<int64_t>(rankX - 2, 0), batchY = std::max<int64_t>(rankY - 2, 0);
  int64_t batch = std::max(batchX, batchY);
  bool hasM = rankX > 1, hasN = rankY > 1;
  b.checkEqual(b.dim(x, rankX - 1), b.dim(y, hasN ? rankY - 2 : 0), "the inner sizes of the matrices differ");

  // A size that may be 1 or not is settled by broadcasting that operand's batch first; it is rare.
  Sizes sizes;
  SmallVector<bool> oneX(batch, true), oneY(batch, true);
  bool ambiguousX = false, ambiguousY = false;
  for (int64_t i = 0; i < batch; ++i) {
    int64_t ix = i - (batch - batchX), iy = i - (batch - batchY);
    Dim dx = ix < 0 ? Dim(1) : shapeX[ix], dy = iy < 0 ? Dim(1) : shapeY[iy];
    OpFoldResult sx = ix < 0 ? OpFoldResult(b.getIndexAttr(1)) : b.dim(x, ix);
    OpFoldResult sy = iy < 0 ? OpFoldResult(b.getIndexAttr(1)) : b.dim(y, iy);
    oneX[i] = isConstantIntValue(sx, 1);
    oneY[i] = isConstantIntValue(sy, 1);
    if (oneX[i] || oneY[i] || dx.sameAs(dy) || isEqualConstantIntOrValue(sx, sy)) {
      sizes.push_back(oneX[i] ? sy : sx);
      continue;
    }
    Value one = b.index(int64_t(1)), vx = b.index(sx), vy = b.index(sy);
    auto equal = [&](Value p, Value q) -> Value {
      return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, p, q);
    };
    Value xIsOne = equal(vx, one);
    b.check(b.create<arith::OrIOp>(b.create<arith::OrIOp>(xIsOne, equal(vy, one)), equal(vx, vy)),
            "batch dimension " + Twine(i) + " of the matrices does not broadcast");
    if (getConstantIntValue(sx))
      sizes.push_back(sx);
    else if (getConstantIntValue(sy))
      sizes.push_back(sy);
    else
      sizes.push_back(b.create<arith::SelectOp>(xIsOne, vy, vx).getResult());
    ambiguousX |= !getConstantIntValue(sx);
    ambiguousY |= !getConstantIntValue(sy);
  }
  auto broadcastBatch = [&](Value v, int64_t rank, SmallVector<bool> &one) {
    Sizes full(sizes);
    for (int64_t i = std::max<int64_t>(rank - 2, 0); i < rank; ++i)
      full.push_back(b.dim(v, i));
    one.assign(batch, false);
    return b.broadcast(v, full);
  };
  if (ambiguousX) {
    x = broadcastBatch(x, rankX, oneX);
    batchX = batch, rankX = getRank(x);
  }
  if (ambiguousY) {
    y = broadcastBatch(y, rankY, oneY);
    batchY = batch, rankY = getRank(y);
  }

  Type compute = scalar::getComputeType(types.sum);
  if (hasM)
    sizes.push_back(b.dim(x, rankX - 2));
  if (hasN)
    sizes.push_back(b.dim(y, rankY - 1));
  auto zero = [&] { return b.fill(sizes, b.scalar(compute, 0)); };
  bool sameBatch = batchX == 1 && batchY == 1 && oneX[0] == oneY[0];
  if (types.areOne() && hasM && hasN && batch == 0)
    return b.create<linalg::MatmulOp>(ValueRange{x, y}, ValueRange{zero()}).getResult(0);
  if (types.areOne() && hasM && hasN && batch == 1 && sameBatch)
    return b.create<linalg::BatchMatmulOp>(ValueRange{x, y}, ValueRange{zero()}).getResult(0);
  // Loops: batch, m, n, k.
  int64_t loops = sizes.size() + 1;
  auto read = [&](int64_t own, ArrayRef<bool> one) {
    SmallVector<AffineExpr> exprs;
    for (int64_t i = batch - own; i < batch; ++i)
      exprs.push_back(one[i] && !isConstantIntValue(sizes[i], 1) ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(i));
    return exprs;
  };
  SmallVector<AffineExpr> ex = read(batchX, oneX), ey = read(batchY, oneY);
  if (hasM)
    ex.push_back(b.getAffineDimExpr(batch));
  ex.push_back(b.getAffineDimExpr(loops - 1));
  ey.push_back(b.getAffineDimExpr(loops - 1));
  if (hasN)
    ey.push_back(b.getAffineDimExpr(loops - 2));
  SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  SmallVector<AffineMap> maps{AffineMap::get(loops, 0, ex, b.getContext()),
                              AffineMap::get(loops, 0, ey, b.getContext()),
                              mapWithout(b.getContext(), loops, {loops - 1})};
  return contract(b, x, y, maps, iterators, sizes, types);
}

} // namespace strata

#endif // STRATA_LIB_DIALECT_ONNX_OPS_MATRIXPRODUCT_H
