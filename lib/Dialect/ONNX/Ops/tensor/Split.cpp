//===- Split.cpp - Split --------------------------------------------------===//
//
// The sizes are an attribute (up to 11) or an input (from 13); without them the
// parts are equal, from version 18 with a smaller last part.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"
#include "Dialect/VersionSteps.h"

static ValueAnalysis::Values getSizes(ShapeContext &c) {
  if (c.version() >= 13)
    return c.values(1);
  if (auto list = c.integerArray("split"))
    return SmallVector<Dim>(list->begin(), list->end());
  return std::nullopt;
}

static LogicalResult inferSplit(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  size_t count = c.getOperation()->getNumResults();
  if (c.version() >= 18) {
    bool hasCount = c.hasAttr("num_outputs");
    if (hasCount == c.hasInput(1))
      return c.emitError() << "needs either the input 'split' or the attribute 'num_outputs'";
    if (hasCount && c.integer("num_outputs", 0) != static_cast<int64_t>(count))
      return c.emitError() << "has " << count << " outputs, but num_outputs is " << c.integer("num_outputs", 0);
  }
  if (!shape)
    return success();
  FailureOr<int64_t> axis = c.normalizeAxis(c.integer("axis", 0), shape->size());
  if (failed(axis))
    return failure();
  Dim whole = (*shape)[*axis];
  bool given = c.version() >= 13 ? c.hasInput(1) : c.hasAttr("split") || (c.version() == 1 && c.hasInput(1));
  SmallVector<Dim> parts(count);
  if (auto sizes = getSizes(c)) {
    if (sizes->size() != count)
      return c.emitError() << "has " << count << " outputs, but " << sizes->size() << " sizes";
    parts = *sizes;
    Dim sum(0);
    for (const Dim &part : parts) {
      if (part.isStatic() && part.size < 0)
        return c.emitError() << "has a part of size " << part.size;
      sum = sum + part;
    }
    if (sum.isStatic() && whole.isStatic() && sum.size != whole.size)
      return c.emitError() << "splits a dimension of size " << whole.size << " into " << sum.size;
  } else if (!given && whole.isStatic()) {
    int64_t n = count, part = llvm::divideCeil(whole.size, n);
    if (c.version() < 18 && whole.size % n != 0)
      return c.emitError() << "splits a dimension of size " << whole.size << " into " << n << " equal parts";
    for (int64_t i = 0; i < n; ++i)
      parts[i] = Dim(std::clamp<int64_t>(whole.size - i * part, 0, part));
  }
  for (auto [k, part] : llvm::enumerate(parts)) {
    Shape result = *shape;
    result[*axis] = part;
    c.setShape(0, result, k);
  }
  return success();
}

static ValueAnalysis::Values splitValues(ShapeContext &c) {
  auto type = dyn_cast<RankedTensorType>(c.getOperation()->getResult(0).getType());
  auto values = c.elements(0);
  if (!values || !type || type.getRank() != 1 || !type.hasStaticShape() ||
      type.getNumElements() > static_cast<int64_t>(values->size()))
    return std::nullopt;
  return SmallVector<Dim>(values->begin(), values->begin() + type.getNumElements());
}

static LogicalResult upgradeSplit(Operation *op, PatternRewriter &rewriter) {
  int64_t version = cast<VersionedOpInterface>(op).getSinceVersion();
  Location loc = op->getLoc();
  SmallVector<NamedAttribute> attrs = attributesWithout(op);
  Value input = op->getOperand(0), sizes = op->getNumOperands() > 1 ? op->getOperand(1) : Value();
  if (version == 1) {
    // The sizes as an input of the data's type: only as a constant.
    if (sizes) {
      ElementsAttr constant = getConstant(sizes);
      auto values = getFloats(constant);
      if (!values)
        return op->emitOpError("cannot be upgraded to version 2: its input 'split' is not a constant");
      SmallVector<int64_t> list(values->begin(), values->end());
      attrs = attributesWithout(op, {"split"});
      attrs.push_back(rewriter.getNamedAttr("split", rewriter.getDenseI64ArrayAttr(list)));
    }
    if (!op->hasAttr("axis"))
      attrs.push_back(rewriter.getNamedAttr("axis", rewriter.getI64IntegerAttr(0)));
  } else if (version == 11) {
    if (auto list = op->getAttrOfType<DenseI64ArrayAttr>("split"))
      sizes = makeIntegers(rewriter, loc, list);
    attrs = attributesWithout(op, {"split"});
  } else if (!sizes) {
    attrs.push_back(rewriter.getNamedAttr("num_outputs", rewriter.getI64IntegerAttr(op->getNumResults())));
  }
  replaceByVersion(op, rewriter, getNextVersion(op),
                   version == 1 ? ArrayRef<Value>{input} : ArrayRef<Value>{input, sizes}, attrs);
  return success();
}

