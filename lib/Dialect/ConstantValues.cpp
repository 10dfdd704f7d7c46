//===- ConstantValues.cpp - constants and compile-time integers -----------===//

#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/OpBehavior.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace strata {

// Shapes are short; a longer list is no shape computation.
static constexpr int64_t kMaxElements = 256;

// The dense form of a sparse constant; null for element types without a zero attribute, and for huge tensors.
static ElementsAttr makeDense(onnx::SparseElementsAttr sparse) {
  constexpr int64_t maxElements = int64_t(1) << 28;
  auto type = RankedTensorType::get(sparse.getShape(), sparse.getValues().getElementType());
  auto indices = getIntegers(sparse.getIndices());
  auto values = dyn_cast<DenseElementsAttr>(sparse.getValues());
  if (!indices || !values || !type.getElementType().isIntOrFloat() || type.getNumElements() > maxElements)
    return {};
  int64_t rank = type.getRank(), count = values.getNumElements();
  bool isLinear = sparse.getIndices().getShapedType().getRank() == 1;
  Attribute zero = Builder(type.getContext()).getZeroAttr(type.getElementType());
  SmallVector<Attribute> elements(type.getNumElements(), zero);
  for (auto [i, value] : llvm::enumerate(values.getValues<Attribute>())) {
    int64_t at = 0;
    if (isLinear)
      at = (*indices)[i];
    else
      for (int64_t d = 0; d < rank; ++d)
        at = at * type.getDimSize(d) + (*indices)[i * rank + d];
    if (at < 0 || at >= type.getNumElements() || static_cast<int64_t>(i) >= count)
      return {};
    elements[at] = value;
  }
  return DenseElementsAttr::get(type, elements);
}

// What the operator Constant holds: one of several attributes.
static ElementsAttr getConstantOperator(Operation *op) {
  Builder b(op->getContext());
  auto vector = [](size_t size, Type element) { return RankedTensorType::get({static_cast<int64_t>(size)}, element); };
  if (auto value = op->getAttrOfType<ElementsAttr>("value"))
    return value;
  if (auto value = op->getAttrOfType<onnx::SparseElementsAttr>("sparse_value"))
    return makeDense(value);
  if (auto value = op->getAttrOfType<FloatAttr>("value_float"))
    return DenseElementsAttr::get(RankedTensorType::get({}, b.getF32Type()), value.getValue());
  if (auto value = op->getAttrOfType<IntegerAttr>("value_int"))
    return DenseElementsAttr::get(RankedTensorType::get({}, b.getI64Type()), value.getInt());
  Type string = onnx::StringType::get(op->getContext());
  if (auto value = op->getAttrOfType<StringAttr>("value_string"))
    return DenseStringElementsAttr::get(RankedTensorType::get({}, string), value.getValue());
  if (auto values = op->getAttrOfType<ArrayAttr>("value_strings")) {
    SmallVector<StringRef> strings;
    for (StringAttr value : values.getAsRange<StringAttr>())
      strings.push_back(value.getValue());
    return DenseStringElementsAttr::get(vector(strings.size(), string), strings);
  }
  if (auto value = op->getAttrOfType<DenseF32ArrayAttr>("value_floats"))
    return DenseElementsAttr::get(vector(value.size(), b.getF32Type()), value.asArrayRef());
  if (auto value = op->getAttrOfType<DenseI64ArrayAttr>("value_ints"))
    return DenseElementsAttr::get(vector(value.size(), b.getI64Type()), value.asArrayRef());
  return {};
}

ElementsAttr getConstant(Value value) {
  while (auto cast = value ? value.getDefiningOp<onnx::CastShapeOp>() : onnx::CastShapeOp())
    value = cast.getInput();
  Attribute attr;
  if (value && matchPattern(value, m_Constant(&attr)))
    return dyn_cast_or_null<ElementsAttr>(attr);
  Operation *op = value ? value.getDefiningOp() : nullptr;
  if (op && isa<VersionedOpInterface>(op) && getUnversionedName(op) == "Constant")
    return getConstantOperator(op);
  return {};
}

