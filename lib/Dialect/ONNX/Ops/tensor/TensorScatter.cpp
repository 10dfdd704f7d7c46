//===- TensorScatter.cpp - TensorScatter ----------------------------------===//
//
// Writes the update into the cache from write_indices[b] on along the sequence
// axis; mode circular goes on at the start.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"

static LogicalResult verifyTensorScatter(Operation *op) {
  auto mode = op->getAttrOfType<StringAttr>("mode");
  if (mode && mode.getValue() != "linear" && mode.getValue() != "circular")
    return op->emitOpError("has the unknown mode '") << mode.getValue() << "'";
  return success();
}

static LogicalResult inferTensorScatter(ShapeContext &c) {
  if (auto rank = c.rank(0)) {
    FailureOr<int64_t> axis = c.normalizeAxis(c.integer("axis", -2), *rank);
    if (failed(axis))
      return failure();
    if (*axis == 0)
      return c.emitError() << "has the batch axis 0 as its sequence axis";
    if (auto other = c.rank(1); other && *other != *rank)
      return c.emitError() << "has an update of rank " << *other << " for a cache of rank " << *rank;
    if (std::optional<Shape> cache = c.shape(0), update = c.shape(1); update)
      for (int64_t i = 0; i < *rank; ++i)
        if ((*cache)[i].isStatic() && (*update)[i].isStatic() &&
            (i == *axis ? (*update)[i].size > (*cache)[i].size : (*update)[i].size != (*cache)[i].size))
          return c.emitError() << "has an update of size " << (*update)[i].size << " for a cache of size "
                               << (*cache)[i].size << " in dimension " << i;
  }
  c.copyShape(0);
  return success();
}

static FailureOr<SmallVector<Value>> lowerTensorScatter(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto scatter = cast<TensorScatterOp>(op);
  Value cache = operands[0], update = operands[1], starts = operands.size() > 2 ? operands[2] : Value();
  Sizes sizes = b.sizes(cache), written = b.sizes(update);
  int64_t rank = sizes.size(), axis = scatter.getAxis();
  axis = axis < 0 ? axis + rank : axis;
  bool circular = scatter.getMode() == "circular";
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      b.checkEqual(sizes[i], written[i], "the cache's and the update's sizes differ in dimension " + Twine(i));
  b.check(b.compare(arith::CmpIPredicate::sle, written[axis], sizes[axis]), "the update is longer than the cache");
  Value length = b.index(sizes[axis]), count = b.index(written[axis]), zero = b.index(int64_t(0));
  if (starts) {
    b.checkEqual(b.dim(starts, 0), sizes[0], "there are not as many write indices as batch entries");
    // In a circle every index that is not negative is one.
    Value limit = circular ? b.index(INT64_MAX) : b.index(b.sub(sizes[axis], written[axis]));
    Value last = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), limit);
    Value ok = b.reduce(starts, {0}, false, b.scalarInt(b.getI1Type(), 1),
                        [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
                          Value fits = nested.create<arith::CmpIOp>(arith::CmpIPredicate::ule, args[0], last);
                          return nested.create<arith::AndIOp>(args[1], fits);
                        });
    b.check(b.extractScalar(ok), "a write index is out of range");
  }
  // Where the update has an element for it, else the cache: both reads stay in bounds.
  Type element = getElementType(cache);
  Value last = b.index(b.maximum(b.sub(written[axis], b.getIndexAttr(1)), b.getIndexAttr(0)));
  if (isConstantIntValue(written[axis], 0))
    return SmallVector<Value>{cache};
  if (!getConstantIntValue(written[axis])) { // It may be empty: then there is something to read all the same.
    SmallVector<OpFoldResult> none(rank, b.getIndexAttr(0)), one = none;
    one[axis] = b.getIndexAttr(1);
    update = b.pad(update, none, one, b.scalarInt(element, 0));
  }
  return SmallVector<Value>{b.elementwise(cache, element, [&](ImplicitLocOpBuilder &body, ValueRange args) -> Value {
    SmallVector<Value> at;
    for (int64_t i = 0; i < rank; ++i)
      at.push_back(body.create<linalg::IndexOp>(i));
    Value start =
        starts ? body.create<arith::IndexCastOp>(body.getIndexType(), body.create<tensor::ExtractOp>(starts, at[0]))
               : zero;
    if (circular)
      start = body.create<arith::RemUIOp>(start, length);
    Value offset = body.create<arith::SubIOp>(at[axis], start);
    Value before = body.create<arith::CmpIOp>(arith::CmpIPredicate::slt, offset, zero);
    if (circular)
      offset = body.create<arith::SelectOp>(before, body.create<arith::AddIOp>(offset, length), offset);
    Value inside = body.create<arith::CmpIOp>(arith::CmpIPredicate::ult, offset, count);
    at[axis] = body.create<arith::MinUIOp>(offset, last);
    return body.create<arith::SelectOp>(inside, body.create<tensor::ExtractOp>(update, at), args[0]);
  })};
}

STRATA_SLICE(TensorScatter) {
  ops.add(
      "TensorScatter",
      {.verify = verifyTensorScatter, .inferShapes = inferTensorScatter, .lower = lowerTensorScatter, .handles = true});
}
