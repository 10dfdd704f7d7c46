//===- Transpose.cpp - Transpose ------------------------------------------===//

#include "../Slice.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

// Default: the dimensions in reverse.
static SmallVector<int64_t> getPermutation(Operation *op, int64_t rank) {
  if (auto perm = op->getAttrOfType<DenseI64ArrayAttr>("perm"))
    return SmallVector<int64_t>(perm.asArrayRef());
  return llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
}

static LogicalResult verifyTranspose(Operation *op) {
  auto perm = op->getAttrOfType<DenseI64ArrayAttr>("perm");
  if (!perm)
    return success();
  // As an ordinary list is compared: MLIR's own check takes for granted that no element is too large.
  SmallVector<int64_t> sorted(perm.asArrayRef());
  llvm::sort(sorted);
  if (!isIdentityPermutation(sorted))
    return op->emitOpError("'perm' is not a permutation of 0 to ") << perm.size() - 1;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (type && type.getRank() != perm.size())
    return op->emitOpError("'perm' has ") << perm.size() << " elements for an input of rank " << type.getRank();
  return success();
}

static LogicalResult inferTranspose(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape) {
    if (auto perm = c.integerArray("perm"))
      c.setShape(0, Shape(perm->size()));
    return success();
  }
  Shape result;
  for (int64_t axis : getPermutation(c.getOperation(), shape->size()))
    result.push_back((*shape)[axis]);
  c.setShape(0, result);
  return success();
}

static ValueAnalysis::Values transposeValues(ShapeContext &c) {
  ValueAnalysis::Values data = c.elements(0);
  auto type = dyn_cast<RankedTensorType>(c.input(0).getType());
  if (!data || !type || !type.hasStaticShape())
    return std::nullopt;
  SmallVector<int64_t> permutation = getPermutation(c.getOperation(), type.getRank());
  SmallVector<int64_t> strides = computeStrides(type.getShape()),
                       sizes = applyPermutation(type.getShape(), permutation);
  applyPermutationToVector(strides, permutation);
  SmallVector<Dim> result;
  for (int64_t i = 0, count = data->size(); i < count; ++i)
    result.push_back((*data)[linearize(delinearize(i, computeStrides(sizes)), strides)]);
  return result;
}

static FailureOr<SmallVector<Value>> lowerTranspose(Operation *op, ValueRange operands, LinalgBuilder &b) {
  int64_t rank = getRank(operands[0]);
  return SmallVector<Value>{b.transpose(operands[0], getPermutation(op, rank))};
}

STRATA_SLICE(Transpose) {
  ops.add("Transpose", {.verify = verifyTranspose,
                        .inferShapes = inferTranspose,
                        .inferValues = transposeValues,
                        .lower = lowerTranspose,
                        .handles = true});
}
