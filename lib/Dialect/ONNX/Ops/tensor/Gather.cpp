//===- Gather.cpp - Gather, GatherElements, GatherND ----------------------===//

#include "../Indexing.h"
#include "Dialect/VersionSteps.h"

static int64_t axisOf(Operation *op, int64_t rank) {
  auto attr = op->getAttrOfType<IntegerAttr>("axis");
  int64_t axis = attr ? attr.getInt() : 0;
  return axis < 0 ? axis + rank : axis;
}

//===----------------------------------------------------------------------===//
// Gather: result[a.., i.., b..] = data[a.., indices[i..], b..]
//===----------------------------------------------------------------------===//

static LogicalResult inferGather(ShapeContext &c) {
  std::optional<Shape> data = c.shape(0), indices = c.shape(1);
  if (!data)
    return success();
  FailureOr<int64_t> axis = c.normalizeAxis(c.integer("axis", 0), data->size());
  if (failed(axis))
    return failure();
  if (!indices)
    return success();
  Shape result(data->begin(), data->begin() + *axis);
  result.append(indices->begin(), indices->end());
  result.append(data->begin() + *axis + 1, data->end());
  c.setShape(0, result);
  return success();
}

static ValueAnalysis::Values gatherValues(ShapeContext &c) {
  auto data = c.elements(0);
  auto indices = c.integers(1);
  if (!data || !indices || c.rank(0) != 1)
    return std::nullopt;
  SmallVector<Dim> result;
  int64_t size = data->size();
  for (int64_t i : *indices) {
    if (i < -size || i >= size)
      return std::nullopt;
    result.push_back((*data)[i < 0 ? i + size : i]);
  }
  return result;
}

static FailureOr<SmallVector<Value>> lowerGather(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0], indices = operands[1];
  auto type = cast<RankedTensorType>(data.getType());
  int64_t axis = axisOf(op, type.getRank()), added = getRank(indices);
  int64_t rank = type.getRank() - 1 + added;
  indexing::checkRange(b, indices, b.dim(data, axis), op->getOperand(1), "an index is out of range");
  Value size = b.index(b.dim(data, axis));
  // A single element folds with what made the data.
  if (rank == 0) {
    Value position = indexing::wrap(b, b.extractScalar(indices), size);
    return SmallVector<Value>{b.fromScalar(b.createOrFold<tensor::ExtractOp>(data, position))};
  }
  Sizes sizes;
  for (int64_t i = 0; i < rank; ++i)
    sizes.push_back(i < axis           ? b.dim(data, i)
                    : i < axis + added ? b.dim(indices, i - axis)
                                       : b.dim(data, i - added + 1));
  Value init = b.empty(sizes, type.getElementType());
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < added; ++i)
    exprs.push_back(b.getAffineDimExpr(axis + i));
  SmallVector<AffineMap> maps{AffineMap::get(rank, 0, exprs, b.getContext()), b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto generic = b.create<linalg::GenericOp>(
      init.getType(), indices, init, maps, iterators, [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder body(loc, nested);
        SmallVector<Value> source;
        for (int64_t i = 0; i < type.getRank(); ++i)
          source.push_back(i == axis ? indexing::wrap(body, args[0], size)
                                     : body.create<linalg::IndexOp>(i < axis ? i : i + added - 1).getResult());
        body.create<linalg::YieldOp>(body.create<tensor::ExtractOp>(data, source).getResult());
      });
  return SmallVector<Value>{generic.getResult(0)};
}

//===----------------------------------------------------------------------===//
// GatherElements: result[i..] = data[i.. with indices[i..] at the axis]
//===----------------------------------------------------------------------===//

static LogicalResult inferGatherElements(ShapeContext &c) {
  if (auto rank = c.rank(0)) {
    if (failed(c.normalizeAxis(c.integer("axis", 0), *rank)))
      return failure();
    if (auto other = c.rank(1); other && *other != *rank)
      return c.emitError() << "has indices of rank " << *other << " for data of rank " << *rank;
  }
  c.copyShape(1);
  return success();
}

static FailureOr<SmallVector<Value>> lowerGatherElements(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0], indices = operands[1];
  auto type = cast<RankedTensorType>(data.getType());
  int64_t axis = axisOf(op, type.getRank());
  indexing::checkRange(b, indices, b.dim(data, axis), op->getOperand(1), "an index is out of range");
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != axis && !isEqualConstantIntOrValue(b.dim(indices, i), b.dim(data, i)))
      b.check(b.compare(arith::CmpIPredicate::sle, b.dim(indices, i), b.dim(data, i)),
              "the indices have more elements than the data in dimension " + Twine(i));
  Value size = b.index(b.dim(data, axis));
  return SmallVector<Value>{
      b.elementwise(indices, type.getElementType(), [&](ImplicitLocOpBuilder &body, ValueRange args) -> Value {
        SmallVector<Value> source;
        for (int64_t i = 0; i < type.getRank(); ++i)
          source.push_back(i == axis ? indexing::wrap(body, args[0], size)
                                     : body.create<linalg::IndexOp>(i).getResult());
        return body.create<tensor::ExtractOp>(data, source);
      })};
}

