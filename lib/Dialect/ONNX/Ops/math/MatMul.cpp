//===- MatMul.cpp - matrix products with broadcast batches ----------------===//

#include "../Dequantized.h"
#include "../MatrixProduct.h"
#include "../NarrowWeights.h"

static LogicalResult inferMatMul(ShapeContext &c) {
  std::optional<Shape> a = c.shape(0), b = c.shape(1);
  if (!a || !b)
    return success();
  if (a->empty() || b->empty())
    return c.emitError() << "'" << (a->empty() ? "A" : "B") << "' is a scalar";
  bool vectorA = a->size() == 1, vectorB = b->size() == 1;
  const Dim &inner = a->back(), &rows = vectorB ? (*b)[0] : (*b)[b->size() - 2];
  if (inner.isStatic() && rows.isStatic() && inner.size != rows.size)
    return c.emitError() << "multiplies rows of " << inner.size << " elements by columns of " << rows.size;
  ArrayRef<Dim> batchA = ArrayRef(*a).drop_back(vectorA ? 1 : 2), batchB = ArrayRef(*b).drop_back(vectorB ? 1 : 2);
  Shape result;
  size_t rank = std::max(batchA.size(), batchB.size());
  for (size_t i = 0; i < rank; ++i) {
    auto at = [&](ArrayRef<Dim> dims) { return i + dims.size() < rank ? Dim(1) : dims[i + dims.size() - rank]; };
    std::optional<Dim> dim = broadcastDims(at(batchA), at(batchB));
    if (!dim)
      return c.emitError() << "batch dimensions " << at(batchA).size << " and " << at(batchB).size
                           << " do not broadcast";
    result.push_back(*dim);
  }
  if (!vectorA)
    result.push_back((*a)[a->size() - 2]);
  if (!vectorB)
    result.push_back(b->back());
  c.setShape(0, result);
  return success();
}

static FailureOr<SmallVector<Value>> lowerMatMul(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type element = getElementType(op->getResult(0));
  if (int64_t rank = getRank(op->getOperand(1)); getRank(op->getOperand(0)) > 1 && rank > 1) {
    int64_t terms = cast<RankedTensorType>(op->getOperand(1).getType()).getDimSize(rank - 2);
    if (auto product = DequantizedProduct::match(op->getOperand(0), op->getOperand(1), rank - 1, terms)) {
      Composer k(op, b);
      return k.lowerRounded(product->multiply<MatMulIntegerOp>(k, getRank(op->getResult(0)) - 1));
    }
  }
  if (auto weights = NarrowWeights::match(op->getOperand(0), op->getOperand(1), 0))
    return SmallVector<Value>{roundTo(b, weights->multiply(b, operands[0]), element)};
  Value product = multiplyMatrices(b, operands[0], operands[1], *getShape(op->getOperand(0).getType()),
                                   *getShape(op->getOperand(1).getType()), element);
  return SmallVector<Value>{roundTo(b, product, element)};
}

STRATA_SLICE(MatMul) { ops.add("MatMul", {.inferShapes = inferMatMul, .lower = lowerMatMul}); }
