//===- TensorProto.cpp - ONNX's serialized tensors ------------------------===//

#include "TensorFile.h"
#include "onnx/onnx-data.pb.h"
#include <cstring>

namespace strata {

using llvm::createStringError;

/// Bits of an element in raw_data, of the types that are packed there; 0 for
/// the others.
static unsigned packedBits(strata_dtype dtype) {
  switch (dtype) {
  case STRATA_INT4:
  case STRATA_UINT4:
  case STRATA_FLOAT4E2M1:
    return 4;
  case STRATA_INT2:
  case STRATA_UINT2:
    return 2;
  case STRATA_FLOAT6E2M3:
  case STRATA_FLOAT6E3M2:
    return 6;
  default:
    return 0;
  }
}

static uint64_t packedBytes(uint64_t count, unsigned bits) { return count / 8 * bits + (count % 8 * bits + 7) / 8; }

/// One element per byte, low bits first, integers extended by their sign.
static void unpack(const uint8_t *from, int64_t count, unsigned bits, bool isSigned, uint8_t *to) {
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bit = static_cast<uint64_t>(i) * bits;
    unsigned value = from[bit / 8] >> bit % 8;
    if (bit % 8 + bits > 8)
      value |= static_cast<unsigned>(from[bit / 8 + 1]) << (8 - bit % 8);
    value &= (1u << bits) - 1;
    if (isSigned && value >> (bits - 1))
      value |= 0xffu << bits;
    to[i] = static_cast<uint8_t>(value);
  }
}

/// Narrows the values of a typed field to the element type's bytes.
template <typename Field>
static llvm::Error copyField(const Field &field, size_t elementBytes, uint64_t count, char *to) {
  if (static_cast<uint64_t>(field.size()) != count)
    return createStringError("it has %d values, its shape says %llu", field.size(),
                             static_cast<unsigned long long>(count));
  for (const auto &value : field) {
    std::memcpy(to, &value, elementBytes); // little-endian: the low bytes
    to += elementBytes;
  }
  return llvm::Error::success();
}

static llvm::Error copyTyped(const onnx::TensorProto &proto, Tensor &tensor) {
  char *to = static_cast<char *>(tensor.data);
  uint64_t count = tensor.size();
  unsigned bits = packedBits(tensor.dtype);
  switch (tensor.dtype) {
  case STRATA_FLOAT:
    return copyField(proto.float_data(), 4, count, to);
  case STRATA_COMPLEX64:
    return copyField(proto.float_data(), 4, 2 * count, to);
  case STRATA_DOUBLE:
    return copyField(proto.double_data(), 8, count, to);
  case STRATA_COMPLEX128:
    return copyField(proto.double_data(), 8, 2 * count, to);
  case STRATA_INT64:
    return copyField(proto.int64_data(), 8, count, to);
  case STRATA_UINT64:
    return copyField(proto.uint64_data(), 8, count, to);
  case STRATA_UINT32:
    return copyField(proto.uint64_data(), 4, count, to);
  default:
    break;
  }
  if (bits == 0 || bits == 6) // 6 bits are packed in raw_data alone
    return copyField(proto.int32_data(), strata_dtype_size(tensor.dtype), count, to);
  std::string packed(packedBytes(count, bits), 0);
  if (llvm::Error error = copyField(proto.int32_data(), 1, packed.size(), packed.data()))
    return error;
  unpack(reinterpret_cast<const uint8_t *>(packed.data()), count, bits,
         tensor.dtype == STRATA_INT4 || tensor.dtype == STRATA_INT2, reinterpret_cast<uint8_t *>(to));
  return llvm::Error::success();
}

static llvm::Error copyRaw(const std::string &raw, Tensor &tensor) {
  unsigned bits = packedBits(tensor.dtype);
  uint64_t count = tensor.size();
  uint64_t bytes = bits == 0 ? tensor.bytes() : packedBytes(count, bits);
  if (raw.size() != bytes)
    return createStringError("it has %zu bytes of data, its type and shape "
                             "need %llu",
                             raw.size(), static_cast<unsigned long long>(bytes));
  if (bits == 0)
    std::memcpy(tensor.data, raw.data(), bytes);
  else
    unpack(reinterpret_cast<const uint8_t *>(raw.data()), count, bits,
           tensor.dtype == STRATA_INT4 || tensor.dtype == STRATA_INT2, static_cast<uint8_t *>(tensor.data));
  return llvm::Error::success();
}