// Reads elements of `width` bytes from a resource's bytes.
template <typename T, typename Out>
static std::optional<SmallVector<Out>> readResource(DenseResourceElementsAttr attr) {
  AsmResourceBlob *blob = attr.getRawHandle().getBlob();
  int64_t count = attr.getType().getNumElements();
  if (!blob || blob->getData().size() < count * sizeof(T))
    return std::nullopt;
  SmallVector<Out> out;
  out.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    T element;
    memcpy(&element, blob->getData().data() + i * sizeof(T), sizeof(T));
    out.push_back(static_cast<Out>(element));
  }
  return out;
}

std::optional<SmallVector<int64_t>> getIntegers(ElementsAttr attr) {
  if (!attr)
    return std::nullopt;
  auto type = dyn_cast<IntegerType>(attr.getElementType());
  if (!type)
    return std::nullopt;
  bool isSigned = !type.isUnsigned() && type.getWidth() > 1;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    switch (type.getWidth()) {
    case 1:
      return readResource<uint8_t, int64_t>(resource);
    case 8:
      return isSigned ? readResource<int8_t, int64_t>(resource) : readResource<uint8_t, int64_t>(resource);
    case 16:
      return isSigned ? readResource<int16_t, int64_t>(resource) : readResource<uint16_t, int64_t>(resource);
    case 32:
      return isSigned ? readResource<int32_t, int64_t>(resource) : readResource<uint32_t, int64_t>(resource);
    case 64:
      return readResource<int64_t, int64_t>(resource);
    default:
      return std::nullopt;
    }
  }
  auto dense = dyn_cast<DenseIntElementsAttr>(attr);
  if (!dense)
    return std::nullopt;
  SmallVector<int64_t> out;
  for (APInt element : dense.getValues<APInt>())
    out.push_back(isSigned ? element.getSExtValue() : static_cast<int64_t>(element.getZExtValue()));
  return out;
}

std::optional<SmallVector<double>> getFloats(ElementsAttr attr) {
  if (!attr || !isa<FloatType>(attr.getElementType()))
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    if (attr.getElementType().isF32())
      return readResource<float, double>(resource);
    if (attr.getElementType().isF64())
      return readResource<double, double>(resource);
    return std::nullopt;
  }
  auto dense = dyn_cast<DenseFPElementsAttr>(attr);
  if (!dense)
    return std::nullopt;
  SmallVector<double> out;
  for (APFloat element : dense.getValues<APFloat>()) {
    bool inexact;
    element.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    out.push_back(element.convertToDouble());
  }
  return out;
}

const ValueAnalysis::Values &ValueAnalysis::get(Value value) {
  static const Values unknown;
  return value && isa<IntegerType>(getElementTypeOrSelf(value)) ? getElements(value) : unknown;
}

const ValueAnalysis::Values &ValueAnalysis::getElements(Value value) {
  static const Values unknown;
  // Chains of shape computations are short; the bound only guards the stack.
  constexpr unsigned maxDepth = 200;
  if (auto it = known.find(value); it != known.end())
    return it->second;
  if (!value || depth > maxDepth)
    return unknown;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !(isa<IntegerType, Float32Type, Float64Type>(type.getElementType())))
    return unknown;
  Values result;
  if (ElementsAttr constant = getConstant(value)) {
    if (type.getNumElements() <= kMaxElements)
      if (auto integers = getIntegers(constant))
        result.emplace(integers->begin(), integers->end());
      else if (auto floats = getFloats(constant))
        result = llvm::map_to_vector(*floats, Dim::ofFloat);
  } else if (auto cast = value.getDefiningOp<onnx::CastShapeOp>()) {
    result = getElements(cast.getInput());
  } else if (Operation *op = value.getDefiningOp(); op && op->getResult(0) == value && isa<VersionedOpInterface>(op)) {
    if (auto infer = getBehavior(op).inferValues) {
      ++depth;
      ShapeContext context(op, *this);
      result = infer(context);
      --depth;
      if (result && result->size() > kMaxElements)
        result.reset();
    }
  }
  return known[value] = std::move(result);
}

} // namespace strata
