//===- Npy.cpp - NumPy's format for one array -----------------------------===//
//
// A magic string, a version, the length of the header, and the header: a
// Python dictionary with descr, fortran_order and shape, padded so that the
// elements start at a multiple of 64.
//
//===----------------------------------------------------------------------===//

#include "TensorFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include <cstring>

using namespace llvm;

namespace strata {

static constexpr StringLiteral kMagic("\x93NUMPY");

/// What follows `'key':` in the header.
static StringRef valueOf(StringRef header, StringRef key) {
  for (const char *quote : {"'", "\""}) {
    size_t at = header.find((quote + key + quote).str());
    if (at == StringRef::npos)
      continue;
    StringRef rest = header.drop_front(at + key.size() + 2).ltrim();
    if (rest.consume_front(":"))
      return rest.ltrim();
  }
  return {};
}

static Expected<std::vector<int64_t>> parseShape(StringRef text) {
  std::vector<int64_t> shape;
  if (!text.consume_front("("))
    return createStringError("its header has no shape");
  text = text.take_until([](char c) { return c == ')'; });
  uint64_t elements = 1;
  while (!text.trim().empty()) {
    auto [first, rest] = text.split(',');
    int64_t dim;
    // "L" was the suffix of long integers in Python 2.
    if (first.trim().rtrim('L').getAsInteger(10, dim) || dim < 0)
      return createStringError("its header has a malformed shape");
    if (dim && __builtin_mul_overflow(elements, uint64_t(dim), &elements))
      return createStringError("its shape is too large");
    shape.push_back(dim);
    text = rest;
  }
  return shape;
}

/// The element type of a descr such as "<f4"; `swap` says that its bytes are
/// in the order of another machine.
static Expected<strata_dtype> parseDescr(StringRef descr, strata_dtype expected, bool &swap) {
  swap = false;
  StringRef kind = descr;
  if (kind.consume_front(">"))
    swap = sys::IsLittleEndianHost;
  else if (kind.consume_front("<"))
    swap = !sys::IsLittleEndianHost;
  else if (!kind.consume_front("|"))
    kind.consume_front("=");
  static const struct {
    const char *kind;
    strata_dtype dtype;
  } kinds[] = {
      {"f4", STRATA_FLOAT},     {"f8", STRATA_DOUBLE},      {"f2", STRATA_FLOAT16}, {"i1", STRATA_INT8},
      {"i2", STRATA_INT16},     {"i4", STRATA_INT32},       {"i8", STRATA_INT64},   {"u1", STRATA_UINT8},
      {"u2", STRATA_UINT16},    {"u4", STRATA_UINT32},      {"u8", STRATA_UINT64},  {"b1", STRATA_BOOL},
      {"c8", STRATA_COMPLEX64}, {"c16", STRATA_COMPLEX128},
  };
  for (auto entry : kinds)
    if (kind == entry.kind)
      return entry.dtype;
  // ml_dtypes: bytes without a name, but for float8_e5m2, which says "f1".
  size_t size = 0;
  bool isVoid = kind == "f1" || (kind.consume_front("V") && !kind.getAsInteger(10, size));
  size = kind == "f1" ? 1 : size;
  if (isVoid && expected != STRATA_UNDEFINED && strata_dtype_size(expected) == size)
    return expected;
  if (descr.ends_with("f1"))
    return STRATA_FLOAT8E5M2;
  if (isVoid && size == 2)
    return STRATA_BFLOAT16;
  if (isVoid && size == 1)
    return createStringError("its elements are unnamed bytes ('%s'), which "
                             "does not tell their type",
                             descr.str().c_str());
  return createStringError("its element type '%s' is not supported", descr.str().c_str());
}

/// ml_dtypes leaves the upper bits of its small integers zero; ours are
/// extended by the sign.
static void extendSign(Tensor &tensor) {
  unsigned shift = tensor.dtype == STRATA_INT4 ? 4 : 6;
  int8_t *data = static_cast<int8_t *>(tensor.data);
  for (int64_t i = 0, count = tensor.size(); i < count; ++i)
    data[i] = static_cast<int8_t>(data[i] << shift) >> shift;
}

/// Column-major to row-major, and foreign byte order to ours.
static Tensor normalize(const Tensor &from, bool fortran, bool swap) {
  Tensor to = Tensor::allocate(from.dtype, from.shape);
  if (!to.data)
    return to;
  size_t element = strata_dtype_size(from.dtype);
  size_t part = from.dtype == STRATA_COMPLEX64 || from.dtype == STRATA_COMPLEX128 ? element / 2 : element;
  int64_t count = from.size();
  std::vector<int64_t> index(from.shape.size());
  const char *source = static_cast<const char *>(from.data);
  char *target = static_cast<char *>(to.data);
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = i;
    if (fortran) {
      offset = 0;
      for (size_t d = index.size(); d-- > 0;)
        offset = offset * from.shape[d] + index[d];
      for (size_t d = index.size(); d-- > 0;) {
        if (++index[d] < from.shape[d])
          break;
        index[d] = 0;
      }
    }
    std::memcpy(target + i * element, source + offset * element, element);
    if (swap)
      for (size_t p = 0; p < element; p += part)
        std::reverse(target + i * element + p, target + i * element + p + part);
  }
  return to;
}