static llvm::Expected<NamedTensor> convert(const onnx::TensorProto &proto, uint64_t bytes) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL)
    return createStringError("tensors with external data are not supported "
                             "here");
  auto dtype = static_cast<strata_dtype>(proto.data_type());
  if (strata_dtype_size(dtype) == 0)
    return createStringError("element type %d is not known", proto.data_type());
  std::vector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  uint64_t elements = 1;
  for (int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(elements, uint64_t(dim), &elements))
      return createStringError("its shape is not valid");
  // Before memory is asked for: every element takes at least a quarter byte.
  if (elements / 4 > bytes)
    return createStringError("its shape has more elements than its data");
  if (dtype == STRATA_STRING) {
    if (static_cast<uint64_t>(proto.string_data_size()) != elements)
      return createStringError("it has %d strings, its shape says %llu", proto.string_data_size(),
                               static_cast<unsigned long long>(elements));
    return NamedTensor{proto.name(),
                       Tensor::ofStrings(std::move(shape), {proto.string_data().begin(), proto.string_data().end()})};
  }
  NamedTensor result{proto.name(), Tensor::allocate(dtype, std::move(shape))};
  if (!result.tensor.data)
    return createStringError("out of memory");
  llvm::Error error = proto.has_raw_data() ? copyRaw(proto.raw_data(), result.tensor) : copyTyped(proto, result.tensor);
  if (error)
    return std::move(error);
  return result;
}

static llvm::Expected<NamedTensor> convert(const onnx::OptionalProto &proto, uint64_t bytes);

static llvm::Expected<NamedTensor> convert(const onnx::SequenceProto &proto, uint64_t bytes) {
  std::vector<Tensor> elements;
  auto add = [&](const auto &values) -> llvm::Error {
    for (const auto &value : values) {
      auto element = convert(value, bytes);
      if (!element)
        return element.takeError();
      elements.push_back(std::move(element->tensor));
    }
    return llvm::Error::success();
  };
  switch (proto.elem_type()) {
  case onnx::SequenceProto::TENSOR:
    if (llvm::Error error = add(proto.tensor_values()))
      return std::move(error);
    break;
  case onnx::SequenceProto::SEQUENCE:
    if (llvm::Error error = add(proto.sequence_values()))
      return std::move(error);
    break;
  case onnx::SequenceProto::OPTIONAL:
    if (llvm::Error error = add(proto.optional_values()))
      return std::move(error);
    break;
  default:
    return createStringError("it is a sequence of something else than tensors");
  }
  return NamedTensor{proto.name(), Tensor::ofElements(STRATA_SEQUENCE, std::move(elements))};
}

static llvm::Expected<NamedTensor> convert(const onnx::OptionalProto &proto, uint64_t bytes) {
  switch (proto.elem_type()) {
  case onnx::OptionalProto::TENSOR:
    if (proto.has_tensor_value())
      return convert(proto.tensor_value(), bytes);
    break;
  case onnx::OptionalProto::SEQUENCE:
    if (proto.has_sequence_value())
      return convert(proto.sequence_value(), bytes);
    break;
  case onnx::OptionalProto::OPTIONAL:
    if (proto.has_optional_value())
      return convert(proto.optional_value(), bytes);
    break;
  case onnx::OptionalProto::UNDEFINED:
    break;
  default:
    return createStringError("it is an optional of something else than a "
                             "tensor or a sequence");
  }
  return NamedTensor{proto.name(), Tensor::ofElements(STRATA_OPTIONAL, {})};
}

template <typename Proto> static llvm::Expected<NamedTensor> parse(llvm::StringRef bytes, const char *what) {
  Proto proto;
  if (bytes.size() > INT32_MAX || !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return createStringError("it is not a serialized %s", what);
  return convert(proto, bytes.size());
}

llvm::Expected<NamedTensor> parseTensorProto(llvm::StringRef bytes, strata_dtype expected) {
  if (expected == STRATA_SEQUENCE)
    return parse<onnx::SequenceProto>(bytes, "SequenceProto");
  if (expected == STRATA_OPTIONAL)
    return parse<onnx::OptionalProto>(bytes, "OptionalProto");
  return parse<onnx::TensorProto>(bytes, "TensorProto");
}

} // namespace strata
