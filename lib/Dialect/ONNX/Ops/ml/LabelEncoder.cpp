//===- LabelEncoder.cpp - ml.LabelEncoder, ml.CategoryMapper: values for keys -------------===//

#include "../Search.h"
#include "Dialect/VersionSteps.h"

// The list that an attribute `stem`_* holds, as a tensor; null if there is none.
static ElementsAttr getList(Operation *op, StringRef stem) {
  Builder b(op->getContext());
  auto type = [](size_t size, Type element) { return RankedTensorType::get({static_cast<int64_t>(size)}, element); };
  auto get = [&](StringRef suffix) { return op->getAttr((stem + suffix).str()); };
  if (auto tensor = dyn_cast_or_null<ElementsAttr>(get("_tensor")))
    return tensor;
  if (auto list = dyn_cast_or_null<DenseF32ArrayAttr>(get("_floats")))
    return DenseElementsAttr::get(type(list.size(), b.getF32Type()), list.asArrayRef());
  if (auto list = dyn_cast_or_null<DenseI64ArrayAttr>(get("_int64s")))
    return DenseElementsAttr::get(type(list.size(), b.getI64Type()), list.asArrayRef());
  if (auto list = dyn_cast_or_null<ArrayAttr>(get("_strings"))) {
    SmallVector<StringRef> strings;
    for (StringAttr string : list.getAsRange<StringAttr>())
      strings.push_back(string.getValue());
    return DenseStringElementsAttr::get(type(strings.size(), StringType::get(op->getContext())), strings);
  }
  return {};
}

// How many of the stem's attributes are there.
static unsigned countLists(Operation *op, StringRef stem) {
  return llvm::count_if(ArrayRef<StringRef>{"_tensor", "_floats", "_int64s", "_strings"},
                        [&](StringRef suffix) { return static_cast<bool>(op->getAttr((stem + suffix).str())); });
}

static LogicalResult verifyLabelEncoder(Operation *op) {
  if (cast<VersionedOpInterface>(op).getSinceVersion() == 1)
    return success(); // Without classes_strings it knows no labels.
  for (StringRef stem : {"keys", "values"})
    if (unsigned count = countLists(op, stem); count != 1)
      return op->emitOpError("needs one attribute ") << stem << "_*, and has " << count;
  ElementsAttr keys = getList(op, "keys"), values = getList(op, "values");
  if (keys.getNumElements() != values.getNumElements())
    return op->emitOpError("has ") << keys.getNumElements() << " keys and " << values.getNumElements() << " values";
  auto input = dyn_cast<TensorType>(op->getOperand(0).getType());
  if (input && input.getElementType() != keys.getElementType())
    return op->emitOpError("has keys of type ")
           << getTypeString(keys.getShapedType()) << " for an input of type " << getTypeString(input);
  return success();
}

static LogicalResult inferLabelEncoder(ShapeContext &c) {
  Operation *op = c.getOperation();
  if (c.version() == 1)
    c.setElementType(0, isa<StringType>(c.elementType(0)) ? Type(IntegerType::get(c.getContext(), 64))
                                                          : StringType::get(c.getContext()));
  else if (ElementsAttr values = getList(op, "values"))
    c.setElementType(0, values.getElementType());
  c.copyShape(0);
  return success();
}

static LogicalResult upgradeLabelEncoder(Operation *op, PatternRewriter &rewriter) {
  // NaN keys matched NaNs of the same bits only; that no producer can mean.
  if (cast<VersionedOpInterface>(op).getSinceVersion() != 1)
    return keepAttributes(op, rewriter);
  auto classes = op->getAttrOfType<ArrayAttr>("classes_strings");
  if (!classes)
    classes = rewriter.getArrayAttr({});
  auto numbers = rewriter.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(0, classes.size())));
  bool fromText = isa<StringType>(getElementType(op->getOperand(0)));
  return changeAttributes(op, rewriter, {"classes_strings"},
                          {rewriter.getNamedAttr(fromText ? "keys_strings" : "values_strings", classes),
                           rewriter.getNamedAttr(fromText ? "values_int64s" : "keys_int64s", numbers)});
}

