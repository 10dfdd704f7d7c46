//===- GlobalPool.cpp - GlobalMaxPool, GlobalAveragePool, GlobalLpPool ----===//

#include "../Norms.h"

static LogicalResult inferGlobalPool(ShapeContext &c) {
  std::optional<Shape> x = c.shape(0);
  if (!x)
    return success();
  if (x->size() < 2)
    return c.emitError() << "'X' has rank " << x->size() << "; a batch and channels are needed";
  Shape result{(*x)[0], (*x)[1]};
  result.resize(x->size(), Dim(1));
  c.setShape(0, result);
  return success();
}

static LogicalResult upgradeGlobalLpPool(Operation *op, PatternRewriter &rewriter) {
  SmallVector<NamedAttribute, 1> added;
  if (failed(upgradeNorm(op, rewriter, added)))
    return failure();
  return changeAttributes(op, rewriter, {}, added);
}

using Map = llvm::function_ref<Value(ImplicitLocOpBuilder &, Value)>;

// after(fold of combine over before(x)), with the spatial dimensions kept at size 1.
static SmallVector<Value> poolAll(Operation *op, Value x, LinalgBuilder &b, Value init, ScalarFn combine, Map after) {
  Type element = getElementType(op->getResult(0));
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, getRank(x)));
  Value reduced = reduceMany(b, x, b.getMultiDimIdentityMap(getRank(x)), axes, init, combine);
  Value result = b.elementwise(reduced, getSeamElementType(element), [&](ImplicitLocOpBuilder &n, ValueRange v) {
    return scalar::encode(n, after(n, v[0]), element);
  });
  return {b.unsqueeze(result, axes)};
}

static FailureOr<SmallVector<Value>> lowerGlobalMaxPool(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type element = getElementType(op->getResult(0));
  Value lowest = b.create<arith::ConstantOp>(scalar::getLowest(element));
  return poolAll(
      op, operands[0], b, lowest,
      [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
        return n.create<arith::MaximumFOp>(scalar::decode(n, v[0], element), v[1]);
      },
      [](ImplicitLocOpBuilder &, Value v) { return v; });
}

static FailureOr<SmallVector<Value>> lowerGlobalAveragePool(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type element = getElementType(op->getResult(0)), compute = scalar::getComputeType(element);
  Value x = operands[0];
  Value count = countAs(b, x, llvm::to_vector(llvm::seq<int64_t>(2, getRank(x))), compute);
  return poolAll(
      op, x, b, b.scalar(compute, 0),
      [&](ImplicitLocOpBuilder &n, ValueRange v) { return addScalars(n, v[1], scalar::decode(n, v[0], element)); },
      [&](ImplicitLocOpBuilder &n, Value v) -> Value { return n.create<arith::DivFOp>(v, count); });
}

static FailureOr<SmallVector<Value>> lowerGlobalLpPool(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type element = getElementType(op->getResult(0)), compute = scalar::getComputeType(element);
  int64_t p = cast<GlobalLpPoolOp>(op).getP();
  return poolAll(
      op, operands[0], b, b.scalar(compute, 0),
      [&](ImplicitLocOpBuilder &n, ValueRange v) {
        return addScalars(n, v[1], powerOfAbs(n, scalar::decode(n, v[0], element), p));
      },
      [&](ImplicitLocOpBuilder &n, Value v) { return rootOf(n, v, p); });
}

static LogicalResult downgradeGlobalLpPool(Operation *op, PatternRewriter &rewriter) {
  return downgradeNorm(op, rewriter);
}

STRATA_SLICE(GlobalPool) {
  ops.add("GlobalAveragePool", {.inferShapes = inferGlobalPool, .lower = lowerGlobalAveragePool});
  ops.add("GlobalLpPool", {.verify = verifyNorm,
                           .inferShapes = inferGlobalPool,
                           .upgrade = upgradeGlobalLpPool,
                           .downgrade = downgradeGlobalLpPool,
                           .lower = lowerGlobalLpPool});
  ops.add("GlobalMaxPool", {.inferShapes = inferGlobalPool, .lower = lowerGlobalMaxPool});
}
