//===- Det.cpp - Det ------------------------------------------------------===//
//
// Gaussian elimination with partial pivoting: each step is a few linalg ops over
// all matrices of the batch.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"

static LogicalResult inferDet(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  if (shape->size() < 2)
    return c.emitError() << "needs an input of rank at least 2, not " << shape->size();
  Dim columns = shape->pop_back_val(), rows = shape->pop_back_val();
  if (rows.isStatic() && columns.isStatic() && rows.size != columns.size)
    return c.emitError() << "needs square matrices, not " << rows.size << " x " << columns.size;
  c.setShape(0, *shape);
  return success();
}

// Of each matrix, the row from `step` on whose element in column `step` is the largest in magnitude. A NaN is never
// preferred: every result that it takes part in is one.
static Value findPivots(LinalgBuilder &b, Value matrices, Value step) {
  int64_t rank = getRank(matrices);
  Type compute = getElementType(matrices), i64 = b.getI64Type();
  Sizes sizes = b.sizes(matrices), offsets(rank, b.getIndexAttr(0));
  sizes.back() = b.getIndexAttr(1);
  offsets.back() = step;
  Value column = b.squeeze(b.slice(matrices, offsets, sizes), {rank - 1});
  Sizes batch(sizes.begin(), sizes.end() - 2);
  Value best = b.fill(batch, b.scalar(compute, -1)), where = b.fill(batch, b.create<arith::IndexCastOp>(i64, step));
  SmallVector<utils::IteratorType> iterators(rank - 1, utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  AffineMap map = mapWithout(b.getContext(), rank - 1, {rank - 2});
  auto search = b.create<linalg::GenericOp>(
      TypeRange{best.getType(), where.getType()}, column, ValueRange{best, where},
      ArrayRef<AffineMap>{b.getMultiDimIdentityMap(rank - 1), map, map}, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder n(loc, nested);
        Value row = n.create<linalg::IndexOp>(rank - 2), size = n.create<math::AbsFOp>(args[0]);
        Value better = n.create<arith::AndIOp>(n.create<arith::CmpIOp>(arith::CmpIPredicate::sge, row, step),
                                               n.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, size, args[1]));
        Value nextRow = n.create<arith::SelectOp>(better, n.create<arith::IndexCastOp>(i64, row), args[2]);
        n.create<linalg::YieldOp>(ValueRange{n.create<arith::SelectOp>(better, size, args[1]), nextRow});
      });
  return search.getResult(1);
}

static FailureOr<SmallVector<Value>> lowerDet(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type onnx = getElementType(op->getOperand(0)), compute = scalar::getComputeType(onnx), index = b.getIndexType();
  Sizes sizes = b.sizes(operands[0]), batch(sizes.begin(), sizes.end() - 2);
  int64_t rank = sizes.size();
  b.checkEqual(sizes[rank - 2], sizes[rank - 1], "the matrices are not square");
  Value start = widen(b, operands[0], onnx), one = b.fill(batch, b.scalar(compute, 1));

  SmallVector<Value> last = b.loopNest(sizes.back(), {start, one}, [&](ValueRange at, ValueRange carried) {
    Value matrices = carried[0], step = at[0], pivots = findPivots(b, matrices, step);
    auto read = [&](ImplicitLocOpBuilder &n, ValueRange matrix, Value row, Value column) -> Value {
      SmallVector<Value> position(matrix);
      position.append({row, column});
      return n.create<tensor::ExtractOp>(matrices, position);
    };
    auto getPivot = [&](ImplicitLocOpBuilder &n, ValueRange matrix) -> Value {
      return n.create<arith::IndexCastOp>(index, n.create<tensor::ExtractOp>(pivots, matrix));
    };
    auto isSame = [](ImplicitLocOpBuilder &n, Value x, Value y) -> Value {
      return n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, x, y);
    };
    // The pivot's row and row `step` change places; from the rows below, its multiples are subtracted.
    Value next = b.generate(b.sizes(matrices), compute, [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
      ValueRange matrix = i.drop_back(2);
      Value row = i[rank - 2], column = i[rank - 1], pivot = getPivot(n, matrix);
      Value from = n.create<arith::SelectOp>(isSame(n, row, pivot), step, row);
      from = n.create<arith::SelectOp>(isSame(n, row, step), pivot, from);
      Value old = read(n, matrix, from, column), divisor = read(n, matrix, pivot, step);
      Value below = n.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, row, step);
      Value regular = n.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, divisor,
                                              n.create<arith::ConstantOp>(n.getFloatAttr(compute, 0)));
      Value factor = n.create<arith::DivFOp>(read(n, matrix, from, step), divisor);
      Value reduced = n.create<arith::SubFOp>(old, n.create<arith::MulFOp>(factor, read(n, matrix, pivot, column)));
      return n.create<arith::SelectOp>(n.create<arith::AndIOp>(below, regular), reduced, old);
    });
    AffineMap same = b.getMultiDimIdentityMap(rank - 2);
    Value product =
        mapElements(b, carried[1], same, batch, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
          SmallVector<Value> matrix;
          for (int64_t i = 0; i < rank - 2; ++i)
            matrix.push_back(n.create<linalg::IndexOp>(i));
          Value pivot = getPivot(n, matrix);
          Value factor = read(n, matrix, pivot, step);
          Value negative = n.create<arith::NegFOp>(factor);
          return n.create<arith::MulFOp>(v[0], n.create<arith::SelectOp>(isSame(n, pivot, step), factor, negative));
        });
    return SmallVector<Value>{next, product};
  });
  return SmallVector<Value>{roundTo(b, last[1], onnx)};
}

STRATA_SLICE(Det) { ops.add("Det", {.inferShapes = inferDet, .lower = lowerDet}); }
