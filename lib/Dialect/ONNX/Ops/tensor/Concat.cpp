//===- Concat.cpp - Concat ------------------------------------------------===//

#include "../Slice.h"
#include "Dialect/VersionSteps.h"

// Version 1 has a default.
static int64_t getAxis(ShapeContext &c) { return c.integer("axis", 1); }

static LogicalResult inferConcat(ShapeContext &c) {
  if (c.version() >= 4 && !c.hasAttr("axis"))
    return c.emitError() << "requires attribute 'axis'";
  std::optional<Shape> result;
  FailureOr<int64_t> axis = failure();
  bool complete = true;
  for (unsigned k = 0; k < c.numInputs(0); ++k) {
    std::optional<Shape> shape = c.shape(0, k);
    if (!shape) {
      complete = false;
      continue;
    }
    if (!result) {
      axis = c.normalizeAxis(getAxis(c), shape->size());
      if (failed(axis))
        return failure();
      result = shape;
      continue;
    }
    if (shape->size() != result->size())
      return c.emitError() << "input " << k << " has rank " << shape->size() << ", the first one has rank "
                           << result->size();
    for (auto [i, dims] : llvm::enumerate(llvm::zip_equal(*result, *shape))) {
      auto &[sum, dim] = dims;
      if (static_cast<int64_t>(i) == *axis)
        sum = sum + dim;
      else if (sum.isStatic() && dim.isStatic() && sum.size != dim.size)
        return c.emitError() << "input " << k << " has size " << dim.size << " in dimension " << i
                             << ", another one has " << sum.size;
      else if (dim.isStatic() || (!sum.isStatic() && !sum.symbol))
        sum = dim;
    }
  }
  if (result && !complete)
    (*result)[*axis] = Dim();
  if (result)
    c.setShape(0, *result);
  return success();
}

static ValueAnalysis::Values concatValues(ShapeContext &c) {
  SmallVector<Dim> result;
  for (unsigned k = 0; k < c.numInputs(0); ++k) {
    std::optional<Shape> shape = c.shape(0, k);
    if (!shape || shape->size() != 1 || !(*shape)[0].isStatic())
      return std::nullopt;
    if (auto values = c.elements(0, k))
      llvm::append_range(result, *values);
    else
      result.append((*shape)[0].size, Dim());
    if (result.size() > 256)
      return std::nullopt;
  }
  return result;
}

static FailureOr<SmallVector<Value>> lowerConcat(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto type = cast<RankedTensorType>(getSeamType(op->getResult(0).getType()));
  int64_t axis = cast<ConcatOp>(op).getAxis();
  axis = axis < 0 ? axis + type.getRank() : axis;
  // The short lists of shape computations: their elements fold.
  if (type.getRank() == 1 && type.hasStaticShape() && type.getNumElements() <= 16 &&
      isa<IntegerType>(type.getElementType())) {
    SmallVector<Value> elements;
    for (Value operand : operands)
      for (int64_t i = 0, n = cast<RankedTensorType>(operand.getType()).getNumElements(); i < n; ++i)
        elements.push_back(b.createOrFold<tensor::ExtractOp>(operand, ValueRange{b.index(i)}));
    return SmallVector<Value>{b.create<tensor::FromElementsOp>(type, elements)};
  }
  SmallVector<Value> tensors(operands);
  for (int64_t i = 0; i < type.getRank(); ++i)
    for (Value &tensor : MutableArrayRef(tensors).drop_front())
      if (i != axis)
        b.checkEqual(b.dim(tensors[0], i), b.dim(tensor, i), "the inputs' sizes differ in dimension " + Twine(i));
  return SmallVector<Value>{b.concat(tensors, axis)};
}

static LogicalResult upgradeConcat(Operation *op, PatternRewriter &rewriter) {
  SmallVector<NamedAttribute, 1> added;
  if (!op->hasAttr("axis"))
    added.push_back(rewriter.getNamedAttr("axis", rewriter.getI64IntegerAttr(1)));
  return changeAttributes(op, rewriter, {}, added);
}

STRATA_SLICE(Concat) {
  ops.add("Concat", {.inferShapes = inferConcat,
                     .inferValues = concatValues,
                     .upgrade = upgradeConcat,
                     .downgrade = downgradePlainly,
                     .lower = lowerConcat,
                     .handles = true});
}