// A number's value of its kind's default attribute.
static Value getDefault(Operation *op, LinalgBuilder &b, Type element) {
  if (auto tensor = op->getAttrOfType<ElementsAttr>("default_tensor");
      tensor && tensor.getElementType() == element && tensor.getNumElements() == 1)
    return b.extractScalar(b.constant(tensor));
  if (isa<StringType>(element)) {
    auto attr = op->getAttrOfType<StringAttr>("default_string");
    return stringConstant(b, attr ? attr.getValue() : "_Unused");
  }
  if (isa<FloatType>(element)) {
    auto attr = op->getAttrOfType<FloatAttr>("default_float");
    return b.scalar(element, attr ? attr.getValueAsDouble() : -0.0);
  }
  auto attr = op->getAttrOfType<IntegerAttr>("default_int64");
  return b.scalarInt(element, attr ? attr.getInt() : -1);
}

// Looks the elements of `x` up among `keys` and gives the value of the last equal one.
static Value lookUp(Operation *op, LinalgBuilder &b, Value x, ElementsAttr keys, ElementsAttr values) {
  Type to = values.getElementType();
  auto flat = [&](ElementsAttr list) { return RankedTensorType::get({list.getNumElements()}, list.getElementType()); };
  Value otherwise = getDefault(op, b, to);
  if (keys.getNumElements() == 0)
    return b.fill(b.sizes(x), otherwise);
  Value results = b.reshape(b.constant(values), getAsIndexOpFoldResult(b.getContext(), flat(values).getShape()));
  Value positions = KeySearch(b, keys).findAll(b, x, keys.getElementType());
  return b.elementwise(positions, getSeamElementType(to), [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    Value zero = n.create<arith::ConstantOp>(n.getI64IntegerAttr(0));
    Value found = n.create<arith::CmpIOp>(arith::CmpIPredicate::sge, v[0], zero);
    Value at = n.create<arith::IndexCastOp>(n.getIndexType(), n.create<arith::MaxSIOp>(v[0], zero));
    return n.create<arith::SelectOp>(found, n.create<tensor::ExtractOp>(results, at), otherwise);
  });
}

static FailureOr<SmallVector<Value>> lowerLabelEncoder(Operation *op, ValueRange operands, LinalgBuilder &b) {
  return SmallVector<Value>{lookUp(op, b, operands[0], getList(op, "keys"), getList(op, "values"))};
}

//===----------------------------------------------------------------------===//
// ml.CategoryMapper: between strings and integers, either way
//===----------------------------------------------------------------------===//

static LogicalResult verifyMapper(Operation *op) {
  auto integers = op->getAttrOfType<DenseI64ArrayAttr>("cats_int64s");
  auto names = op->getAttrOfType<ArrayAttr>("cats_strings");
  if (!integers || !names || static_cast<int64_t>(names.size()) != integers.size())
    return op->emitOpError("needs cats_int64s and cats_strings of one length");
  return success();
}

static LogicalResult inferMapper(ShapeContext &c) {
  c.setElementType(0, isa<StringType>(c.elementType(0)) ? Type(IntegerType::get(c.getContext(), 64))
                                                        : StringType::get(c.getContext()));
  c.copyShape(0);
  return success();
}

static FailureOr<SmallVector<Value>> lowerMapper(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto integers = op->getAttrOfType<DenseI64ArrayAttr>("cats_int64s");
  auto names = op->getAttrOfType<ArrayAttr>("cats_strings");
  SmallVector<StringRef> list;
  for (StringAttr name : names.getAsRange<StringAttr>())
    list.push_back(name.getValue());
  auto numbers =
      DenseElementsAttr::get(RankedTensorType::get({integers.size()}, b.getI64Type()), integers.asArrayRef());
  auto strings =
      DenseStringElementsAttr::get(RankedTensorType::get({integers.size()}, StringType::get(op->getContext())), list);
  bool fromText = isa<StringType>(getElementType(op->getOperand(0)));
  return SmallVector<Value>{fromText ? lookUp(op, b, operands[0], strings, numbers)
                                     : lookUp(op, b, operands[0], numbers, strings)};
}

STRATA_SLICE(LabelEncoder) {
  ops.add("ml.LabelEncoder", {.verify = verifyLabelEncoder,
                              .inferShapes = inferLabelEncoder,
                              .upgrade = upgradeLabelEncoder,
                              .downgrade = downgradePlainly,
                              .lower = lowerLabelEncoder,
                              .handles = true});
  ops.add("ml.CategoryMapper",
          {.verify = verifyMapper, .inferShapes = inferMapper, .lower = lowerMapper, .handles = true});
}
