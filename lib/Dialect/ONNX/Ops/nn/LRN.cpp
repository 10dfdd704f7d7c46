//===- LRN.cpp - local response normalization -----------------------------===//

#include "../Compute.h"

static LogicalResult verifyLRN(Operation *op) {
  if (auto size = op->getAttrOfType<IntegerAttr>("size"); size && size.getInt() < 1)
    return op->emitOpError("'size' is ") << size.getInt() << ", less than 1";
  return success();
}

static LogicalResult inferLRN(ShapeContext &c) {
  if (auto rank = c.rank(0); rank && *rank < 2)
    return c.emitError() << "'X' has rank " << *rank << "; a batch and channels are needed";
  c.copyShape(0);
  return success();
}

// A power of a number that is not negative. The usual one, 0.75, has no need of a logarithm. (Upstream's algebraic
// simplification has the same rewrite for any base, where it differs for those below zero: -inf.)
static Value power(ImplicitLocOpBuilder &n, Value base, double exponent) {
  if (exponent == 1)
    return base;
  if (exponent != 0.5 && exponent != 0.75)
    return n.create<math::PowFOp>(base, constantFloat(n, base.getType(), exponent));
  Value root = n.create<math::SqrtOp>(base);
  return exponent == 0.5 ? root : n.create<arith::MulFOp>(root, n.create<math::SqrtOp>(root)).getResult();
}

// x / (bias + alpha / size * sum of squares of the channels around)^beta.
static FailureOr<SmallVector<Value>> lowerLRN(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto lrn = cast<LRNOp>(op);
  Value x = operands[0];
  Type element = getElementType(lrn.getY()), compute = scalar::getComputeType(element);
  int64_t rank = getRank(x), size = lrn.getSize();
  Sizes low(rank, b.getIndexAttr(0)), high(low);
  low[1] = b.getIndexAttr((size - 1) / 2);
  high[1] = b.getIndexAttr(size / 2);
  Value padded = b.pad(x, low, high, b.scalar(getSeamElementType(element), 0));

  // Loops: the dimensions of x, then the channels of the window.
  int64_t loops = rank + 1;
  SmallVector<AffineExpr> read;
  for (int64_t i = 0; i < rank; ++i)
    read.push_back(i == 1 ? b.getAffineDimExpr(1) + b.getAffineDimExpr(rank) : b.getAffineDimExpr(i));
  SmallVector<AffineMap> maps{AffineMap::get(loops, 0, read, b.getContext()),
                              AffineMap::get(loops, 0, b.getAffineDimExpr(rank), b.getContext()),
                              mapWithout(b.getContext(), loops, {rank})};
  SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  Value window = b.create<tensor::EmptyOp>(ArrayRef<int64_t>{size}, compute);
  Value zero = b.fill(b.sizes(x), b.scalar(compute, 0));
  Value sum = b.create<linalg::GenericOp>(zero.getType(), ValueRange{padded, window}, zero, maps, iterators,
                                          [&](OpBuilder &nested, Location loc, ValueRange v) {
                                            ImplicitLocOpBuilder n(loc, nested);
                                            Value e = scalar::decode(n, v[0], element);
                                            n.create<linalg::YieldOp>(addScalars(n, v[2], mulScalars(n, e, e)));
                                          })
                  .getResult(0);
  double alpha = lrn.getAlpha().convertToFloat(), beta = lrn.getBeta().convertToFloat();
  double bias = lrn.getBias().convertToFloat();
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  Value result = mapElements(b, {x, sum}, {identity, identity}, b.sizes(x), getSeamElementType(element),
                             [&](ImplicitLocOpBuilder &n, ValueRange v) {
                               Value scaled = n.create<arith::MulFOp>(v[1], constantFloat(n, compute, alpha / size));
                               Value base = n.create<arith::AddFOp>(constantFloat(n, compute, bias), scaled);
                               Value norm = alpha >= 0 && bias >= 0
                                                ? power(n, base, beta)
                                                : n.create<math::PowFOp>(base, constantFloat(n, compute, beta));
                               Value e = scalar::decode(n, v[0], element);
                               return scalar::encode(n, n.create<arith::DivFOp>(e, norm), element);
                             });
  return SmallVector<Value>{result};
}

STRATA_SLICE(LRN) { ops.add("LRN", {.verify = verifyLRN, .inferShapes = inferLRN, .lower = lowerLRN}); }
