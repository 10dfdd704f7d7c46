//===- Tile.cpp - Tile ----------------------------------------------------===//
//
// Each dimension d becomes repeats x d and both are merged.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"
#include "Dialect/VersionSteps.h"

// Version 1: tiles and axis, scalars of the data's type.
static std::optional<SmallVector<Dim>> getRepeats(ShapeContext &c, int64_t rank) {
  if (c.version() >= 6)
    return c.values(1);
  auto tiles = c.floats(1), axis = c.floats(2);
  if (!tiles || !axis || tiles->size() != 1 || axis->size() != 1 || (*axis)[0] < 0 || (*axis)[0] >= rank)
    return std::nullopt;
  SmallVector<Dim> repeats(rank, Dim(1));
  repeats[static_cast<int64_t>((*axis)[0])] = Dim(static_cast<int64_t>((*tiles)[0]));
  return repeats;
}

static LogicalResult inferTile(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  auto repeats = getRepeats(c, shape->size());
  if (repeats && repeats->size() != shape->size())
    return c.emitError() << "has " << repeats->size() << " repeats for an input of rank " << shape->size();
  Shape result(shape->size());
  if (repeats)
    for (auto [i, dim] : llvm::enumerate(*shape)) {
      if ((*repeats)[i].isStatic() && (*repeats)[i].size < 0)
        return c.emitError() << "repeats dimension " << i << " " << (*repeats)[i].size << " times";
      result[i] = dim * (*repeats)[i];
    }
  c.setShape(0, result);
  return success();
}

static ValueAnalysis::Values tileValues(ShapeContext &c) {
  auto values = c.elements(0);
  auto repeats = c.version() >= 6 ? c.integers(1) : std::nullopt;
  if (!values || !repeats || c.rank(0) != 1 || repeats->size() != 1 || (*repeats)[0] < 0 || (*repeats)[0] > 256)
    return std::nullopt;
  SmallVector<Dim> result;
  for (int64_t i = 0; i < (*repeats)[0] && result.size() <= 256; ++i)
    llvm::append_range(result, *values);
  return result;
}

// A scalar or one element of a numeric type as an int64 tensor of rank 1.
static Value makeInteger(RewriterBase &rewriter, Location loc, Value value) {
  auto type = RankedTensorType::get({1}, rewriter.getI64Type());
  int64_t kind = onnx::getDataType(*onnx::getElementKind(type.getElementType()));
  auto to = rewriter.getNamedAttr("to", rewriter.getI64IntegerAttr(kind));
  Value one = makeIntegers(rewriter, loc, 1);
  value =
      createVersion(rewriter, loc, "Reshape", 5, {value, one}, {}, type.clone(getElementTypeOrSelf(value.getType())))
          ->getResult(0);
  return createVersion(rewriter, loc, "Cast", 6, value, to, type)->getResult(0);
}

static LogicalResult upgradeTile(Operation *op, PatternRewriter &rewriter) {
  auto tiles = getFloats(getConstant(op->getOperand(1))), axis = getFloats(getConstant(op->getOperand(2)));
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type)
    return op->emitOpError("cannot be upgraded to version 6: the rank of its input is not known");
  Location loc = op->getLoc();
  int64_t rank = type.getRank();
  if (axis && (axis->size() != 1 || !((*axis)[0] >= 0 && (*axis)[0] < rank))) // NaN, too.
    return op->emitOpError("axis ") << (axis->empty() ? 0 : (*axis)[0]) << " is out of range for rank " << rank;
  SmallVector<int64_t> numbers(rank, 1);
  if (tiles && axis && tiles->size() == 1) {
    numbers[static_cast<int64_t>((*axis)[0])] = static_cast<int64_t>((*tiles)[0]);
    replaceByNext(op, rewriter, {op->getOperand(0), makeIntegers(rewriter, loc, numbers)});
    return success();
  }
  // Ones, and the tiles at the axis: an axis that is none is an error of the run.
  auto list = RankedTensorType::get({rank}, rewriter.getI64Type());
  Value ones = makeIntegers(rewriter, loc, numbers), at = makeInteger(rewriter, loc, op->getOperand(2));
  Value repeats =
      createVersion(rewriter, loc, "ScatterElements", 11, {ones, at, makeInteger(rewriter, loc, op->getOperand(1))},
                    rewriter.getNamedAttr("axis", rewriter.getI64IntegerAttr(0)), list)
          ->getResult(0);
  replaceByNext(op, rewriter, {op->getOperand(0), repeats});
  return success();
}

