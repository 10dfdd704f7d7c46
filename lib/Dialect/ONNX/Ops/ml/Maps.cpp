//===- Maps.cpp - ml.ZipMap, ml.DictVectorizer, ml.CastMap ----------------===//

#include "../Containers.h"

// Labels of one of two attributes: strings or integers.
static Type labelType(Operation *op, StringRef strings) {
  return op->hasAttr(strings) ? Type(StringType::get(op->getContext())) : IntegerType::get(op->getContext(), 64);
}

static int64_t countLabels(Operation *op, StringRef strings, StringRef integers) {
  if (auto list = op->getAttrOfType<ArrayAttr>(strings))
    return list.size();
  auto list = op->getAttrOfType<DenseI64ArrayAttr>(integers);
  return list ? list.size() : 0;
}

// The labels as the elements of a key tensor.
static Value makeLabels(Operation *op, LinalgBuilder &b, StringRef strings, StringRef integers) {
  if (auto list = op->getAttrOfType<ArrayAttr>(strings)) {
    SmallVector<StringRef> labels;
    for (StringAttr label : list.getAsRange<StringAttr>())
      labels.push_back(label.getValue());
    return stringConstants(b, labels);
  }
  auto list = op->getAttrOfType<DenseI64ArrayAttr>(integers);
  return b.constant(DenseElementsAttr::get(RankedTensorType::get({list.size()}, b.getI64Type()), list.asArrayRef()));
}

