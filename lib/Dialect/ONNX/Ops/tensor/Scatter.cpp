//===- Scatter.cpp - ScatterElements, ScatterND, Scatter ------------------===//
//
// The result starts as the data; updates are written in row-major order of the
// indices, so that the last of equal indices wins.
//
//===----------------------------------------------------------------------===//

#include "../Indexing.h"
#include "Conversion/ScalarOps.h"
#include "Dialect/VersionSteps.h"

static LogicalResult verifyReduction(Operation *op) {
  auto reduction = op->getAttrOfType<StringAttr>("reduction");
  if (!reduction)
    return success();
  bool wide = cast<VersionedOpInterface>(op).getSinceVersion() >= 18;
  StringRef name = reduction.getValue();
  if (name == "none" || name == "add" || name == "mul" || (wide && (name == "max" || name == "min")))
    return success();
  return op->emitOpError("has the unknown reduction '") << name << "'";
}

// The element that is stored where `old` was.
static FailureOr<Value> combine(ImplicitLocOpBuilder &b, StringRef reduction, Value old, Value update, Type onnx) {
  if (reduction == "none")
    return update;
  Type seam = getSeamElementType(onnx);
  if (auto complexType = dyn_cast<ComplexType>(seam)) {
    if (reduction == "add")
      return b.create<complex::AddOp>(old, update).getResult();
    if (reduction == "mul")
      return b.create<complex::MulOp>(old, update).getResult();
    return failure();
  }
  Value x = scalar::decode(b, old, onnx), y = scalar::decode(b, update, onnx), result;
  if (isa<FloatType>(x.getType()))
    result = reduction == "add"   ? b.create<arith::AddFOp>(x, y).getResult()
             : reduction == "mul" ? b.create<arith::MulFOp>(x, y).getResult()
             : reduction == "max" ? b.create<arith::MaximumFOp>(x, y).getResult()
                                  : b.create<arith::MinimumFOp>(x, y).getResult();
  else if (x.getType().isInteger(1))
    // As numbers 0 and 1 that saturate.
    result = reduction == "add" || reduction == "max" ? b.create<arith::OrIOp>(x, y).getResult()
                                                      : b.create<arith::AndIOp>(x, y).getResult();
  else if (reduction == "add")
    result = b.create<arith::AddIOp>(x, y);
  else if (reduction == "mul")
    result = b.create<arith::MulIOp>(x, y);
  else if (scalar::isUnsigned(onnx))
    result =
        reduction == "max" ? b.create<arith::MaxUIOp>(x, y).getResult() : b.create<arith::MinUIOp>(x, y).getResult();
  else
    result =
        reduction == "max" ? b.create<arith::MaxSIOp>(x, y).getResult() : b.create<arith::MinSIOp>(x, y).getResult();
  return scalar::encode(b, result, onnx);
}

static StringRef getReduction(Operation *op) {
  auto attr = op->getAttrOfType<StringAttr>("reduction");
  return attr ? attr.getValue() : "none";
}

static Type onnxElement(Operation *op) { return getElementType(op->getOperand(0)); }

static LogicalResult checkCombinable(Operation *op) {
  if (isa<ComplexType>(onnxElement(op)) && (getReduction(op) == "max" || getReduction(op) == "min"))
    return op->emitOpError("cannot be compiled: complex numbers have no ") << getReduction(op);
  return success();
}

//===----------------------------------------------------------------------===//
// ScatterElements: result[i.. with indices[i..] at the axis] = updates[i..]
//===----------------------------------------------------------------------===//

static LogicalResult inferScatterElements(ShapeContext &c) {
  if (auto rank = c.rank(0)) {
    if (failed(c.normalizeAxis(c.integer("axis", 0), *rank)))
      return failure();
    for (unsigned formal : {1u, 2u})
      if (auto other = c.rank(formal); other && *other != *rank)
        return c.emitError() << "has " << (formal == 1 ? "indices" : "updates") << " of rank " << *other
                             << " for data of rank " << *rank;
  }
  c.copyShape(0);
  return success();
}