// Version 1 repeats along one axis.
static LogicalResult downgradeTile(Operation *op, PatternRewriter &rewriter) {
  if (getPreviousVersion(op) != 1)
    return downgradeStep(op, rewriter);
  FailureOr<SmallVector<int64_t>> repeats = requireIntegers(op, 1);
  if (failed(repeats))
    return failure();
  int64_t axis = 0, tiles = 1;
  for (auto [i, count] : llvm::enumerate(*repeats)) {
    if (count == 1)
      continue;
    if (tiles != 1)
      return refuseDowngrade(op) << "it repeats along one axis only";
    axis = i;
    tiles = count;
  }
  if (tiles == 1) { // A scalar has no axis.
    rewriter.replaceOp(
        op, createVersion(rewriter, op->getLoc(), "Identity", 1, op->getOperand(0), {}, op->getResult(0).getType()));
    return success();
  }
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  if (!isa<FloatType>(element))
    return refuseDowngrade(op) << "its tiles and axis are of the input's type, a float";
  auto number = [&](int64_t value) {
    auto type = RankedTensorType::get({1}, element);
    return rewriter.create<InitializerOp>(
        op->getLoc(), DenseElementsAttr::get(type, rewriter.getFloatAttr(element, value).getValue()));
  };
  return replaceByPrevious(op, rewriter, {op->getOperand(0), number(tiles), number(axis)});
}

static FailureOr<SmallVector<Value>> lowerTile(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0];
  auto type = cast<RankedTensorType>(data.getType());
  int64_t rank = type.getRank();
  if (rank == 0)
    return SmallVector<Value>{data};
  b.checkEqual(b.dim(operands[1], 0), b.getIndexAttr(rank), "there are not as many repeats as dimensions");
  Sizes wide, result;
  SmallVector<AffineExpr> exprs;
  ValueAnalysis::Values known = b.getAnalysis().get(op->getOperand(1));
  for (int64_t i = 0; i < rank; ++i) {
    auto size = known ? b.knownSize((*known)[i]) : std::nullopt;
    OpFoldResult repeat = size ? *size : b.element(operands[1], i);
    if (!getConstantIntValue(repeat))
      b.check(b.compare(arith::CmpIPredicate::sge, repeat, b.getIndexAttr(0)),
              "a dimension is repeated less than 0 times");
    if (!isConstantIntValue(repeat, 1))
      wide.push_back(repeat);
    exprs.push_back(b.getAffineDimExpr(wide.size()));
    wide.push_back(b.dim(data, i));
    result.push_back(b.mul(repeat, b.dim(data, i)));
  }
  int64_t wideRank = wide.size();
  if (wideRank == rank)
    return SmallVector<Value>{data};
  Value init = b.empty(wide, type.getElementType());
  SmallVector<AffineMap> maps{AffineMap::get(wideRank, 0, exprs, b.getContext()), b.getMultiDimIdentityMap(wideRank)};
  SmallVector<utils::IteratorType> iterators(wideRank, utils::IteratorType::parallel);
  auto copies = b.create<linalg::GenericOp>(
      init.getType(), data, init, maps, iterators,
      [](OpBuilder &nested, Location loc, ValueRange args) { nested.create<linalg::YieldOp>(loc, args[0]); });
  return SmallVector<Value>{b.reshape(copies.getResult(0), result)};
}

STRATA_SLICE(Tile) {
  ops.add("Tile", {.inferShapes = inferTile,
                   .inferValues = tileValues,
                   .upgrade = upgradeTile,
                   .downgrade = downgradeTile,
                   .lower = lowerTile,
                   .handles = true});
}
