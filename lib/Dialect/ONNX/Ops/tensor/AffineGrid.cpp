//===- AffineGrid.cpp - AffineGrid: positions to sample at ----------------===//
//
// Its function body cannot be compiled for every input: it squeezes the batch
// away where that is 1.
//
//===----------------------------------------------------------------------===//

#include "../Elementwise.h"

// The number of spatial dimensions; none if only the run tells.
static std::optional<int64_t> spatialRank(ShapeContext &c) {
  if (auto theta = c.shape(0); theta && theta->size() == 3 && (*theta)[1].isStatic())
    return (*theta)[1].size;
  if (auto size = c.shape(1); size && size->size() == 1 && (*size)[0].isStatic())
    return (*size)[0].size - 2;
  return std::nullopt;
}

static LogicalResult inferAffineGrid(ShapeContext &c) {
  std::optional<Shape> theta = c.shape(0), length = c.shape(1);
  if (theta && theta->size() != 3)
    return c.emitError() << "theta must be of rank 3, but is of rank " << theta->size();
  if (length && length->size() != 1)
    return c.emitError() << "size must be of rank 1, but is of rank " << length->size();
  std::optional<int64_t> spatial = spatialRank(c);
  if (!spatial)
    return success();
  if (*spatial != 2 && *spatial != 3)
    return c.emitError() << "makes grids of 2 or 3 dimensions, not of " << *spatial;
  if (theta && (*theta)[2].isStatic() && !(*theta)[2].is(*spatial + 1))
    return c.emitError() << "theta has " << (*theta)[2].size << " columns, but needs " << *spatial + 1;
  if (length && (*length)[0].isStatic() && !(*length)[0].is(*spatial + 2))
    return c.emitError() << "size has " << (*length)[0].size << " elements, but needs " << *spatial + 2;
  ValueAnalysis::Values size = c.values(1);
  if (!size || static_cast<int64_t>(size->size()) != *spatial + 2)
    size.emplace(*spatial + 2);
  for (const Dim &dim : *size)
    if (dim.isStatic() && dim.size < 0)
      return c.emitError() << "has the size " << dim.size;
  Dim batch = (*size)[0];
  if (theta && (*theta)[0].isStatic() && batch.isStatic() && !batch.is((*theta)[0].size))
    return c.emitError() << "theta is for " << (*theta)[0].size << " grids, but size is for " << batch.size;
  Shape result{theta && !batch.isStatic() ? (*theta)[0] : batch};
  result.append(size->begin() + 2, size->end());
  result.push_back(Dim(*spatial));
  c.setShape(0, result);
  return success();
}

static FailureOr<SmallVector<Value>> lowerAffineGrid(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value theta = operands[0];
  Type element = getElementType(op->getOperand(0));
  int64_t spatial = getRank(op->getResult(0)) - 2;
  bool alignCorners = cast<AffineGridOp>(op).getAlignCorners() != 0;
  Sizes size;
  b.checkEqual(b.dim(operands[1], 0), b.getIndexAttr(spatial + 2), "size does not have an element per dimension");
  for (int64_t i = 0; i < spatial + 2; ++i)
    size.push_back(b.element(operands[1], i));
  b.checkEqual(b.dim(theta, 0), size[0], "theta and size are for different numbers of grids");
  b.checkEqual(b.dim(theta, 1), b.getIndexAttr(spatial), "theta does not have a row per dimension");
  b.checkEqual(b.dim(theta, 2), b.getIndexAttr(spatial + 1), "theta does not have a column per dimension and one more");

  // Positions along an axis go from -1 to 1, at the middles of the pixels or from the first one's to the last one's.
  // One pixel with aligned corners is at -1.
  Type compute = element.isF64() ? element : b.getF32Type();
  Sizes sizes{size[0]};
  SmallVector<Value> starts, steps;
  for (int64_t i = 0; i < spatial; ++i) {
    OpFoldResult count = size[2 + i];
    b.check(b.compare(arith::CmpIPredicate::sge, count, b.getIndexAttr(0)), "a size is negative");
    sizes.push_back(count);
    OpFoldResult intervals = alignCorners ? b.sub(count, b.getIndexAttr(1)) : count;
    Value number = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), b.index(b.maximum(intervals, b.getIndexAttr(1))));
    Value step = b.createOrFold<arith::DivFOp>(b.scalar(compute, 2), b.createOrFold<arith::SIToFPOp>(compute, number));
    Value half = alignCorners ? b.scalar(compute, 0) : b.createOrFold<arith::MulFOp>(step, b.scalar(compute, 0.5));
    starts.push_back(b.createOrFold<arith::AddFOp>(b.scalar(compute, -1), half));
    steps.push_back(step);
  }
  sizes.push_back(b.getIndexAttr(spatial));
  return SmallVector<Value>{
      b.generate(sizes, getSeamElementType(element), [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
        auto factor = [&](int64_t column) {
          Value index = n.create<arith::ConstantIndexOp>(column);
          return scalar::decode(n, n.create<tensor::ExtractOp>(theta, ValueRange{at[0], at.back(), index}), element);
        };
        Value sum = factor(spatial);
        // The last dimension is x, the first column's.
        for (int64_t column = 0; column < spatial; ++column) {
          int64_t axis = spatial - 1 - column;
          Value i = n.create<arith::SIToFPOp>(compute, n.create<arith::IndexCastOp>(n.getI64Type(), at[1 + axis]));
          Value position = n.create<arith::AddFOp>(starts[axis], n.create<arith::MulFOp>(i, steps[axis]));
          sum = n.create<arith::AddFOp>(sum, n.create<arith::MulFOp>(factor(column), position));
        }
        return scalar::encode(n, sum, element);
      })};
}

STRATA_SLICE(AffineGrid) { ops.add("AffineGrid", {.inferShapes = inferAffineGrid, .lower = lowerAffineGrid}); }
