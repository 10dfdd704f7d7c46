//===- RandomChoice.cpp - Bernoulli and Multinomial -----------------------===//
//
// Both compare the uniform number u of an element: Bernoulli with its
// probability, Multinomial with the running sums of its row's weights.
//
//===----------------------------------------------------------------------===//

#include "../Random.h"

//===----------------------------------------------------------------------===//
// Bernoulli: 1 where u < p
//===----------------------------------------------------------------------===//

static bool isBernoulliResult(ElementKind kind, int64_t) {
  switch (kind) {
  case ElementKind::float16:
  case ElementKind::float32:
  case ElementKind::float64:
  case ElementKind::bfloat16:
  case ElementKind::int8:
  case ElementKind::int16:
  case ElementKind::int32:
  case ElementKind::int64:
  case ElementKind::uint8:
  case ElementKind::uint16:
  case ElementKind::uint32:
  case ElementKind::uint64:
  case ElementKind::boolean:
    return true;
  default:
    return false;
  }
}

static LogicalResult verifyBernoulli(Operation *op) { return success(succeeded(getDrawnKind(op, isBernoulliResult))); }

static LogicalResult inferBernoulli(ShapeContext &c) {
  FailureOr<ElementKind> kind = getDrawnKind(c.getOperation(), isBernoulliResult);
  return failed(kind) ? failure() : inferDrawn(c, *kind);
}

// A number of 64 bits or less as f64.
static Value widen(ImplicitLocOpBuilder &b, Value x) {
  return x.getType().isF64() ? x : b.create<arith::ExtFOp>(b.getF64Type(), x).getResult();
}

static FailureOr<SmallVector<Value>> lowerBernoulli(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type element = getSeamElementType(getElementType(op->getResult(0)));
  return draw::makeElements(
      b, b.sizes(operands[0]), makeKey(b, op), operands, element,
      [&](ImplicitLocOpBuilder &n, const draw::Words &words, ValueRange scalars) -> SmallVector<Value> {
        Value isOne =
            n.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, draw::makeUniform(n, words), widen(n, scalars[0]));
        if (element.isInteger(1))
          return {isOne};
        Value one = n.create<arith::ConstantOp>(n.getOneAttr(element));
        Value zero = n.create<arith::ConstantOp>(n.getZeroAttr(element));
        return {n.create<arith::SelectOp>(isOne, one, zero)};
      });
}

//===----------------------------------------------------------------------===//
// Multinomial: the first class whose running sum of exp(x - max) exceeds u times the sum of all
//===----------------------------------------------------------------------===//

static bool isMultinomialResult(ElementKind kind, int64_t) {
  return kind == ElementKind::int32 || kind == ElementKind::int64;
}

static int64_t getSampleSize(Operation *op) {
  auto size = op->getAttrOfType<IntegerAttr>("sample_size");
  return size ? size.getInt() : 1;
}

static LogicalResult verifyMultinomial(Operation *op) {
  if (int64_t size = getSampleSize(op); size < 1)
    return op->emitOpError("sample_size is ") << size << ", but must be at least 1";
  return success(succeeded(getDrawnKind(op, isMultinomialResult, ElementKind::int32)));
}

static LogicalResult inferMultinomial(ShapeContext &c) {
  FailureOr<ElementKind> kind = getDrawnKind(c.getOperation(), isMultinomialResult, ElementKind::int32);
  if (failed(kind))
    return failure();
  c.setElementType(0, onnx::getElementType(c.getContext(), *kind));
  std::optional<Shape> shape = c.shape(0);
  if (shape && shape->size() != 2)
    return c.emitError() << "input must be of rank 2, but is of rank " << shape->size();
  c.setShape(0, {shape ? (*shape)[0] : Dim(), Dim(getSampleSize(c.getOperation()))});
  return success();
}