//===----------------------------------------------------------------------===//
// GatherND: the last dimension of the indices holds positions in data's dimensions from batch_dims on
//===----------------------------------------------------------------------===//

static LogicalResult inferGatherND(ShapeContext &c) {
  std::optional<Shape> data = c.shape(0), indices = c.shape(1);
  int64_t batch = c.integer("batch_dims", 0);
  if (!data || !indices)
    return success();
  int64_t rank = data->size(), indexRank = indices->size();
  if (indexRank < 1 || rank < 1)
    return c.emitError() << "needs data and indices of rank at least 1";
  if (batch < 0 || batch >= std::min(rank, indexRank))
    return c.emitError() << "batch_dims " << batch << " is out of range for ranks " << rank << " and " << indexRank;
  for (int64_t i = 0; i < batch; ++i)
    if ((*data)[i].isStatic() && (*indices)[i].isStatic() && (*data)[i].size != (*indices)[i].size)
      return c.emitError() << "has data of size " << (*data)[i].size << " and indices of size " << (*indices)[i].size
                           << " in dimension " << i << ", which is one of the batch_dims";
  Dim depth = indices->back();
  if (!depth.isStatic())
    return success();
  if (depth.size < 1 || depth.size > rank - batch)
    return c.emitError() << "has index tuples of " << depth.size << " elements for " << rank - batch << " dimensions";
  Shape result(indices->begin(), indices->end() - 1);
  result.append(data->begin() + batch + depth.size, data->end());
  c.setShape(0, result);
  return success();
}

static FailureOr<SmallVector<Value>> lowerGatherND(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0], indices = operands[1];
  auto type = cast<RankedTensorType>(data.getType()), indexType = cast<RankedTensorType>(indices.getType());
  int64_t batch = cast<GatherNDOp>(op).getBatchDims(), rank = type.getRank(), outer = indexType.getRank() - 1;
  int64_t depth = indexType.getShape().back();
  if (ShapedType::isDynamic(depth))
    depth = outer + rank - batch - getRank(op->getResult(0));
  b.checkEqual(b.dim(indices, outer), b.getIndexAttr(depth), "the index tuples do not have the declared size");
  for (int64_t i = 0; i < batch; ++i)
    b.checkEqual(b.dim(data, i), b.dim(indices, i), "the sizes of batch dimension " + Twine(i) + " differ");
  SmallVector<Value> limits;
  for (int64_t k = 0; k < depth; ++k) {
    limits.push_back(b.index(b.dim(data, batch + k)));
    SmallVector<OpFoldResult> offsets(outer + 1, b.getIndexAttr(0));
    Sizes sizes = b.sizes(indices);
    offsets.back() = b.getIndexAttr(k);
    sizes.back() = b.getIndexAttr(1);
    indexing::checkRange(b, b.slice(indices, offsets, sizes), b.dim(data, batch + k), {}, "an index is out of range");
  }
  Sizes sizes;
  for (int64_t i = 0; i < outer; ++i)
    sizes.push_back(b.dim(indices, i));
  for (int64_t i = batch + depth; i < rank; ++i)
    sizes.push_back(b.dim(data, i));
  return SmallVector<Value>{
      b.generate(sizes, type.getElementType(), [&](ImplicitLocOpBuilder &body, ValueRange at) -> Value {
        SmallVector<Value> tuple(at.take_front(outer)), source(at.take_front(batch));
        tuple.push_back({});
        for (int64_t k = 0; k < depth; ++k) {
          tuple.back() = body.create<arith::ConstantIndexOp>(k);
          source.push_back(indexing::wrap(body, body.create<tensor::ExtractOp>(indices, tuple), limits[k]));
        }
        llvm::append_range(source, at.drop_front(outer));
        return body.create<tensor::ExtractOp>(data, source);
      })};
}

// Version 1 counts from the front only.
static LogicalResult downgradeGather(Operation *op, PatternRewriter &rewriter) {
  if (getPreviousVersion(op) == 1) {
    auto indices = getIntegers(getConstant(op->getOperand(1)));
    if (!indices || llvm::any_of(*indices, [](int64_t index) { return index < 0; }))
      return refuseDowngrade(op) << "its indices may not be negative, and here they " << (indices ? "are" : "may be");
  }
  return downgradeStep(op, rewriter);
}

static LogicalResult downgradeGatherND(Operation *op, PatternRewriter &rewriter) {
  return downgradeStep(op, rewriter, {{"batch_dims", 0}});
}

STRATA_SLICE(Gather) {
  ops.add("Gather", {.inferShapes = inferGather,
                     .inferValues = gatherValues,
                     .downgrade = downgradeGather,
                     .lower = lowerGather,
                     .handles = true});
  ops.add("GatherElements", {.inferShapes = inferGatherElements, .lower = lowerGatherElements, .handles = true});
  ops.add("GatherND", {.inferShapes = inferGatherND,
                       .upgrade = keepAttributes,
                       .downgrade = downgradeGatherND,
                       .lower = lowerGatherND,
                       .handles = true});
}
