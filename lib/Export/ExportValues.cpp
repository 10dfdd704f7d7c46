//===- ExportValues.cpp - types, tensors and attributes to protobuf -------===//

#include "ExportValues.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using namespace mlir;
using ::onnx::AttributeProto;

namespace strata::exporter {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static LogicalResult exportElement(Type element, int32_t &out, EmitError error) {
  std::optional<onnx::ElementKind> kind = onnx::getElementKind(element);
  if (!kind)
    return error() << "ONNX has no element type for " << element;
  out = onnx::getDataType(*kind);
  return success();
}

static void exportShape(RankedTensorType type, proto::TensorShapeProto &out) {
  auto names = dyn_cast_or_null<onnx::DimsAttr>(type.getEncoding());
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    auto *dim = out.add_dim();
    if (!ShapedType::isDynamic(size))
      dim->set_dim_value(size);
    else if (names && i < names.getNames().size() && !names.getNames()[i].empty())
      dim->set_dim_param(names.getNames()[i].str());
  }
}

LogicalResult exportType(Type type, proto::TypeProto &out, EmitError error) {
  int32_t element = 0;
  if (auto tensor = dyn_cast<TensorType>(type)) {
    if (failed(exportElement(tensor.getElementType(), element, error)))
      return failure();
    out.mutable_tensor_type()->set_elem_type(element);
    if (auto ranked = dyn_cast<RankedTensorType>(type))
      exportShape(ranked, *out.mutable_tensor_type()->mutable_shape());
    return success();
  }
  if (auto sparse = dyn_cast<onnx::SparseTensorType>(type)) {
    if (failed(exportElement(sparse.getDense().getElementType(), element, error)))
      return failure();
    out.mutable_sparse_tensor_type()->set_elem_type(element);
    exportShape(sparse.getDense(), *out.mutable_sparse_tensor_type()->mutable_shape());
    return success();
  }
  if (auto seq = dyn_cast<onnx::SeqType>(type))
    return exportType(seq.getElement(), *out.mutable_sequence_type()->mutable_elem_type(), error);
  if (auto optional = dyn_cast<onnx::OptionalType>(type))
    return exportType(optional.getElement(), *out.mutable_optional_type()->mutable_elem_type(), error);
  if (auto map = dyn_cast<onnx::MapType>(type)) {
    if (failed(exportElement(map.getKey(), element, error)))
      return failure();
    out.mutable_map_type()->set_key_type(element);
    return exportType(map.getValue(), *out.mutable_map_type()->mutable_value_type(), error);
  }
  return error() << "ONNX has no type for " << type;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Bits of an element in raw data.
static unsigned rawBits(Type element) {
  if (isa<onnx::F4E2M1Type>(element))
    return 4;
  if (isa<onnx::F6E2M3Type, onnx::F6E3M2Type>(element))
    return 6;
  if (isa<onnx::F8E8M0Type>(element) || element.isInteger(1))
    return 8;
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  return element.getIntOrFloatBitWidth();
}

/// The elements in row-major order, one byte or more each. Fails if a resource is not there.
static FailureOr<std::string> elementBytes(ElementsAttr value, EmitError error) {
  Type element = value.getElementType();
  size_t count = value.getNumElements(), width = std::max(rawBits(element), 8u) / 8;
  std::string bytes;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return error() << "the data of resource '" << resource.getRawHandle().getKey() << "' is missing", failure();
    if (blob->getData().size() != count * width)
      return error() << "resource '" << resource.getRawHandle().getKey() << "' has " << blob->getData().size()
                     << " bytes, its type needs " << count * width,
             failure();
    return std::string(blob->getData().begin(), blob->getData().end());
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return error() << "constants of this kind cannot be exported", failure();
  bytes.reserve(count * width);
  if (element.isInteger() && element.getIntOrFloatBitWidth() < 8) {
    for (APInt item : dense.getValues<APInt>())
      bytes.push_back(static_cast<char>(item.getZExtValue()));
    return bytes;
  }
  ArrayRef<char> raw = dense.getRawData();
  for (size_t i = 0; i < (dense.isSplat() ? count : 1); ++i)
    bytes.append(raw.begin(), raw.end());
  return bytes;
}

LogicalResult exportTensor(ElementsAttr value, proto::TensorProto &out, EmitError error) {
  ShapedType type = value.getShapedType();
  int32_t dataType = 0;
  if (failed(exportElement(type.getElementType(), dataType, error)))
    return failure();
  out.set_data_type(dataType);
  for (int64_t dim : type.getShape())
    out.add_dims(dim);
  if (auto strings = dyn_cast<DenseStringElementsAttr>(value)) {
    for (StringRef string : strings.getValues<StringRef>())
      out.add_string_data(string.str());
    return success();
  }
  FailureOr<std::string> bytes = elementBytes(value, error);
  if (failed(bytes))
    return failure();
  if (unsigned bits = rawBits(type.getElementType()); bits < 8) {
    std::string packed(divideCeil(bytes->size() * bits, 8), '\0');
    for (size_t i = 0; i < bytes->size(); ++i)
      for (unsigned bit = 0; bit < bits; ++bit)
        if ((*bytes)[i] >> bit & 1)
          packed[(i * bits + bit) / 8] |= 1 << ((i * bits + bit) % 8);
    *bytes = std::move(packed);
  }
  out.set_raw_data(std::move(*bytes));
  return success();
}

LogicalResult exportSparse(ElementsAttr dense, bool linear, proto::SparseTensorProto &out, EmitError error) {
  auto &values = *out.mutable_values(), &indices = *out.mutable_indices();
  int32_t dataType = 0;
  if (failed(exportElement(dense.getElementType(), dataType, error)))
    return failure();
  ArrayRef<int64_t> shape = dense.getShapedType().getShape();
  for (int64_t dim : shape)
    out.add_dims(dim);
  values.set_data_type(dataType);
  indices.set_data_type(proto::TensorProto::INT64);

  auto strings = dyn_cast<DenseStringElementsAttr>(dense);
  std::string bytes;
  if (!strings) {
    if (rawBits(dense.getElementType()) < 8)
      return error() << "sparse tensors of packed elements cannot be exported";
    FailureOr<std::string> read = elementBytes(dense, error);
    if (failed(read))
      return failure();
    bytes = std::move(*read);
  }
  size_t count = dense.getNumElements(), width = count ? bytes.size() / count : 0;
  int64_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    if (strings) {
      if (strings.getValues<StringRef>()[i].empty())
        continue;
      values.add_string_data(strings.getValues<StringRef>()[i].str());
    } else {
      StringRef item = StringRef(bytes).substr(i * width, width);
      if (item.find_first_not_of('\0') == StringRef::npos)
        continue;
      values.mutable_raw_data()->append(item.data(), item.size());
    }
    ++found;
    if (linear) {
      indices.add_int64_data(i);
      continue;
    }
    int64_t rest = count, position = i;
    for (int64_t dim : shape) {
      rest /= dim;
      indices.add_int64_data(position / rest);
      position %= rest;
    }
  }
  if (!strings && !found)
    values.set_raw_data("");
  values.add_dims(found);
  indices.add_dims(found);
  if (!linear)
    indices.add_dims(shape.size());
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static LogicalResult exportArray(ArrayAttr array, AttributeProto &out, EmitError error) {
  // An empty array is taken for strings, the only kind that operators of ONNX itself have.
  Attribute first = array.empty() ? Attribute() : array[0];
  out.set_type(isa_and_nonnull<ElementsAttr>(first)               ? AttributeProto::TENSORS
               : isa_and_nonnull<onnx::SparseElementsAttr>(first) ? AttributeProto::SPARSE_TENSORS
               : isa_and_nonnull<TypeAttr>(first)                 ? AttributeProto::TYPE_PROTOS
                                                                  : AttributeProto::STRINGS);
  for (Attribute item : array) {
    AttributeProto one;
    if (failed(exportAttribute(item, one, error)))
      return failure();
    if (auto string = dyn_cast<StringAttr>(item); string && out.type() == AttributeProto::STRINGS)
      out.add_strings(string.str());
    else if (one.type() == AttributeProto::TENSOR && out.type() == AttributeProto::TENSORS)
      *out.add_tensors() = std::move(*one.mutable_t());
    else if (one.type() == AttributeProto::SPARSE_TENSOR && out.type() == AttributeProto::SPARSE_TENSORS)
      *out.add_sparse_tensors() = std::move(*one.mutable_sparse_tensor());
    else if (one.type() == AttributeProto::TYPE_PROTO && out.type() == AttributeProto::TYPE_PROTOS)
      *out.add_type_protos() = std::move(*one.mutable_tp());
    else
      return error() << "ONNX has no attribute for the array " << array;
  }
  return success();
}

LogicalResult exportAttribute(Attribute value, AttributeProto &out, EmitError error) {
  return llvm::TypeSwitch<Attribute, LogicalResult>(value)
      .Case<FloatAttr>([&](FloatAttr attr) -> LogicalResult {
        if (!attr.getType().isF32())
          return error() << "ONNX has no attribute for " << attr;
        out.set_type(AttributeProto::FLOAT);
        out.set_f(attr.getValue().convertToFloat());
        return success();
      })
      .Case<IntegerAttr>([&](IntegerAttr attr) -> LogicalResult {
        if (!attr.getType().isSignlessInteger(64))
          return error() << "ONNX has no attribute for " << attr;
        out.set_type(AttributeProto::INT);
        out.set_i(attr.getInt());
        return success();
      })
      .Case<StringAttr>([&](StringAttr attr) {
        out.set_type(AttributeProto::STRING);
        out.set_s(attr.str());
        return success();
      })
      .Case<DenseF32ArrayAttr>([&](DenseF32ArrayAttr attr) {
        out.set_type(AttributeProto::FLOATS);
        out.mutable_floats()->Add(attr.asArrayRef().begin(), attr.asArrayRef().end());
        return success();
      })
      .Case<DenseI64ArrayAttr>([&](DenseI64ArrayAttr attr) {
        out.set_type(AttributeProto::INTS);
        out.mutable_ints()->Add(attr.asArrayRef().begin(), attr.asArrayRef().end());
        return success();
      })
      .Case<ElementsAttr>([&](ElementsAttr attr) {
        out.set_type(AttributeProto::TENSOR);
        return exportTensor(attr, *out.mutable_t(), error);
      })
      .Case<onnx::SparseElementsAttr>([&](onnx::SparseElementsAttr attr) {
        out.set_type(AttributeProto::SPARSE_TENSOR);
        auto &sparse = *out.mutable_sparse_tensor();
        for (int64_t dim : attr.getShape())
          sparse.add_dims(dim);
        return success(succeeded(exportTensor(attr.getValues(), *sparse.mutable_values(), error)) &&
                       succeeded(exportTensor(attr.getIndices(), *sparse.mutable_indices(), error)));
      })
      .Case<TypeAttr>([&](TypeAttr attr) {
        out.set_type(AttributeProto::TYPE_PROTO);
        return exportType(attr.getValue(), *out.mutable_tp(), error);
      })
      .Case<ArrayAttr>([&](ArrayAttr attr) { return exportArray(attr, out, error); })
      .Default([&](Attribute attr) -> LogicalResult { return error() << "ONNX has no attribute for " << attr; });
}

} // namespace strata::exporter