Expected<Tensor> parseNpy(StringRef bytes, strata_dtype expected, std::shared_ptr<void> owner) {
  if (!bytes.starts_with(kMagic) || bytes.size() < 12)
    return createStringError("it is not in NumPy's format");
  unsigned major = static_cast<unsigned char>(bytes[6]);
  size_t lengthBytes = major == 1 ? 2 : 4;
  if (major < 1 || major > 3)
    return createStringError("version %u of NumPy's format is not known", major);
  size_t length =
      major == 1 ? support::endian::read16le(bytes.data() + 8) : support::endian::read32le(bytes.data() + 8);
  if (bytes.size() < 8 + lengthBytes + length)
    return createStringError("it is truncated");
  StringRef header = bytes.substr(8 + lengthBytes, length);
  StringRef data = bytes.substr(8 + lengthBytes + length);

  Tensor tensor;
  StringRef descr = valueOf(header, "descr");
  if (descr.starts_with("["))
    return createStringError("structured arrays are not supported");
  char quote = descr.empty() ? 0 : descr.front();
  if (quote != '\'' && quote != '"')
    return createStringError("its header has no descr");
  descr = descr.drop_front().take_until([&](char c) { return c == quote; });
  bool swap = false;
  auto dtype = parseDescr(descr, expected, swap);
  if (!dtype)
    return dtype.takeError();
  auto shape = parseShape(valueOf(header, "shape"));
  if (!shape)
    return shape.takeError();
  tensor.dtype = *dtype;
  tensor.shape = std::move(*shape);
  uint64_t element = strata_dtype_size(tensor.dtype);
  if (data.size() / element < uint64_t(tensor.size()))
    return createStringError("it is truncated: %llu bytes of elements, %llu "
                             "are needed",
                             static_cast<unsigned long long>(data.size()),
                             static_cast<unsigned long long>(tensor.bytes()));
  tensor.data = const_cast<char *>(data.data());
  tensor.owner = std::move(owner);
  bool fortran = valueOf(header, "fortran_order").starts_with("True") && tensor.shape.size() > 1;
  bool extend = tensor.dtype == STRATA_INT4 || tensor.dtype == STRATA_INT2;
  if (fortran || swap || extend || !tensor.owner) {
    tensor = normalize(tensor, fortran, swap);
    if (!tensor.data)
      return createStringError("out of memory");
  }
  if (extend)
    extendSign(tensor);
  return tensor;
}

static const char *descrOf(strata_dtype dtype) {
  switch (dtype) {
  case STRATA_FLOAT:
    return "<f4";
  case STRATA_DOUBLE:
    return "<f8";
  case STRATA_FLOAT16:
    return "<f2";
  case STRATA_INT8:
    return "|i1";
  case STRATA_INT16:
    return "<i2";
  case STRATA_INT32:
    return "<i4";
  case STRATA_INT64:
    return "<i8";
  case STRATA_UINT8:
    return "|u1";
  case STRATA_UINT16:
    return "<u2";
  case STRATA_UINT32:
    return "<u4";
  case STRATA_UINT64:
    return "<u8";
  case STRATA_BOOL:
    return "|b1";
  case STRATA_COMPLEX64:
    return "<c8";
  case STRATA_COMPLEX128:
    return "<c16";
  case STRATA_BFLOAT16:
    return "<V2";
  default:
    // float8_e5m2 too: NumPy writes "<f1" for it, which it cannot read.
    return "<V1";
  }
}

void printNpyHeader(raw_ostream &os, const Tensor &tensor) {
  std::string header;
  raw_string_ostream text(header);
  text << "{'descr': '" << descrOf(tensor.dtype) << "', 'fortran_order': False, 'shape': (";
  for (int64_t dim : tensor.shape)
    text << dim << (tensor.shape.size() == 1 || &dim != &tensor.shape.back() ? ", " : "");
  text << "), }";
  text.flush();
  size_t start = kMagic.size() + 4;
  header.append(63 - (start + header.size()) % 64, ' ');
  header += '\n';
  os << kMagic << StringRef("\1\0", 2) << static_cast<char>(header.size() & 255)
     << static_cast<char>(header.size() >> 8) << header;
}

void printNpy(raw_ostream &os, const Tensor &tensor) {
  printNpyHeader(os, tensor);
  os.write(static_cast<const char *>(tensor.data), tensor.bytes());
}

} // namespace strata
