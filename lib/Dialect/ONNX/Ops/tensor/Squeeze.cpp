//===- Squeeze.cpp - Squeeze and Unsqueeze --------------------------------===//
//
// The axes are an attribute up to version 11 and an input from version 13.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"
#include "Dialect/VersionSteps.h"

// The axes as they are written; none if only the run tells.
static std::optional<SmallVector<int64_t>> getAxes(ShapeContext &c) {
  return c.version() < 13 ? c.integerArray("axes") : c.integers(1);
}

static FailureOr<SmallVector<int64_t>> normalize(ShapeContext &c, ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t axis : axes) {
    FailureOr<int64_t> normal = c.normalizeAxis(axis, rank);
    if (failed(normal))
      return failure();
    if (llvm::is_contained(result, *normal))
      return c.emitError() << "has the axis " << *normal << " twice";
    result.push_back(*normal);
  }
  llvm::sort(result);
  return result;
}

static ValueAnalysis::Values sameValues(ShapeContext &c) { return c.elements(0); }

//===----------------------------------------------------------------------===//
// Squeeze
//===----------------------------------------------------------------------===//

// The least rank that the users of a value need for their axes.
static int64_t neededRank(Value value) {
  int64_t rank = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (!isa<VersionedOpInterface>(user) || use.getOperandNumber() != 0 ||
        !llvm::is_contained({"ArgMax", "ArgMin", "Concat", "Gather", "GatherElements", "Hardmax", "LogSoftmax",
                             "Softmax", "Split", "TopK"},
                            getUnversionedName(user)))
      continue;
    if (auto attr = user->getAttrOfType<IntegerAttr>("axis"))
      rank = std::max(rank, attr.getInt() < 0 ? -attr.getInt() : attr.getInt() + 1);
  }
  return rank;
}

static LogicalResult inferSqueeze(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  Shape result;
  bool hasAxes = c.version() < 13 ? c.hasAttr("axes") : c.hasInput(1);
  if (!hasAxes) {
    for (const Dim &dim : *shape)
      if (!dim.is(1))
        result.push_back(dim);
    // What only the run tells may be 1, and the rank is open, unless an axis of what follows needs all of the
    // dimensions.
    if (llvm::all_of(result, [](const Dim &dim) { return dim.isStatic(); }) ||
        neededRank(c.getOperation()->getResult(0)) == static_cast<int64_t>(result.size()))
      c.setShape(0, result);
    return success();
  }
  auto list = getAxes(c);
  if (!list) {
    if (auto axes = c.shape(1);
        axes && axes->size() == 1 && (*axes)[0].isStatic() && (*axes)[0].size <= static_cast<int64_t>(shape->size()))
      c.setShape(0, Shape(shape->size() - (*axes)[0].size));
    return success();
  }
  FailureOr<SmallVector<int64_t>> axes = normalize(c, *list, shape->size());
  if (failed(axes))
    return failure();
  for (auto [i, dim] : llvm::enumerate(*shape)) {
    if (!llvm::is_contained(*axes, i))
      result.push_back(dim);
    else if (dim.isStatic() && !dim.is(1))
      return c.emitError() << "removes dimension " << i << ", whose size is " << dim.size;
  }
  c.setShape(0, result);
  return success();
}

static FailureOr<SmallVector<Value>> lowerSqueeze(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0];
  auto type = cast<RankedTensorType>(data.getType());
  int64_t rank = type.getRank(), kept = getRank(op->getResult(0));
  std::optional<SmallVector<int64_t>> list = operands.size() > 1 ? b.getIntegers(op->getOperand(1)) : std::nullopt;
  if (operands.size() > 1 && list) {
    SmallVector<int64_t> shape(type.getShape()), axes;
    for (int64_t axis : *list) {
      axes.push_back(axis < 0 ? axis + rank : axis);
      b.checkEqual(b.dim(data, axes.back()), b.getIndexAttr(1), "the size of a removed dimension is not 1");
      shape[axes.back()] = 1;
    }
    llvm::sort(axes);
    return SmallVector<Value>{b.squeeze(b.castTo(data, RankedTensorType::get(shape, type.getElementType())), axes)};
  }
  // The run tells which dimensions go: the i-th that stays has the size of the one with i kept dimensions before it.
  SmallVector<Value> removed;
  for (int64_t i = 0; i < rank; ++i) {
    Value goes;
    if (operands.size() > 1) {
      goes = b.scalarInt(b.getI1Type(), 0);
      if (!cast<RankedTensorType>(operands[1].getType()).hasStaticShape())
        return op->emitOpError("cannot be compiled: neither the axes nor their number is known at compile time");
      for (OpFoldResult axis : b.integerElements(op->getOperand(1))) {
        OpFoldResult wrapped = b.select(b.compare(arith::CmpIPredicate::slt, axis, b.getIndexAttr(0)),
                                        b.add(axis, b.getIndexAttr(rank)), axis);
        goes = b.createOrFold<arith::OrIOp>(goes, b.compare(arith::CmpIPredicate::eq, wrapped, b.getIndexAttr(i)));
      }
    } else {
      goes = b.compare(arith::CmpIPredicate::eq, b.dim(data, i), b.getIndexAttr(1));
    }
    removed.push_back(goes);
  }
  Sizes sizes(kept, b.getIndexAttr(1));
  OpFoldResult position = b.getIndexAttr(0);
  for (int64_t i = 0; i < rank; ++i) {
    for (int64_t k = 0; k < kept; ++k) {
      Value here = b.compare(arith::CmpIPredicate::eq, position, b.getIndexAttr(k));
      Value stays = b.createOrFold<arith::XOrIOp>(removed[i], b.scalarInt(b.getI1Type(), 1));
      sizes[k] = b.select(b.createOrFold<arith::AndIOp>(here, stays), b.dim(data, i), sizes[k]);
    }
    position = b.select(removed[i], position, b.add(position, b.getIndexAttr(1)));
  }
  b.checkEqual(position, b.getIndexAttr(kept),
               "removes dimensions of size 1, after which the result has not the " + Twine(kept) +
                   (kept == 1 ? " dimension" : " dimensions") + " it was compiled for");
  b.checkEqual(b.product(b.sizes(data)), b.product(sizes), "the size of a removed dimension is not 1");
  return SmallVector<Value>{b.reshape(data, sizes)};
}