static FailureOr<SmallVector<Value>> lowerScatterElements(Operation *op, ValueRange operands, LinalgBuilder &b) {
  if (failed(checkCombinable(op)))
    return failure();
  Value data = operands[0], indices = operands[1], updates = operands[2];
  int64_t rank = getRank(data), axis = cast<ScatterElementsOp>(op).getAxis();
  axis = axis < 0 ? axis + rank : axis;
  indexing::checkRange(b, indices, b.dim(data, axis), op->getOperand(1), "an index is out of range");
  for (int64_t i = 0; i < rank; ++i) {
    b.checkEqual(b.dim(indices, i), b.dim(updates, i),
                 "the indices' and updates' sizes differ in dimension " + Twine(i));
    if (i != axis && !isEqualConstantIntOrValue(b.dim(indices, i), b.dim(data, i)))
      b.check(b.compare(arith::CmpIPredicate::sle, b.dim(indices, i), b.dim(data, i)),
              "the indices have more elements than the data in dimension " + Twine(i));
  }
  Value size = b.index(b.dim(data, axis));
  return b.loopNest(b.sizes(indices), data, [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
    SmallVector<Value> to(at);
    to[axis] = indexing::wrap(b, b.create<tensor::ExtractOp>(indices, at), size);
    Value update = b.create<tensor::ExtractOp>(updates, at), old;
    if (getReduction(op) != "none")
      old = b.create<tensor::ExtractOp>(carried[0], to);
    return {b.create<tensor::InsertOp>(*combine(b, getReduction(op), old, update, onnxElement(op)), carried[0], to)};
  });
}

//===----------------------------------------------------------------------===//
// ScatterND: result[indices[i.., :], j..] = updates[i.., j..]
//===----------------------------------------------------------------------===//

static LogicalResult inferScatterND(ShapeContext &c) {
  std::optional<Shape> data = c.shape(0), indices = c.shape(1), updates = c.shape(2);
  if (indices && indices->empty())
    return c.emitError() << "needs indices of rank at least 1";
  if (data && indices && indices->back().isStatic()) {
    int64_t depth = indices->back().size, rank = data->size();
    if (depth < 0 || depth > rank)
      return c.emitError() << "has index tuples of " << depth << " elements for data of rank " << rank;
    int64_t expected = indices->size() - 1 + rank - depth;
    if (updates && static_cast<int64_t>(updates->size()) != expected)
      return c.emitError() << "has updates of rank " << updates->size() << " instead of " << expected;
    Shape written(indices->begin(), indices->end() - 1);
    written.append(data->begin() + depth, data->end());
    for (size_t i = 0; updates && i < written.size(); ++i)
      if (written[i].isStatic() && (*updates)[i].isStatic() && written[i].size != (*updates)[i].size)
        return c.emitError() << "has updates of size " << (*updates)[i].size << " in dimension " << i
                             << ", but the indices and the data make it " << written[i].size;
  }
  c.copyShape(0);
  return success();
}

static FailureOr<SmallVector<Value>> lowerScatterND(Operation *op, ValueRange operands, LinalgBuilder &b) {
  if (failed(checkCombinable(op)))
    return failure();
  Value data = operands[0], indices = operands[1], updates = operands[2];
  auto type = cast<RankedTensorType>(data.getType());
  int64_t rank = type.getRank(), outer = getRank(indices) - 1;
  int64_t depth = outer + rank - getRank(updates);
  b.checkEqual(b.dim(indices, outer), b.getIndexAttr(depth),
               "the index tuples do not have the size that the updates tell");
  for (int64_t i = 0; i < outer; ++i)
    b.checkEqual(b.dim(indices, i), b.dim(updates, i),
                 "the indices' and updates' sizes differ in dimension " + Twine(i));
  for (int64_t i = depth; i < rank; ++i)
    b.checkEqual(b.dim(data, i), b.dim(updates, outer + i - depth), "the data's and updates' sizes differ");
  SmallVector<Value> limits;
  for (int64_t k = 0; k < depth; ++k) {
    limits.push_back(b.index(b.dim(data, k)));
    SmallVector<OpFoldResult> offsets(outer + 1, b.getIndexAttr(0));
    Sizes sizes = b.sizes(indices);
    offsets.back() = b.getIndexAttr(k);
    sizes.back() = b.getIndexAttr(1);
    indexing::checkRange(b, b.slice(indices, offsets, sizes), b.dim(data, k), {}, "an index is out of range");
  }
  StringRef reduction = getReduction(op);
  // A block of the data under each index tuple.
  auto slice = [&](Value tensor, ValueRange lead, Sizes inner) {
    SmallVector<OpFoldResult> offsets(lead.begin(), lead.end()), sizes(lead.size(), b.getIndexAttr(1));
    offsets.append(inner.size(), b.getIndexAttr(0));
    sizes.append(inner.begin(), inner.end());
    SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
    SmallVector<int64_t> shape;
    for (OpFoldResult size : inner)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    return b.create<tensor::ExtractSliceOp>(RankedTensorType::get(shape, type.getElementType()), tensor, offsets, sizes,
                                            strides);
  };
  Sizes outerSizes = b.sizes(indices), inner;
  outerSizes.pop_back();
  for (int64_t i = depth; i < rank; ++i)
    inner.push_back(b.dim(data, i));
  return b.loopNest(outerSizes, data, [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
    SmallVector<Value> tuple(at), to;
    tuple.push_back({});
    for (int64_t k = 0; k < depth; ++k) {
      tuple.back() = b.index(k);
      to.push_back(indexing::wrap(b, b.create<tensor::ExtractOp>(indices, tuple), limits[k]));
    }
    if (inner.empty()) {
      Value update = b.create<tensor::ExtractOp>(updates, at), old;
      if (reduction != "none")
        old = b.create<tensor::ExtractOp>(carried[0], to);
      return {b.create<tensor::InsertOp>(*combine(b, reduction, old, update, onnxElement(op)), carried[0], to)};
    }
    Value block = slice(updates, at, inner);
    if (reduction != "none") {
      // Into what is there, which bufferization does in its place; an operand besides the result would be copied first.
      Value old = slice(carried[0], to, inner);
      SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(inner.size()));
      SmallVector<utils::IteratorType> loops(inner.size(), utils::IteratorType::parallel);
      auto body = [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder at(loc, nested);
        at.create<linalg::YieldOp>(*combine(at, reduction, args[1], args[0], onnxElement(op)));
      };
      block = b.create<linalg::GenericOp>(old.getType(), block, old, maps, loops, body).getResult(0);
    }
    SmallVector<OpFoldResult> offsets(to.begin(), to.end()), sizes(to.size(), b.getIndexAttr(1));
    offsets.append(inner.size(), b.getIndexAttr(0));
    sizes.append(inner.begin(), inner.end());
    SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
    return {b.create<tensor::InsertSliceOp>(block, carried[0], offsets, sizes, strides)};
  });
}

