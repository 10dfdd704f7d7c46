//===- LayerNormalization.cpp - LayerNormalization, RMSNormalization ------===//
//
// Both normalize over the dimensions from `axis` on.
//
//===----------------------------------------------------------------------===//

#include "../Moments.h"

static LogicalResult inferNorm(ShapeContext &c, bool hasStatistics) {
  c.copyShape(0);
  int64_t stash = c.integer("stash_type", 1);
  if (stash != 1 && stash != 16 && stash != 10 && stash != 11)
    return c.emitError() << "'stash_type' is " << stash << ", which is no floating-point type to compute in";
  if (hasStatistics) {
    Type type = stash == 16 ? Type(BFloat16Type::get(c.getContext())) : Float32Type::get(c.getContext());
    c.setElementType(1, type);
    c.setElementType(2, type);
  }
  std::optional<Shape> x = c.shape(0);
  if (!x)
    return success();
  FailureOr<int64_t> axis = c.normalizeAxis(c.integer("axis", -1), x->size());
  if (failed(axis))
    return failure();
  for (unsigned i = 1; i < 3; ++i)
    if (auto shape = c.shape(i)) {
      if (shape->size() > x->size())
        return c.emitError() << "an operand of rank " << shape->size() << " does not broadcast to 'X' of rank "
                             << x->size();
      for (size_t d = 0, lead = x->size() - shape->size(); d < shape->size(); ++d) {
        const Dim &own = (*shape)[d], &target = (*x)[lead + d];
        if (own.isStatic() && target.isStatic() && own.size != 1 && own.size != target.size)
          return c.emitError() << "an operand has size " << own.size << " where 'X' has " << target.size;
      }
    }
  if (hasStatistics) {
    Shape statistics(*x);
    std::fill(statistics.begin() + *axis, statistics.end(), Dim(1));
    c.setShape(1, statistics);
    c.setShape(2, statistics);
  }
  return success();
}

static LogicalResult inferLayerNormalization(ShapeContext &c) { return inferNorm(c, /*hasStatistics=*/true); }
static LogicalResult inferRMSNormalization(ShapeContext &c) {
  // The result has the type of 'scale'.
  return inferNorm(c, /*hasStatistics=*/false);
}

namespace {
struct Layer {
  Layer(Operation *op, Value x, LinalgBuilder &b) : rank(getRank(x)) {
    auto attr = op->getAttrOfType<IntegerAttr>("axis");
    int64_t axis = attr ? attr.getInt() : -1;
    axes = llvm::to_vector(llvm::seq<int64_t>(axis < 0 ? axis + rank : axis, rank));
    // The stash type is what statistics are computed in at least; never less than the operand's own precision.
    auto stash = op->getAttrOfType<IntegerAttr>("stash_type");
    bool isDouble = getElementType(x).isF64() || (stash && stash.getInt() == 11);
    compute = isDouble ? Type(b.getF64Type()) : b.getF32Type();
    full = b.getMultiDimIdentityMap(rank);
    row = mapWithout(b.getContext(), rank, axes);
  }
  int64_t rank;
  SmallVector<int64_t> axes;
  Type compute;
  AffineMap full, row;
};
} // namespace

static FailureOr<SmallVector<Value>> lowerLayerNormalization(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto norm = cast<LayerNormalizationOp>(op);
  Value x = operands[0], scale = operands[1], bias = operands.size() > 2 ? operands[2] : Value();
  Layer l(op, x, b);
  Type seam = getElementType(x);
  Value mean = getMean(b, x, l.axes, l.compute);
  Value inverse = getInverseRoot(b, getVariance(b, x, mean, l.axes, l.compute), norm.getEpsilon().convertToFloat());
  Sizes sizes = b.sizes(x);
  SmallVector<Value> inputs{x, mean, inverse};
  SmallVector<AffineMap> maps{l.full, l.row, l.row};
  for (Value parameter : {scale, bias})
    if (parameter) {
      maps.push_back(readTrailing(b, parameter, sizes));
      inputs.push_back(parameter);
    }
  Value y = mapElements(b, inputs, maps, sizes, seam, [&](ImplicitLocOpBuilder &n, ValueRange v) {
    Value centered = n.create<arith::SubFOp>(extend(n, v[0], l.compute), v[1]);
    Value normal = n.create<arith::MulFOp>(centered, v[2]);
    Value result = n.create<arith::MulFOp>(normal, extend(n, v[3], l.compute));
    if (bias)
      result = n.create<arith::AddFOp>(result, extend(n, v[4], l.compute));
    return convertFloat(n, result, seam);
  });
  SmallVector<Value> results{y};
  auto addStatistic = [&](Value result, Value value) {
    if (!result)
      return;
    Type type = getSeamElementType(getElementType(result));
    if (type != l.compute)
      value = b.elementwise(value, type,
                            [&](ImplicitLocOpBuilder &n, ValueRange v) { return convertFloat(n, v[0], type); });
    results.push_back(b.unsqueeze(value, l.axes));
  };
  addStatistic(norm.getMean(), mean);
  addStatistic(norm.getInvStdDev(), inverse);
  return results;
}

static FailureOr<SmallVector<Value>> lowerRMSNormalization(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto norm = cast<RMSNormalizationOp>(op);
  Value x = operands[0], scale = operands[1];
  Layer l(op, x, b);
  Type seam = getSeamElementType(getElementType(norm.getY()));
  Value sum = reduceMany(b, x, l.full, l.axes, b.scalar(l.compute, 0), [&](ImplicitLocOpBuilder &n, ValueRange v) {
    Value e = extend(n, v[0], l.compute);
    return addScalars(n, v[1], mulScalars(n, e, e));
  });
  Value count = countAs(b, x, l.axes, l.compute);
  Value meanSquare = b.elementwise(sum, l.compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    return n.create<arith::DivFOp>(v[0], count);
  });
  Value inverse = getInverseRoot(b, meanSquare, norm.getEpsilon().convertToFloat());
  Sizes sizes = b.sizes(x);
  AffineMap scaleMap = readTrailing(b, scale, sizes);
  Type wide = getElementType(scale).isF64() ? Type(b.getF64Type()) : l.compute;
  Value y = mapElements(b, {x, inverse, scale}, {l.full, l.row, scaleMap}, sizes, seam,
                        [&](ImplicitLocOpBuilder &n, ValueRange v) {
                          Value normal = n.create<arith::MulFOp>(extend(n, v[0], l.compute), v[1]);
                          Value result = n.create<arith::MulFOp>(extend(n, normal, wide), extend(n, v[2], wide));
                          return convertFloat(n, result, seam);
                        });
  return SmallVector<Value>{y};
}

STRATA_SLICE(LayerNormalization) {
  ops.add("LayerNormalization", {.inferShapes = inferLayerNormalization, .lower = lowerLayerNormalization});
  ops.add("RMSNormalization", {.inferShapes = inferRMSNormalization, .lower = lowerRMSNormalization});
}
