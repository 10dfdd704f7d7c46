//===- ImportTensor.cpp - TensorProto to elements attributes --------------===//

#include "ImportTensor.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <cstring>
#include <unistd.h>

using namespace llvm;
using namespace mlir;
using ::onnx::TensorProto;

namespace strata::importer {

/// Tensors of at most this many bytes become dense attributes.
static constexpr size_t kLargestDense = 512;
/// What generated code wants of a weight's address.
static constexpr size_t kAlignment = 64;

static StringRef nameOf(int32_t dataType) { return onnx::getElementName(*onnx::getElementKindOfDataType(dataType)); }

static std::unique_ptr<WritableMemoryBuffer> allocate(size_t bytes) {
  return WritableMemoryBuffer::getNewUninitMemBuffer(bytes, "", Align(kAlignment));
}

static bool isSignedInteger(int32_t dataType) {
  switch (dataType) {
  case TensorProto::INT8:
  case TensorProto::INT16:
  case TensorProto::INT32:
  case TensorProto::INT64:
  case TensorProto::INT4:
  case TensorProto::INT2:
    return true;
  default:
    return false;
  }
}

FailureOr<RankedTensorType> TensorImporter::importTensorType(const TensorProto &tensor, const Trace &trace) {
  FailureOr<Type> element = importElementType(tensor.data_type(), trace);
  if (failed(element))
    return failure();
  if (tensor.has_segment())
    return trace.error() << "tensors in segments are not supported", failure();
  SmallVector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim < 0)
      return trace.error() << "dimension " << i << " is " << dim, failure();
  return makeTensorType(dims, {}, *element, trace);
}

//===----------------------------------------------------------------------===//
// Reading elements
//===----------------------------------------------------------------------===//

/// The number of elements or bytes that `tensor` has in each of its fields, by the field's name.
static SmallVector<std::pair<StringRef, int64_t>> usedFields(const TensorProto &tensor,
                                                             std::optional<Payload> payload) {
  SmallVector<std::pair<StringRef, int64_t>> used;
  auto add = [&](StringRef name, int64_t count) {
    if (count)
      used.push_back({name, count});
  };
  if (payload)
    used.push_back({payload->isFloatData ? "float_data" : "raw_data", payload->bytes.size()});
  else if (tensor.has_raw_data())
    used.push_back({"raw_data", tensor.raw_data().size()});
  if (!payload || !payload->isFloatData)
    add("float_data", tensor.float_data_size());
  add("int32_data", tensor.int32_data_size());
  add("string_data", tensor.string_data_size());
  add("int64_data", tensor.int64_data_size());
  add("double_data", tensor.double_data_size());
  add("uint64_data", tensor.uint64_data_size());
  return used;
}

static StringRef fieldName(ElementField field) {
  switch (field) {
  case ElementField::Float:
    return "float_data";
  case ElementField::Int32:
    return "int32_data";
  case ElementField::String:
    return "string_data";
  case ElementField::Int64:
    return "int64_data";
  case ElementField::Double:
    return "double_data";
  case ElementField::UInt64:
    return "uint64_data";
  }
  llvm_unreachable("all fields are listed");
}

/// Elements of fewer than 8 bits, packed from the low bits on, to one byte each.
static void unpack(ArrayRef<uint8_t> packed, unsigned bits, bool isSigned, MutableArrayRef<char> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    size_t bit = i * bits, byte = bit / 8;
    unsigned window = packed[byte] | (byte + 1 < packed.size() ? unsigned(packed[byte + 1]) << 8 : 0);
    unsigned value = window >> (bit % 8) & ((1u << bits) - 1);
    out[i] = isSigned ? static_cast<char>(SignExtend32(value, bits)) : static_cast<char>(value);
  }
}

