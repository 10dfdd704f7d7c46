//===- SwiGLU.cpp - Swish(A) * B ------------------------------------------===//

#include "../Moments.h"

static LogicalResult inferSwiGLU(ShapeContext &c) {
  std::optional<Shape> a = c.shape(0), b = c.shape(1);
  if (a && b) {
    if (a->size() != b->size())
      return c.emitError() << "'A' has rank " << a->size() << " and 'B' has rank " << b->size();
    for (auto [p, q] : llvm::zip_equal(*a, *b))
      if (p.isStatic() && q.isStatic() && p.size != q.size)
        return c.emitError() << "'A' has size " << p.size << " where 'B' has " << q.size;
  }
  c.copyShape(a ? 0 : 1);
  return success();
}

static FailureOr<SmallVector<Value>> lowerSwiGLU(Operation *op, ValueRange operands, LinalgBuilder &b) {
  double alpha = cast<SwiGLUOp>(op).getAlpha().convertToFloat();
  Value x = operands[0], y = operands[1];
  int64_t rank = getRank(x);
  for (int64_t i = 0; i < rank; ++i)
    b.checkEqual(b.dim(x, i), b.dim(y, i), "'A' and 'B' differ in size");
  Type seam = getElementType(x), compute = scalar::getComputeType(seam);
  AffineMap full = b.getMultiDimIdentityMap(rank);
  return SmallVector<Value>{
      mapElements(b, {x, y}, {full, full}, b.sizes(x), seam, [&](ImplicitLocOpBuilder &n, ValueRange v) {
        Value gate = extend(n, v[0], compute);
        Value e = n.create<math::ExpOp>(n.create<arith::MulFOp>(gate, constantFloat(n, compute, -alpha)));
        Value swish = n.create<arith::DivFOp>(gate, n.create<arith::AddFOp>(e, constantFloat(n, compute, 1)));
        return convertFloat(n, n.create<arith::MulFOp>(swish, extend(n, v[1], compute)), seam);
      })};
}

STRATA_SLICE(SwiGLU) { ops.add("SwiGLU", {.inferShapes = inferSwiGLU, .lower = lowerSwiGLU}); }
