//===- Gemm.cpp - alpha * A' * B' + beta * C ------------------------------===//

#include "../Dequantized.h"
#include "../NarrowWeights.h"
#include "Dialect/VersionSteps.h"

static LogicalResult inferGemm(ShapeContext &c) {
  for (unsigned i = 0; i < 2; ++i)
    if (auto rank = c.rank(i); rank && *rank != 2)
      return c.emitError() << "'" << "AB"[i] << "' has rank " << *rank << ", not 2";
  std::optional<Shape> a = c.shape(0), b = c.shape(1);
  bool transA = c.integer("transA", 0) != 0, transB = c.integer("transB", 0) != 0;
  Dim m, n;
  if (a)
    m = (*a)[transA];
  if (b)
    n = (*b)[!transB];
  if (a && b) {
    Dim ka = (*a)[!transA], kb = (*b)[transB];
    if (ka.isStatic() && kb.isStatic() && ka.size != kb.size)
      return c.emitError() << "multiplies rows of " << ka.size << " elements by columns of " << kb.size;
  }
  if (std::optional<Shape> bias = c.shape(2)) {
    // Broadcast in one direction: to (M, N).
    if (bias->size() > 2)
      return c.emitError() << "'C' has rank " << bias->size() << ", more than 2";
    for (size_t i = 0; i < bias->size(); ++i) {
      const Dim &own = (*bias)[i], &target = i + 1 == bias->size() ? n : m;
      if (own.isStatic() && target.isStatic() && own.size != 1 && own.size != target.size)
        return c.emitError() << "'C' has size " << own.size << " where the product has " << target.size;
    }
  }
  c.setShape(0, {m, n});
  return success();
}

static LogicalResult upgradeGemm(Operation *op, PatternRewriter &rewriter) {
  // 6: `broadcast` only allowed what 7 always allows. 9: C becomes optional.
  return changeAttributes(op, rewriter, {"broadcast"});
}

// Before version 11 C is required; before 7 it broadcasts only if an attribute says so.
static LogicalResult downgradeGemm(Operation *op, PatternRewriter &rewriter) {
  int64_t previous = getPreviousVersion(op);
  Value c = getFormalInput(op, 2);
  if (previous == 9 && !c)
    return replaceByPrevious(op, rewriter,
                             {op->getOperand(0), op->getOperand(1),
                              makeScalar(rewriter, op->getLoc(), getElementType(op->getOperand(0)), 0)});
  if (previous != 6)
    return downgradeStep(op, rewriter);
  std::optional<Shape> whole = getShape(op->getResult(0).getType()), own = getShape(c.getType());
  if (!whole || !own)
    return refuseDowngrade(op) << "it needs the shapes of its inputs";
  for (size_t i = 0, lead = whole->size() - own->size(); i < own->size(); ++i)
    if (!(*own)[i].sameAs((*whole)[lead + i]))
      return refuseDowngrade(op) << "C broadcasts as the last dimensions of the result only, not as " << c.getType();
  SmallVector<NamedAttribute, 1> added;
  if (own->size() < whole->size())
    added.push_back(rewriter.getNamedAttr("broadcast", rewriter.getI64IntegerAttr(1)));
  return replaceByPrevious(op, rewriter, {op->getOperand(0), op->getOperand(1), c}, {}, added);
}

// Of dequantized operands, the left one not transposed.
static FailureOr<SmallVector<Value>> lowerDequantized(GemmOp op, DequantizedProduct product, LinalgBuilder &b) {
  Composer k(op, b);
  Type f32 = b.getF32Type();
  if (op.getTransB())
    product.w.value = k.make<TransposeOp>(product.w.value, getElementType(product.w.value),
                                          b.getNamedAttr("perm", b.getDenseI64ArrayAttr({1, 0})));
  auto number = [&](APFloat value) {
    return k.constant(DenseElementsAttr::get(RankedTensorType::get({}, f32), value));
  };
  Value sum = product.multiply<MatMulIntegerOp>(k, 1);
  if (!op.getAlpha().isExactlyValue(1))
    sum = k.make<MulOp>({sum, number(op.getAlpha())}, f32);
  Value bias = k.cast(getFormalInput(op, 2), f32);
  if (!bias || op.getBeta().isZero())
    return k.lowerRounded(sum);
  if (!op.getBeta().isExactlyValue(1))
    bias = k.make<MulOp>({bias, number(op.getBeta())}, f32);
  return k.lowerRounded(k.make<AddOp>({sum, bias}, f32));
}