FailureOr<TensorImporter::Elements> TensorImporter::readRaw(StringRef raw, SharedBytes source, int32_t dataType,
                                                            int64_t count, const Trace &trace) {
  const ElementFormat &format = *getElementFormat(dataType);
  Elements elements;
  elements.bytes = ArrayRef<char>(raw.data(), raw.size());
  elements.source = std::move(source);
  if (format.bits < 8) {
    elements.heap = allocate(count);
    unpack(ArrayRef(reinterpret_cast<const uint8_t *>(raw.data()), raw.size()), format.bits, isSignedInteger(dataType),
           elements.heap->getBuffer());
    elements.bytes = elements.heap->getBuffer();
    elements.source = SharedBytes();
  }
  if (dataType == TensorProto::BOOL)
    for (auto [i, byte] : llvm::enumerate(elements.bytes))
      if (byte != 0 && byte != 1)
        return trace.error() << "element " << i << " of type bool is " << static_cast<int>(static_cast<uint8_t>(byte))
                             << ", not 0 or 1",
               failure();
  return elements;
}

/// Copies numbers of a protobuf list, narrowed to `bytes` each. Values may be written as signed or unsigned.
template <typename ListT>
static LogicalResult narrow(const ListT &list, unsigned bits, MutableArrayRef<char> out, const Trace &trace) {
  unsigned bytes = bits / 8;
  for (int64_t i = 0, e = list.size(); i < e; ++i) {
    auto value = list.Get(i);
    if (bits < 64 && !(isIntN(bits, static_cast<int64_t>(value)) || isUIntN(bits, static_cast<uint64_t>(value))))
      return trace.error() << "element " << i << " is " << value << ", which has more than " << bits << " bits";
    std::memcpy(out.data() + i * bytes, &value, bytes);
  }
  return success();
}

FailureOr<TensorImporter::Elements> TensorImporter::readField(const TensorProto &tensor, int64_t count,
                                                              const Trace &trace) {
  int32_t dataType = tensor.data_type();
  const ElementFormat &format = *getElementFormat(dataType);
  Elements elements;
  if (format.field == ElementField::String) {
    for (const std::string &s : tensor.string_data())
      elements.strings.push_back(s);
    return elements;
  }
  // 2- and 4-bit elements are packed as in raw data, one byte per number; 6-bit ones are not.
  bool packed = format.bits == 2 || format.bits == 4;
  unsigned numberBits = format.bits < 8 ? 8 : format.bits / format.parts;
  int64_t numbers = packed ? divideCeil(count * format.bits, 8) : count * format.parts;
  elements.heap = allocate(numbers * (numberBits / 8));
  MutableArrayRef<char> out = elements.heap->getBuffer();
  LogicalResult copied = success();
  switch (format.field) {
  case ElementField::Float:
    std::memcpy(out.data(), tensor.float_data().data(), out.size());
    break;
  case ElementField::Double:
    std::memcpy(out.data(), tensor.double_data().data(), out.size());
    break;
  case ElementField::Int64:
    std::memcpy(out.data(), tensor.int64_data().data(), out.size());
    break;
  case ElementField::Int32:
    copied = narrow(tensor.int32_data(), numberBits, out, trace);
    break;
  case ElementField::UInt64:
    copied = narrow(tensor.uint64_data(), numberBits, out, trace);
    break;
  case ElementField::String:
    llvm_unreachable("strings were handled above");
  }
  if (failed(copied))
    return failure();
  if (packed) {
    auto unpacked = allocate(count);
    unpack(ArrayRef(reinterpret_cast<const uint8_t *>(out.data()), out.size()), format.bits, isSignedInteger(dataType),
           unpacked->getBuffer());
    elements.heap = std::move(unpacked);
  } else if (dataType == TensorProto::BOOL || format.bits == 6) {
    for (auto [i, byte] : llvm::enumerate(out))
      if (static_cast<uint8_t>(byte) >= (1 << (format.bits == 6 ? 6 : 1)))
        return trace.error() << "element " << i << " of type " << nameOf(dataType) << " is "
                             << static_cast<int>(static_cast<uint8_t>(byte)),
               failure();
  }
  elements.bytes = elements.heap->getBuffer();
  return elements;
}