static FailureOr<SmallVector<Value>> lowerMultinomial(Operation *op, ValueRange operands, LinalgBuilder &b) {
  if (getRank(operands[0]) != 2)
    return op->emitOpError("cannot be compiled: its input is not of rank 2");
  Type f64 = b.getF64Type(), element = getSeamElementType(getElementType(op->getResult(0)));
  OpFoldResult rows = b.dim(operands[0], 0), classes = b.dim(operands[0], 1), one = b.getIndexAttr(1);
  b.check(b.compare(arith::CmpIPredicate::sgt, classes, b.getIndexAttr(0)), "there is no class to draw");

  // Weights relative to the row's largest, so that none overflows.
  Value scores = b.elementwise(operands[0], f64, [](ImplicitLocOpBuilder &n, ValueRange x) { return widen(n, x[0]); });
  Value largest =
      b.reduce(scores, {1}, /*keepDims=*/true, b.scalar(f64, -std::numeric_limits<double>::infinity()),
               [](ImplicitLocOpBuilder &n, ValueRange x) -> Value { return n.create<arith::MaximumFOp>(x[0], x[1]); });
  Value weights = b.elementwise({scores, largest}, f64, [](ImplicitLocOpBuilder &n, ValueRange x) -> Value {
    return n.create<math::ExpOp>(n.create<arith::SubFOp>(x[0], x[1]));
  });

  // Running sums, from the first class on.
  Sizes column{rows, one};
  SmallVector<OpFoldResult> ones{one, one};
  Value zeros = b.fill(column, b.scalar(f64, 0));
  SmallVector<Value> sums =
      b.loopNest({classes}, {b.empty({rows, classes}, f64), zeros}, [&](ValueRange at, ValueRange carried) {
        SmallVector<OpFoldResult> offsets{b.getIndexAttr(0), at[0]};
        Value next = b.elementwise(
            {carried[1], b.slice(weights, offsets, column)}, f64,
            [](ImplicitLocOpBuilder &n, ValueRange x) -> Value { return n.create<arith::AddFOp>(x[0], x[1]); });
        return SmallVector<Value>{b.create<tensor::InsertSliceOp>(next, carried[0], offsets, column, ones), next};
      });

  // The largest class has weight 1, or there is none: a NaN, an infinity, nothing but -infinity.
  Value isGood = b.elementwise(sums[1], b.getI1Type(), [](ImplicitLocOpBuilder &n, ValueRange x) -> Value {
    return n.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, x[0], n.create<arith::ConstantOp>(n.getF64FloatAttr(1)));
  });
  Value allGood =
      b.reduce(isGood, {0, 1}, /*keepDims=*/false, b.create<arith::ConstantOp>(b.getBoolAttr(true)),
               [](ImplicitLocOpBuilder &n, ValueRange x) -> Value { return n.create<arith::AndIOp>(x[0], x[1]); });
  b.check(b.extractScalar(allGood),
          "a row of log-probabilities has a NaN or an infinity, or no class that is possible");

  // Where each sample falls, then the number of sums that are not beyond it.
  Sizes sizes{rows, b.getIndexAttr(getSampleSize(op))};
  Value draws = draw::makeElements(b, sizes, makeKey(b, op), {}, f64,
                                   [](ImplicitLocOpBuilder &n, const draw::Words &words, ValueRange) {
                                     return SmallVector<Value>{draw::makeUniform(n, words)};
                                   })[0];
  Value places = b.elementwise({draws, sums[1]}, f64, [](ImplicitLocOpBuilder &n, ValueRange x) -> Value {
    return n.create<arith::MulFOp>(x[0], x[1]);
  });
  AffineExpr row, sample, klass;
  bindDims(b.getContext(), row, sample, klass);
  auto map = [&](AffineExpr x, AffineExpr y) { return AffineMap::get(3, 0, {x, y}, b.getContext()); };
  using utils::IteratorType;
  Value counts = b.fill(sizes, b.scalarInt(element, 0));
  auto count = b.create<linalg::GenericOp>(
      counts.getType(), ValueRange{sums[0], places}, counts,
      ArrayRef<AffineMap>{map(row, klass), map(row, sample), map(row, sample)},
      ArrayRef<IteratorType>{IteratorType::parallel, IteratorType::parallel, IteratorType::reduction},
      [&](OpBuilder &nested, Location loc, ValueRange x) {
        ImplicitLocOpBuilder n(loc, nested);
        Value passed = n.create<arith::CmpFOp>(arith::CmpFPredicate::OLE, x[0], x[1]);
        n.create<linalg::YieldOp>(
            n.create<arith::AddIOp>(x[2], n.create<arith::ExtUIOp>(element, passed).getResult()).getResult());
      });
  return SmallVector<Value>{count.getResult(0)};
}

STRATA_SLICE(RandomChoice) {
  ops.add("Bernoulli", {.verify = verifyBernoulli, .inferShapes = inferBernoulli, .lower = lowerBernoulli});
  ops.add("Multinomial", {.verify = verifyMultinomial, .inferShapes = inferMultinomial, .lower = lowerMultinomial});
}