static FailureOr<SmallVector<Value>> lowerGemm(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto gemm = cast<GemmOp>(op);
  Type element = getElementType(gemm.getY()), compute = scalar::getComputeType(element);
  bool transA = gemm.getTransA() != 0, transB = gemm.getTransB() != 0;
  if (auto w = dyn_cast<RankedTensorType>(gemm.getB().getType()); w && !transA)
    if (auto product = DequantizedProduct::match(gemm.getA(), gemm.getB(), !transB, w.getDimSize(transB)))
      return lowerDequantized(gemm, *product, b);
  Value x = operands[0], y = operands[1], bias = operands.size() > 2 ? operands[2] : Value();
  b.checkEqual(b.dim(x, !transA), b.dim(y, transB), "the inner sizes of the matrices differ");
  Sizes sizes{b.dim(x, transA), b.dim(y, !transB)};
  Value product;
  Value zero = b.fill(sizes, b.scalar(compute, 0));
  std::optional<NarrowWeights> weights;
  if (!transA)
    weights = NarrowWeights::match(gemm.getA(), gemm.getB(), transB);
  if (weights)
    product = weights->multiply(b, x);
  else if (!transA && !transB)
    product = b.create<linalg::MatmulOp>(ValueRange{x, y}, ValueRange{zero}).getResult(0);
  else if (!transA && transB)
    product = b.create<linalg::MatmulTransposeBOp>(ValueRange{x, y}, ValueRange{zero}).getResult(0);
  else if (transA && !transB)
    product = b.create<linalg::MatmulTransposeAOp>(ValueRange{x, y}, ValueRange{zero}).getResult(0);
  else {
    AffineExpr m = b.getAffineDimExpr(0), n = b.getAffineDimExpr(1), k = b.getAffineDimExpr(2);
    auto map = [&](AffineExpr p, AffineExpr q) { return AffineMap::get(3, 0, {p, q}, b.getContext()); };
    using utils::IteratorType;
    product = contract(b, x, y, {map(k, m), map(n, k), map(m, n)},
                       {IteratorType::parallel, IteratorType::parallel, IteratorType::reduction}, sizes, element);
  }

  double alpha = gemm.getAlpha().convertToFloat(), beta = gemm.getBeta().convertToFloat();
  bool hasBias = bias && beta != 0;
  if (alpha == 1 && !hasBias)
    return SmallVector<Value>{roundTo(b, product, element)};
  // A factor of an integer product is applied in floating point and truncated.
  auto scale = [&](ImplicitLocOpBuilder &n, Value v, double factor) -> Value {
    if (factor == 1)
      return v;
    if (isa<FloatType>(compute))
      return n.create<arith::MulFOp>(v, constantFloat(n, compute, factor));
    if (factor == std::floor(factor) && std::abs(factor) < 1e9)
      return n.create<arith::MulIOp>(
          v, n.create<arith::ConstantOp>(n.getIntegerAttr(compute, static_cast<int64_t>(factor))));
    Value f = scalar::convert(n, v, element, n.getF64Type());
    return scalar::convert(n, n.create<arith::MulFOp>(f, constantFloat(n, n.getF64Type(), factor)), n.getF64Type(),
                           element);
  };
  SmallVector<Value> inputsWithBias{product};
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(2)};
  if (hasBias) {
    SmallVector<AffineExpr> exprs;
    int64_t rank = getRank(bias);
    for (int64_t i = 0; i < rank; ++i) {
      OpFoldResult own = b.dim(bias, i), target = sizes[2 - rank + i];
      if (isConstantIntValue(own, 1) && !isConstantIntValue(target, 1)) {
        exprs.push_back(b.getAffineConstantExpr(0));
        continue;
      }
      if (!getConstantIntValue(own) && !isEqualConstantIntOrValue(own, target)) {
        // Only the run tells whether it repeats.
        bias = b.broadcast(bias, sizes);
        exprs = {b.getAffineDimExpr(0), b.getAffineDimExpr(1)};
        break;
      }
      b.checkEqual(own, target, "'C' does not broadcast to the product");
      exprs.push_back(b.getAffineDimExpr(2 - rank + i));
    }
    inputsWithBias.push_back(bias);
    maps.push_back(AffineMap::get(2, 0, exprs, b.getContext()));
  }
  Value result = mapElements(b, inputsWithBias, maps, sizes, getSeamElementType(element),
                             [&](ImplicitLocOpBuilder &n, ValueRange v) {
                               Value sum = scale(n, v[0], alpha);
                               if (hasBias)
                                 sum = addScalars(n, sum, scale(n, scalar::decode(n, v[1], element), beta));
                               return scalar::encode(n, sum, element);
                             });
  return SmallVector<Value>{result};
}

STRATA_SLICE(Gemm) {
  ops.add("Gemm", {.inferShapes = inferGemm, .upgrade = upgradeGemm, .downgrade = downgradeGemm, .lower = lowerGemm});
}