FailureOr<TensorImporter::Elements> TensorImporter::read(const TensorProto &tensor, RankedTensorType type,
                                                         const Trace &trace) {
  int32_t dataType = tensor.data_type();
  const ElementFormat &format = *getElementFormat(dataType);
  int64_t count = type.getNumElements();
  uint64_t rawBits;
  if (MulOverflow<int64_t>(count, std::max(format.bits, 1u), reinterpret_cast<int64_t &>(rawBits)))
    return trace.error() << "a tensor with more than 2^63 bits", failure();
  uint64_t rawBytes = divideCeil(rawBits, 8);

  std::optional<Payload> payload = model.payloadOf(tensor);
  SmallVector<std::pair<StringRef, int64_t>> used = usedFields(tensor, payload);
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    if (!used.empty())
      return trace.error() << "has both external data and " << used.front().first, failure();
    if (format.field == ElementField::String)
      return trace.error() << "strings cannot be external data", failure();
    auto found = external.find(tensor, rawBytes, trace);
    if (failed(found))
      return failure();
    return readRaw(found->second, found->first, dataType, count, trace);
  }
  if (used.size() > 1)
    return trace.error() << "has both " << used[0].first << " and " << used[1].first, failure();

  StringRef field = fieldName(format.field);
  if (used.empty())
    used.push_back({field, 0});
  if (used[0].first == "raw_data") {
    if (format.field == ElementField::String)
      return trace.error() << "strings cannot be raw_data", failure();
    StringRef raw = payload ? payload->bytes : StringRef(tensor.raw_data());
    if (raw.size() != rawBytes)
      return trace.error() << "raw_data has " << raw.size() << " bytes, the type " << type << " needs " << rawBytes,
             failure();
    return readRaw(raw, payload ? model.source : SharedBytes(), dataType, count, trace);
  }
  if (used[0].first != field)
    return trace.error() << "is of type " << nameOf(dataType) << ", whose elements are in " << field
                         << " or raw_data, but has " << used[0].first,
           failure();
  int64_t expected = format.bits == 2 || format.bits == 4 ? divideCeil(rawBits, 8) : count * format.parts;
  int64_t have = payload ? payload->bytes.size() / 4 : used[0].second;
  if (have != expected || (payload && payload->bytes.size() % 4))
    return trace.error() << field << " has " << have << " numbers, the type " << type << " needs " << expected,
           failure();
  if (payload)
    return readRaw(payload->bytes, model.source, dataType, count, trace);
  return readField(tensor, count, trace);
}

//===----------------------------------------------------------------------===//
// Making attributes
//===----------------------------------------------------------------------===//

/// dense<...> takes MLIR's own numbers only.
static bool fitsDense(Type element) { return element.isIntOrFloat() || isa<ComplexType>(element); }

/// The key of a resource, made of a tensor's name: MLIR prints keys as they are, but reads only identifiers.
static std::string keyOf(StringRef name) {
  if (name.empty())
    return "constant";
  std::string key = name.str();
  for (char &c : key)
    if (!llvm::isAlnum(c) && c != '_' && c != '$' && c != '.')
      c = '_';
  return llvm::isDigit(key.front()) || key.front() == '$' || key.front() == '.' ? "_" + key : key;
}

ElementsAttr TensorImporter::makeAttr(RankedTensorType type, Elements elements, StringRef name) {
  Type element = type.getElementType();
  if (isa<onnx::StringType>(element))
    return DenseElementsAttr::get(type, ArrayRef<StringRef>(elements.strings));
  if (fitsDense(element) && elements.bytes.size() <= kLargestDense) {
    if (element.isInteger() && element.getIntOrFloatBitWidth() < 8) {
      SmallVector<APInt> values;
      for (char byte : elements.bytes)
        values.push_back(APInt(element.getIntOrFloatBitWidth(), static_cast<uint8_t>(byte), false)
                             .trunc(element.getIntOrFloatBitWidth()));
      return DenseElementsAttr::get(type, values);
    }
    if (elements.bytes.empty())
      return DenseElementsAttr::get(type, ArrayRef<Attribute>());
    return DenseElementsAttr::getFromRawBuffer(type, elements.bytes);
  }
  return makeResource(type, std::move(elements), name);
}