// Before version 18 parts without sizes are of one size; before 13 sizes are an attribute; version 1 has no default
// axis.
static LogicalResult downgradeSplit(Operation *op, PatternRewriter &rewriter) {
  int64_t previous = getPreviousVersion(op);
  Value input = op->getOperand(0), sizes = getFormalInput(op, 1);
  auto axisAttr = op->getAttrOfType<IntegerAttr>("axis");
  int64_t axis = axisAttr ? axisAttr.getInt() : 0, count = op->getNumResults();
  if (previous == 13 && !sizes) {
    std::optional<Shape> shape = getShape(input.getType());
    Dim whole = shape ? (*shape)[axis < 0 ? axis + shape->size() : axis] : Dim();
    if (!whole.isStatic())
      return refuseDowngrade(op) << "the size of the dimension that it splits is not known";
    if (whole.size % count != 0) {
      SmallVector<int64_t> parts(count, (whole.size + count - 1) / count);
      for (int64_t i = 0, left = whole.size; i < count; left -= parts[i++])
        parts[i] = std::min(parts[i], left);
      sizes = makeIntegers(rewriter, op->getLoc(), parts);
    }
    return replaceByPrevious(op, rewriter, {input, sizes}, {"num_outputs"});
  }
  if (previous == 13)
    return replaceByPrevious(op, rewriter, {input, sizes}, {"num_outputs"});
  SmallVector<NamedAttribute, 1> added;
  if (previous == 1 && !axisAttr)
    added.push_back(rewriter.getNamedAttr("axis", rewriter.getI64IntegerAttr(0)));
  if (previous == 11)
    return inputToList(op, rewriter, "split");
  return previous == 1 ? replaceByPrevious(op, rewriter, input, {}, added) : downgradeStep(op, rewriter);
}

static FailureOr<SmallVector<Value>> lowerSplit(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Sizes whole = b.sizes(operands[0]);
  int64_t axis = cast<SplitOp>(op).getAxis();
  axis = axis < 0 ? axis + whole.size() : axis;
  int64_t count = op->getNumResults();
  Sizes parts;
  if (operands.size() > 1) {
    b.checkEqual(b.dim(operands[1], 0), b.getIndexAttr(count), "there are not as many sizes as outputs");
    for (int64_t k = 0; k < count; ++k) {
      std::optional<Shape> shape = getShape(op->getResult(k).getType());
      auto known = b.knownSize((*shape)[axis]);
      parts.push_back(known ? *known : b.element(operands[1], k));
      b.check(b.compare(arith::CmpIPredicate::sge, parts.back(), b.getIndexAttr(0)), "a part has a negative size");
    }
    OpFoldResult sum = b.getIndexAttr(0);
    for (OpFoldResult part : parts)
      sum = b.add(sum, part);
    b.checkEqual(sum, whole[axis], "the sizes of the parts do not add up to the dimension's");
  } else {
    OpFoldResult part = b.ceilDiv(whole[axis], b.getIndexAttr(count)), left = whole[axis];
    for (int64_t k = 0; k < count; ++k) {
      parts.push_back(b.minimum(part, left));
      left = b.sub(left, parts.back());
    }
  }
  SmallVector<Value> results;
  SmallVector<OpFoldResult> offsets(whole.size(), b.getIndexAttr(0));
  for (OpFoldResult part : parts) {
    Sizes sizes(whole);
    sizes[axis] = part;
    results.push_back(b.slice(operands[0], offsets, sizes));
    offsets[axis] = b.add(offsets[axis], part);
  }
  return results;
}

STRATA_SLICE(Split) {
  ops.add("Split", {.inferShapes = inferSplit,
                    .inferValues = splitValues,
                    .upgrade = upgradeSplit,
                    .downgrade = downgradeSplit,
                    .lower = lowerSplit,
                    .handles = true});
}
