//===- Features.cpp - ArrayFeatureExtractor, Binarizer, FeatureVectorizer -===//

#include "../Elementwise.h"
#include "../Indexing.h"

//===----------------------------------------------------------------------===//
// ArrayFeatureExtractor: columns by their numbers
//===----------------------------------------------------------------------===//

static LogicalResult inferExtractor(ShapeContext &c) {
  std::optional<Shape> data = c.shape(0), indices = c.shape(1);
  if (!data)
    return success();
  if (data->empty())
    return c.emitError() << "X has no dimension to select from";
  // The indices count as a list, and a vector as a matrix of one row.
  Dim count(1);
  if (indices) {
    for (const Dim &dim : *indices)
      count = count * dim;
  } else {
    count = Dim();
  }
  Shape result(data->begin(), data->end() - 1);
  if (result.empty())
    result.push_back(Dim(1));
  result.push_back(count);
  c.setShape(0, result);
  return success();
}

static FailureOr<SmallVector<Value>> lowerExtractor(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0];
  auto type = cast<RankedTensorType>(data.getType());
  int64_t rank = type.getRank();
  indexing::checkRange(b, operands[1], b.dim(data, rank - 1), op->getOperand(1), "an index is out of range");
  Sizes sizes = b.sizes(data);
  Value width = b.index(sizes.back());
  OpFoldResult count = b.product(b.sizes(operands[1]));
  Value indices = b.reshape(operands[1], {count});
  sizes.back() = count;
  if (rank == 1)
    sizes.insert(sizes.begin(), b.getIndexAttr(1));
  return SmallVector<Value>{
      b.generate(sizes, type.getElementType(), [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
        SmallVector<Value> from(rank == 1 ? ValueRange() : at.drop_back());
        from.push_back(indexing::wrap(n, n.create<tensor::ExtractOp>(indices, at.back()), width));
        return n.create<tensor::ExtractOp>(data, from);
      })};
}

//===----------------------------------------------------------------------===//
// Binarizer: 1 above the threshold, else 0
//===----------------------------------------------------------------------===//

static LogicalResult inferBinarizer(ShapeContext &c) {
  c.copyShape(0);
  return success();
}

static FailureOr<SmallVector<Value>> lowerBinarizer(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type element = getSeamElementType(getElementType(op->getResult(0)));
  double threshold = 0;
  if (auto attr = op->getAttrOfType<FloatAttr>("threshold"))
    threshold = attr.getValueAsDouble();
  return SmallVector<Value>{b.elementwise(operands, element, [&](ImplicitLocOpBuilder &n, ValueRange x) -> Value {
    auto constant = [&](double value) -> Value {
      return n.create<arith::ConstantOp>(isa<FloatType>(element)
                                             ? TypedAttr(n.getFloatAttr(element, value))
                                             : TypedAttr(n.getIntegerAttr(element, static_cast<int64_t>(value))));
    };
    Value above;
    if (isa<FloatType>(element)) {
      above = n.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, x[0], constant(threshold));
    } else {
      // No integer lies between the threshold and its floor.
      double floor = std::floor(threshold);
      int64_t lowest = APInt::getSignedMinValue(element.getIntOrFloatBitWidth()).getSExtValue(), highest = ~lowest;
      if (!(floor >= static_cast<double>(lowest) && floor < static_cast<double>(highest)))
        return constant(floor < 0 ? 1 : 0);
      above = n.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, x[0], constant(floor));
    }
    return n.create<arith::SelectOp>(above, constant(1), constant(0));
  })};
}

//===----------------------------------------------------------------------===//
// FeatureVectorizer: rows side by side, as floats
//===----------------------------------------------------------------------===//

static LogicalResult inferVectorizer(ShapeContext &c) {
  auto sizes = c.integerArray("inputdimensions");
  unsigned count = c.numInputs(0);
  if (sizes && !sizes->empty() && sizes->size() != count)
    return c.emitError() << "'inputdimensions' has " << sizes->size() << " sizes for " << count << " inputs";
  Dim rows, width(0);
  for (unsigned k = 0; k < count; ++k) {
    std::optional<Shape> shape = c.shape(0, k);
    Dim columns, ownRows;
    if (shape) {
      if (shape->size() != 1 && shape->size() != 2)
        return c.emitError() << "needs inputs of rank 1 or 2, and input " << k << " has " << shape->size();
      columns = shape->back();
      ownRows = shape->size() == 1 ? Dim(1) : shape->front();
    }
    if (sizes && !sizes->empty()) {
      if (columns.isStatic() && !columns.is((*sizes)[k]))
        return c.emitError() << "input " << k << " has " << columns.size << " features, and 'inputdimensions' says "
                             << (*sizes)[k];
      columns = Dim((*sizes)[k]);
    }
    if (rows.isStatic() && ownRows.isStatic() && !rows.sameAs(ownRows))
      return c.emitError() << "inputs have " << rows.size << " and " << ownRows.size << " rows";
    if (ownRows.isStatic() || !rows.symbol)
      rows = rows.isStatic() ? rows : ownRows;
    width = width + columns;
  }
  c.setShape(0, {rows, width});
  return success();
}

static FailureOr<SmallVector<Value>> lowerVectorizer(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto sizes = op->getAttrOfType<DenseI64ArrayAttr>("inputdimensions");
  SmallVector<Value> parts;
  for (auto [k, x] : llvm::enumerate(operands)) {
    Type from = getElementType(op->getOperand(k)), f32 = b.getF32Type();
    Value part = cast<RankedTensorType>(x.getType()).getRank() == 1 ? b.unsqueeze(x, {0}) : x;
    if (sizes && !sizes.empty())
      b.checkEqual(b.dim(part, 1), b.getIndexAttr(sizes[k]),
                   "input " + Twine(k) + " has not the number of features that 'inputdimensions' says");
    if (!parts.empty())
      b.checkEqual(b.dim(parts.front(), 0), b.dim(part, 0), "the inputs have different numbers of rows");
    parts.push_back(b.elementwise(part, f32, [&, from = from](ImplicitLocOpBuilder &n, ValueRange v) {
      return scalar::convert(n, v[0], from, f32);
    }));
  }
  return SmallVector<Value>{parts.size() == 1 ? parts[0] : b.concat(parts, 1)};
}

STRATA_SLICE(Features) {
  ops.add("ml.ArrayFeatureExtractor", {.inferShapes = inferExtractor, .lower = lowerExtractor, .handles = true});
  ops.add("ml.FeatureVectorizer", {.inferShapes = inferVectorizer, .lower = lowerVectorizer});
  ops.add("ml.Binarizer", {.inferShapes = inferBinarizer, .lower = lowerBinarizer});
}