/// Of the first, the middle and the last bytes: few tensors agree in it that are not equal.
static uint64_t hashOfSome(ArrayRef<char> bytes) {
  constexpr size_t some = 1024;
  std::string sample;
  for (size_t begin : {size_t(0), bytes.size() / 2, bytes.size() - std::min(some, bytes.size())})
    sample += StringRef(bytes.data(), bytes.size()).substr(begin, some);
  return xxh3_64bits(sample);
}

StringRef TensorImporter::digestOf(Resource &resource) {
  if (resource.digest.empty()) {
    BLAKE3 hash;
    forEachPiece(resource.bytes, resource.source, [&](StringRef piece) { hash.update(piece); });
    resource.digest = toStringRef(ArrayRef(hash.final<16>())).str();
  }
  return resource.digest;
}

ElementsAttr TensorImporter::makeResource(RankedTensorType type, Elements elements, StringRef name) {
  Resource resource{{}, StringRef(elements.bytes.data(), elements.bytes.size()), elements.source, ""};
  SmallVector<Resource, 1> &alike = resources[{type, hashOfSome(elements.bytes)}];
  for (Resource &known : alike)
    if (digestOf(known) == digestOf(resource))
      return known.attribute;

  if (!elements.heap && (!elements.source || !isAddrAligned(Align(kAlignment), elements.bytes.data()))) {
    elements.heap = allocate(elements.bytes.size());
    char *to = elements.heap->getBufferStart();
    forEachPiece(resource.bytes, elements.source, [&](StringRef piece) { to = llvm::copy(piece, to); });
    elements.bytes = elements.heap->getBuffer();
    elements.source = SharedBytes();
  }
  // The blob's deleter owns what the bytes lie in. Mutable says that the bytes are nobody else's: whoever has read them
  // for the last time may give their memory back.
  bool ours = elements.heap || elements.source.isMapped();
  resource.bytes = StringRef(elements.bytes.data(), elements.bytes.size());
  resource.source = elements.source;
  AsmResourceBlob blob(
      elements.bytes, kAlignment,
      [source = elements.source, heap = std::move(elements.heap)](void *, size_t, size_t) {},
      /*dataIsMutable=*/ours);
  resource.attribute = DenseResourceElementsAttr::get(type, keyOf(name), std::move(blob));
  alike.push_back(std::move(resource));
  return alike.back().attribute;
}

FailureOr<ElementsAttr> TensorImporter::import(const TensorProto &tensor, const Trace &trace) {
  FailureOr<RankedTensorType> type = importTensorType(tensor, trace);
  if (failed(type))
    return failure();
  FailureOr<Elements> elements = read(tensor, *type, trace);
  if (failed(elements))
    return failure();
  return makeAttr(*type, std::move(*elements), tensor.name());
}

//===----------------------------------------------------------------------===//
// Sparse tensors
//===----------------------------------------------------------------------===//

LogicalResult TensorImporter::checkSparse(const proto::SparseTensorProto &tensor, const Trace &trace) {
  if (!tensor.has_values() || !tensor.has_indices())
    return trace.error() << "a sparse tensor without " << (tensor.has_values() ? "indices" : "values");
  if (tensor.values().dims_size() != 1)
    return trace.error() << "values of a sparse tensor have rank 1, not " << tensor.values().dims_size();
  if (tensor.indices().data_type() != TensorProto::INT64)
    return trace.error() << "indices of a sparse tensor are int64";
  int64_t count = tensor.values().dims(0);
  const auto &dims = tensor.indices().dims();
  if (dims.size() < 1 || dims.size() > 2 || dims[0] != count || (dims.size() == 2 && dims[1] != tensor.dims_size()))
    return trace.error() << "indices of a sparse tensor with " << count << " values and rank " << tensor.dims_size()
                         << " have the shape [" << count << "] or [" << count << ", " << tensor.dims_size() << "]";
  return success();
}