//===----------------------------------------------------------------------===//
// Unsqueeze
//===----------------------------------------------------------------------===//

static LogicalResult inferUnsqueeze(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  auto list = getAxes(c);
  if (!list) {
    if (auto axes = c.shape(1); axes && axes->size() <= 1 && (axes->empty() || (*axes)[0].isStatic()))
      c.setShape(0, Shape(shape->size() + (axes->empty() ? 1 : (*axes)[0].size)));
    return success();
  }
  int64_t rank = shape->size() + list->size();
  FailureOr<SmallVector<int64_t>> axes = normalize(c, *list, rank);
  if (failed(axes))
    return failure();
  Shape result;
  for (int64_t i = 0, from = 0; i < rank; ++i)
    result.push_back(llvm::is_contained(*axes, i) ? Dim(1) : (*shape)[from++]);
  c.setShape(0, result);
  return success();
}

static FailureOr<SmallVector<Value>> lowerUnsqueeze(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0];
  int64_t rank = getRank(op->getResult(0));
  if (auto list = b.getIntegers(op->getOperand(1))) {
    SmallVector<int64_t> axes;
    for (int64_t axis : *list)
      axes.push_back(axis < 0 ? axis + rank : axis);
    llvm::sort(axes);
    return SmallVector<Value>{b.unsqueeze(data, axes)};
  }
  if (!cast<RankedTensorType>(operands[1].getType()).hasStaticShape())
    return op->emitOpError("cannot be compiled: neither the axes nor their number is known at compile time");
  Sizes from = b.sizes(data), sizes;
  Sizes axes = b.integerElements(op->getOperand(1));
  OpFoldResult position = b.getIndexAttr(0);
  for (int64_t i = 0; i < rank; ++i) {
    Value added = b.scalarInt(b.getI1Type(), 0);
    for (OpFoldResult axis : axes) {
      OpFoldResult wrapped = b.select(b.compare(arith::CmpIPredicate::slt, axis, b.getIndexAttr(0)),
                                      b.add(axis, b.getIndexAttr(rank)), axis);
      added = b.createOrFold<arith::OrIOp>(added, b.compare(arith::CmpIPredicate::eq, wrapped, b.getIndexAttr(i)));
    }
    OpFoldResult own = b.getIndexAttr(1);
    for (auto [k, size] : llvm::enumerate(from))
      own = b.select(b.compare(arith::CmpIPredicate::eq, position, b.getIndexAttr(k)), size, own);
    sizes.push_back(b.select(added, b.getIndexAttr(1), own));
    position = b.select(added, position, b.add(position, b.getIndexAttr(1)));
  }
  b.checkEqual(position, b.getIndexAttr(from.size()), "an axis is out of range or there twice");
  return SmallVector<Value>{b.reshape(data, sizes)};
}

static LogicalResult upgradeAxes(Operation *op, PatternRewriter &rewriter) { return listToInput(op, rewriter, "axes"); }

static LogicalResult downgradeAxes(Operation *op, PatternRewriter &rewriter) {
  return getPreviousVersion(op) == 11 ? inputToList(op, rewriter, "axes") : downgradeStep(op, rewriter);
}

STRATA_SLICE(Squeeze) {
  ops.add("Squeeze", {.inferShapes = inferSqueeze,
                      .inferValues = sameValues,
                      .upgrade = upgradeAxes,
                      .downgrade = downgradeAxes,
                      .lower = lowerSqueeze,
                      .handles = true});
  ops.add("Unsqueeze", {.inferShapes = inferUnsqueeze,
                        .inferValues = sameValues,
                        .upgrade = upgradeAxes,
                        .downgrade = downgradeAxes,
                        .lower = lowerUnsqueeze,
                        .handles = true});
}