// Labels are strings or integers.
static LogicalResult requireLabels(Operation *op, StringRef strings, StringRef integers) {
  if (op->hasAttr(strings) == op->hasAttr(integers))
    return op->emitOpError("needs one of the attributes '") << strings << "' and '" << integers << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// ZipMap: a map for each row
//===----------------------------------------------------------------------===//

static LogicalResult inferZipMap(ShapeContext &c) {
  if (auto rank = c.rank(0); rank && *rank != 1 && *rank != 2)
    return c.emitError() << "needs an input of rank 1 or 2, not " << *rank;
  Operation *op = c.getOperation();
  if (!op->hasAttr("classlabels_strings") && !op->hasAttr("classlabels_int64s"))
    return success();
  int64_t labels = countLabels(op, "classlabels_strings", "classlabels_int64s");
  if (auto shape = c.shape(0); shape && shape->back().isStatic() && shape->back().size != labels)
    return c.emitError() << "has " << labels << " labels for rows of " << shape->back().size << " values";
  Type key = labelType(op, "classlabels_strings");
  // Whether the model calls the values numbers or tensors of one does not matter.
  if (auto declared = dyn_cast<SeqType>(op->getResult(0).getType()))
    if (auto map = dyn_cast<MapType>(declared.getElement()); map && getElementTypeOrSelf(map.getKey()) == key)
      return c.setType(0, declared), success();
  Type map = MapType::get(c.getContext(), key, Float32Type::get(c.getContext()));
  c.setType(0, SeqType::get(c.getContext(), map));
  return success();
}

static FailureOr<SmallVector<Value>> lowerZipMap(Operation *op, ValueRange operands, LinalgBuilder &b) {
  if (failed(requireLabels(op, "classlabels_strings", "classlabels_int64s")))
    return failure();
  Value rows = operands[0];
  if (getRank(rows) == 1)
    rows = b.unsqueeze(rows, {0});
  int64_t count = countLabels(op, "classlabels_strings", "classlabels_int64s");
  b.checkEqual(b.dim(rows, 1), b.getIndexAttr(count), "a row has not as many values as there are labels");
  Value labels = makeLabels(op, b, "classlabels_strings", "classlabels_int64s");
  return SmallVector<Value>{b.fromScalar(callRuntime(
      b, "strata_rt_zip_map", {rows, labels, dtypeOf(b, labelType(op, "classlabels_strings"))}, b.getI64Type()))};
}

//===----------------------------------------------------------------------===//
// DictVectorizer: the values of a vocabulary's keys; CastMap: all values in the order of the keys
//===----------------------------------------------------------------------===//

static Type valueType(Type map) { return getElementTypeOrSelf(cast<MapType>(map).getValue()); }

static LogicalResult verifyDictVectorizer(Operation *op) {
  return requireLabels(op, "string_vocabulary", "int64_vocabulary");
}

static LogicalResult inferDictVectorizer(ShapeContext &c) {
  c.setType(0, makeTensorType({Dim(1), Dim(countLabels(c.getOperation(), "string_vocabulary", "int64_vocabulary"))},
                              valueType(c.input(0).getType())));
  return success();
}

static FailureOr<SmallVector<Value>> lowerDictVectorizer(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto map = cast<MapType>(op->getOperand(0).getType());
  if (getElementTypeOrSelf(map.getKey()) != labelType(op, "string_vocabulary"))
    return op->emitOpError("cannot be compiled: its vocabulary is not of the type of the keys");
  int64_t count = countLabels(op, "string_vocabulary", "int64_vocabulary");
  Value labels = makeLabels(op, b, "string_vocabulary", "int64_vocabulary");
  Value buffer = makeBuffer(b, {b.getIndexAttr(1), b.getIndexAttr(count)}, getSeamElementType(valueType(map)));
  callRuntime(b, "strata_rt_map_values", {b.extractScalar(operands[0]), labels, buffer});
  return SmallVector<Value>{bufferToTensor(b, buffer)};
}

static LogicalResult verifyCastMap(Operation *op) {
  auto to = op->getAttrOfType<StringAttr>("cast_to"), form = op->getAttrOfType<StringAttr>("map_form");
  if (to && !llvm::is_contained({"TO_FLOAT", "TO_STRING", "TO_INT64"}, to.getValue()))
    return op->emitOpError("cast_to is '") << to.getValue() << "', but must be TO_FLOAT, TO_STRING or TO_INT64";
  if (form && !llvm::is_contained({"DENSE", "SPARSE"}, form.getValue()))
    return op->emitOpError("map_form is '") << form.getValue() << "', but must be DENSE or SPARSE";
  return success();
}

static Type castTarget(Operation *op) {
  auto to = op->getAttrOfType<StringAttr>("cast_to");
  if (!to || to == "TO_FLOAT")
    return Float32Type::get(op->getContext());
  return to == "TO_STRING" ? Type(StringType::get(op->getContext())) : IntegerType::get(op->getContext(), 64);
}

static int64_t sparseWidth(Operation *op) {
  auto form = op->getAttrOfType<StringAttr>("map_form");
  if (!form || form != "SPARSE")
    return -1;
  auto width = op->getAttrOfType<IntegerAttr>("max_map");
  return width ? width.getInt() : 1;
}

static LogicalResult inferCastMap(ShapeContext &c) {
  int64_t width = sparseWidth(c.getOperation());
  c.setType(0, makeTensorType({Dim(1), width < 0 ? Dim() : Dim(width)}, castTarget(c.getOperation())));
  return success();
}

static FailureOr<SmallVector<Value>> lowerCastMap(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type i64 = b.getI64Type(), from = valueType(op->getOperand(0).getType()), to = castTarget(op);
  Value map = b.extractScalar(operands[0]);
  int64_t width = sparseWidth(op);
  OpFoldResult size = b.getIndexAttr(std::max<int64_t>(width, 0));
  if (width < 0)
    size = b.create<arith::IndexCastOp>(b.getIndexType(), callRuntime(b, "strata_rt_map_size", map, i64)).getResult();
  Value buffer = makeBuffer(b, {b.getIndexAttr(1), size}, getSeamElementType(from));
  bool fromText = isa<StringType>(from), toText = isa<StringType>(to);
  Value none = stringConstant(b, fromText && !toText ? "0" : "");
  callRuntime(b, "strata_rt_map_list", {map, b.scalarInt(i64, width), none, buffer}, {}, /*located=*/true);
  Value values = bufferToTensor(b, buffer);
  if (from == to)
    return SmallVector<Value>{values};
  return SmallVector<Value>{mapElements(b, values, getSeamElementType(to), [&](ValueRange x) -> Value {
    if (toText)
      return callRuntime(b, "strata_rt_string_from_float",
                         {scalar::convert(b, x[0], from, b.getF64Type()), dtypeOf(b, from)}, i64);
    if (fromText && isa<IntegerType>(to))
      return callRuntime(b, "strata_rt_string_to_integer", {x[0], dtypeOf(b, to)}, i64, /*located=*/true);
    if (fromText)
      return scalar::convert(b, callRuntime(b, "strata_rt_string_to_float", x[0], b.getF64Type(), /*located=*/true),
                             b.getF64Type(), to);
    return scalar::convert(b, x[0], from, to);
  })};
}

STRATA_SLICE(Maps) {
  ops.add("ml.ZipMap", {.inferShapes = inferZipMap, .lower = lowerZipMap, .handles = true});
  ops.add("ml.DictVectorizer", {.verify = verifyDictVectorizer,
                                .inferShapes = inferDictVectorizer,
                                .lower = lowerDictVectorizer,
                                .handles = true});
  ops.add("ml.CastMap", {.verify = verifyCastMap, .inferShapes = inferCastMap, .lower = lowerCastMap, .handles = true});
}