FailureOr<ElementsAttr> TensorImporter::importDensified(const proto::SparseTensorProto &tensor, const Trace &trace) {
  if (failed(checkSparse(tensor, trace)))
    return failure();
  Trace valuesTrace(trace, "values"), indicesTrace(trace, "indices");
  FailureOr<RankedTensorType> valuesType = importTensorType(tensor.values(), valuesTrace);
  FailureOr<RankedTensorType> indicesType = importTensorType(tensor.indices(), indicesTrace);
  if (failed(valuesType) || failed(indicesType))
    return failure();
  FailureOr<Elements> values = read(tensor.values(), *valuesType, valuesTrace);
  FailureOr<Elements> indices = read(tensor.indices(), *indicesType, indicesTrace);
  if (failed(values) || failed(indices))
    return failure();
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  for (auto [i, dim] : llvm::enumerate(shape))
    if (dim < 0)
      return trace.error() << "dimension " << i << " is " << dim, failure();
  FailureOr<RankedTensorType> type = makeTensorType(shape, {}, valuesType->getElementType(), trace);
  if (failed(type))
    return failure();

  int64_t size = type->getNumElements(), count = tensor.values().dims(0);
  bool isString = isa<onnx::StringType>(type->getElementType());
  int64_t width = isString ? sizeof(StringRef) : count ? values->bytes.size() / count : 1;
  int64_t memory = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  int64_t bytes;
  if (MulOverflow(size, width, bytes) || bytes > memory)
    return trace.error() << "the sparse tensor stands for " << *type << ", more than this machine's memory", failure();

  Elements dense;
  if (isString) {
    dense.strings.resize(size);
  } else {
    dense.heap = allocate(bytes);
    std::memset(dense.heap->getBufferStart(), 0, bytes);
    dense.bytes = dense.heap->getBuffer();
  }
  bool linear = tensor.indices().dims_size() == 1;
  int64_t previous = -1;
  for (int64_t i = 0; i < count; ++i) {
    auto index = [&](int64_t k) {
      int64_t value;
      std::memcpy(&value, indices->bytes.data() + k * sizeof(int64_t), sizeof(int64_t));
      return value;
    };
    int64_t position = 0;
    if (linear) {
      position = index(i);
    } else {
      for (auto [axis, dim] : llvm::enumerate(shape)) {
        int64_t coordinate = index(i * shape.size() + axis);
        if (coordinate < 0 || coordinate >= dim)
          return trace.error() << "index " << coordinate << " of value " << i << " is out of range for dimension "
                               << axis << " of size " << dim,
                 failure();
        position = position * dim + coordinate;
      }
    }
    if (position < 0 || position >= size)
      return trace.error() << "index " << position << " of value " << i << " is out of range for " << size
                           << " elements",
             failure();
    if (position <= previous)
      return trace.error() << "indices are not in ascending order at value " << i, failure();
    previous = position;
    if (isString)
      dense.strings[position] = values->strings[i];
    else
      std::memcpy(dense.heap->getBufferStart() + position * width, values->bytes.data() + i * width, width);
  }
  return makeAttr(*type, std::move(dense), tensor.values().name());
}

FailureOr<Attribute> TensorImporter::importSparse(const proto::SparseTensorProto &tensor, const Trace &trace) {
  if (failed(checkSparse(tensor, trace)))
    return failure();
  FailureOr<ElementsAttr> values = import(tensor.values(), Trace(trace, "values"));
  FailureOr<ElementsAttr> indices = import(tensor.indices(), Trace(trace, "indices"));
  if (failed(values) || failed(indices))
    return failure();
  return Attribute(onnx::SparseElementsAttr::get(trace.getContext(), *values, *indices,
                                                 SmallVector<int64_t>(tensor.dims().begin(), tensor.dims().end())));
}

} // namespace strata::importer