// The deprecated operator was renamed.
static LogicalResult toScatterElements(Operation *op, PatternRewriter &rewriter) {
  rewriter.replaceOp(op,
                     createVersion(rewriter, op->getLoc(), "ScatterElements", 11, SmallVector<Value>(op->getOperands()),
                                   attributesWithout(op), op->getResultTypes()));
  return success();
}

static FailureOr<SmallVector<Value>> lowerScatter(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0];
  int64_t rank = getRank(data), axis = cast<ScatterOp>(op).getAxis();
  axis = axis < 0 ? axis + rank : axis;
  indexing::checkRange(b, operands[1], b.dim(data, axis), op->getOperand(1), "an index is out of range");
  for (int64_t i = 0; i < rank; ++i) {
    b.checkEqual(b.dim(operands[1], i), b.dim(operands[2], i), "the indices' and updates' sizes differ");
    if (i != axis)
      b.check(b.compare(arith::CmpIPredicate::sle, b.dim(operands[1], i), b.dim(data, i)),
              "the indices have more elements than the data in dimension " + Twine(i));
  }
  Value size = b.index(b.dim(data, axis));
  return b.loopNest(b.sizes(operands[1]), data, [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
    SmallVector<Value> to(at);
    to[axis] = indexing::wrap(b, b.create<tensor::ExtractOp>(operands[1], at), size);
    return {b.create<tensor::InsertOp>(b.create<tensor::ExtractOp>(operands[2], at), carried[0], to)};
  });
}

static LogicalResult downgradeReduction(Operation *op, PatternRewriter &rewriter) {
  auto reduction = op->getAttrOfType<StringAttr>("reduction");
  if (getPreviousVersion(op) == 16 && reduction && (reduction == "max" || reduction == "min"))
    return refuseDowngrade(op) << "it has no reduction '" << reduction.getValue() << "'";
  return downgradeStep(op, rewriter, {{"reduction", "none"}});
}

STRATA_SLICE(Scatter) {
  ops.add("Scatter",
          {.inferShapes = inferScatterElements, .upgrade = toScatterElements, .lower = lowerScatter, .handles = true});
  ops.add("ScatterElements", {.verify = verifyReduction,
                              .inferShapes = inferScatterElements,
                              .upgrade = keepAttributes,
                              .downgrade = downgradeReduction,
                              .lower = lowerScatterElements,
                              .handles = true});
  ops.add("ScatterND", {.verify = verifyReduction,
                        .inferShapes = inferScatterND,
                        .upgrade = keepAttributes,
                        .downgrade = downgradeReduction,
                        .lower = lowerScatterND,
                        .handles = true});
}
