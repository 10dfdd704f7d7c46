//===- Elements.cpp - the values of a tensor ------------------------------===//

#include "Execution/Elements.h"
#include "Runtime/strata_runtime.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace strata {

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

/// The format of the small floats that LLVM knows.
static const fltSemantics *semanticsOf(strata_dtype dtype) {
  switch (dtype) {
  case STRATA_FLOAT16:
    return &APFloat::IEEEhalf();
  case STRATA_BFLOAT16:
    return &APFloat::BFloat();
  case STRATA_FLOAT8E4M3FN:
    return &APFloat::Float8E4M3FN();
  case STRATA_FLOAT8E4M3FNUZ:
    return &APFloat::Float8E4M3FNUZ();
  case STRATA_FLOAT8E5M2:
    return &APFloat::Float8E5M2();
  case STRATA_FLOAT8E5M2FNUZ:
    return &APFloat::Float8E5M2FNUZ();
  case STRATA_FLOAT4E2M1:
    return &APFloat::Float4E2M1FN();
  case STRATA_FLOAT6E2M3:
    return &APFloat::Float6E2M3FN();
  case STRATA_FLOAT6E3M2:
    return &APFloat::Float6E3M2FN();
  default:
    return nullptr;
  }
}

template <typename T> static T load(const Tensor &tensor, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(tensor.data) + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T> static void store(Tensor &tensor, int64_t index, T value) {
  std::memcpy(static_cast<char *>(tensor.data) + index * sizeof(T), &value, sizeof(T));
}

static double smallFloat(const fltSemantics &semantics, uint64_t bits) {
  APFloat value(semantics,
                APInt(APFloat::getSizeInBits(semantics), bits & ((1u << APFloat::getSizeInBits(semantics)) - 1)));
  bool lost;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

std::complex<double> elementAt(const Tensor &tensor, int64_t index) {
  switch (tensor.dtype) {
  case STRATA_FLOAT:
    return load<float>(tensor, index);
  case STRATA_DOUBLE:
    return load<double>(tensor, index);
  case STRATA_COMPLEX64:
    return {load<float>(tensor, 2 * index), load<float>(tensor, 2 * index + 1)};
  case STRATA_COMPLEX128:
    return {load<double>(tensor, 2 * index), load<double>(tensor, 2 * index + 1)};
  case STRATA_INT8:
  case STRATA_INT4:
  case STRATA_INT2:
    return load<int8_t>(tensor, index);
  case STRATA_UINT8:
  case STRATA_UINT4:
  case STRATA_UINT2:
  case STRATA_BOOL:
    return load<uint8_t>(tensor, index);
  case STRATA_INT16:
    return load<int16_t>(tensor, index);
  case STRATA_UINT16:
    return load<uint16_t>(tensor, index);
  case STRATA_INT32:
    return load<int32_t>(tensor, index);
  case STRATA_UINT32:
    return load<uint32_t>(tensor, index);
  case STRATA_INT64:
    return static_cast<double>(load<int64_t>(tensor, index));
  case STRATA_UINT64:
    return static_cast<double>(load<uint64_t>(tensor, index));
  case STRATA_FLOAT8E8M0: {
    uint8_t exponent = load<uint8_t>(tensor, index);
    return exponent == 255 ? NAN : std::ldexp(1.0, exponent - 127);
  }
  case STRATA_FLOAT16:
  case STRATA_BFLOAT16:
    return smallFloat(*semanticsOf(tensor.dtype), load<uint16_t>(tensor, index));
  default:
    if (const fltSemantics *semantics = semanticsOf(tensor.dtype))
      return smallFloat(*semantics, load<uint8_t>(tensor, index));
    return NAN;
  }
}

void setElement(Tensor &tensor, int64_t index, double value) {
  switch (tensor.dtype) {
  case STRATA_FLOAT:
    return store<float>(tensor, index, static_cast<float>(value));
  case STRATA_DOUBLE:
    return store<double>(tensor, index, value);
  case STRATA_COMPLEX64:
    store<float>(tensor, 2 * index, static_cast<float>(value));
    return store<float>(tensor, 2 * index + 1, 0);
  case STRATA_COMPLEX128:
    store<double>(tensor, 2 * index, value);
    return store<double>(tensor, 2 * index + 1, 0);
  case STRATA_BOOL:
    return store<uint8_t>(tensor, index, value != 0);
  case STRATA_FLOAT8E8M0: {
    int exponent = value > 0 ? std::ilogb(value) : -127;
    return store<uint8_t>(tensor, index, static_cast<uint8_t>(std::clamp(exponent, -127, 127) + 127));
  }
  default:
    break;
  }
  if (const fltSemantics *semantics = semanticsOf(tensor.dtype)) {
    APFloat converted(value);
    bool lost;
    converted.convert(*semantics, APFloat::rmNearestTiesToEven, &lost);
    uint64_t bits = converted.bitcastToAPInt().getZExtValue();
    if (strata_dtype_size(tensor.dtype) == 2)
      return store<uint16_t>(tensor, index, static_cast<uint16_t>(bits));
    return store<uint8_t>(tensor, index, static_cast<uint8_t>(bits));
  }
  // Integers wrap at their width; the 2- and 4-bit ones are kept extended.
  int64_t integer = static_cast<int64_t>(value);
  auto narrow = [&](unsigned bits, bool isSigned) {
    APInt wide(64, static_cast<uint64_t>(integer), true);
    APInt cut = wide.trunc(bits);
    integer = isSigned ? cut.getSExtValue() : static_cast<int64_t>(cut.getZExtValue());
  };
  if (tensor.dtype == STRATA_INT4 || tensor.dtype == STRATA_INT2)
    narrow(tensor.dtype == STRATA_INT4 ? 4 : 2, true);
  else if (tensor.dtype == STRATA_UINT4 || tensor.dtype == STRATA_UINT2)
    narrow(tensor.dtype == STRATA_UINT4 ? 4 : 2, false);
  std::memcpy(static_cast<char *>(tensor.data) + index * strata_dtype_size(tensor.dtype), &integer,
              strata_dtype_size(tensor.dtype));
}

static bool isFloat(strata_dtype dtype) {
  switch (dtype) {
  case STRATA_FLOAT:
  case STRATA_DOUBLE:
  case STRATA_COMPLEX64:
  case STRATA_COMPLEX128:
  case STRATA_FLOAT8E8M0:
    return true;
  default:
    return semanticsOf(dtype) != nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Generating
//===----------------------------------------------------------------------===//

static strata_dtype parseElementType(StringRef name) {
  static const struct {
    const char *name;
    strata_dtype dtype;
  } names[] = {
      {"f32", STRATA_FLOAT},
      {"f64", STRATA_DOUBLE},
      {"f16", STRATA_FLOAT16},
      {"bf16", STRATA_BFLOAT16},
      {"i1", STRATA_BOOL},
      {"i8", STRATA_INT8},
      {"i16", STRATA_INT16},
      {"i32", STRATA_INT32},
      {"i64", STRATA_INT64},
      {"ui8", STRATA_UINT8},
      {"ui16", STRATA_UINT16},
      {"ui32", STRATA_UINT32},
      {"ui64", STRATA_UINT64},
      {"i4", STRATA_INT4},
      {"ui4", STRATA_UINT4},
      {"i2", STRATA_INT2},
      {"ui2", STRATA_UINT2},
      {"f8E4M3FN", STRATA_FLOAT8E4M3FN},
      {"f8E5M2", STRATA_FLOAT8E5M2},
      {"f8E4M3FNUZ", STRATA_FLOAT8E4M3FNUZ},
      {"f8E5M2FNUZ", STRATA_FLOAT8E5M2FNUZ},
      {"f8E8M0", STRATA_FLOAT8E8M0},
      {"f4E2M1", STRATA_FLOAT4E2M1},
      {"f6E2M3", STRATA_FLOAT6E2M3},
      {"f6E3M2", STRATA_FLOAT6E3M2},
      {"c64", STRATA_COMPLEX64},
      {"c128", STRATA_COMPLEX128},
  };
  for (auto entry : names)
    if (name == entry.name)
      return entry.dtype;
  return strata_dtype_from_name(name.str().c_str());
}

static Expected<Tensor> allocate(strata_dtype dtype, std::vector<int64_t> shape) {
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  if (!tensor.data)
    return createStringError("out of memory for an input");
  return tensor;
}

Expected<Tensor> allocateFromType(StringRef type, const StringMap<int64_t> &sizes) {
  // Neither a symbolic name nor a type may be cut at an "x" inside of it, so
  // sizes are read from the left and what is left over is the type.
  std::vector<int64_t> shape;
  StringRef rest = type;
  while (true) {
    int64_t dim;
    StringRef digits = rest.take_while(isDigit);
    StringRef after = rest.drop_front(digits.size());
    if (digits.empty() || !after.consume_front("x"))
      break;
    if (digits.getAsInteger(10, dim))
      return createStringError("'%s' has a malformed shape", type.str().c_str());
    shape.push_back(dim);
    rest = after;
  }
  for (bool again = true; again;) {
    again = false;
    for (const auto &size : sizes) {
      StringRef after = rest;
      if (after.consume_front(size.getKey()) && after.consume_front("x")) {
        shape.push_back(size.getValue());
        rest = after;
        again = true;
        break;
      }
    }
  }
  strata_dtype dtype = parseElementType(rest);
  if (dtype == STRATA_UNDEFINED)
    return createStringError("'%s' is not a shape and type such as "
                             "1x3x224x224xf32",
                             type.str().c_str());
  if (dtype == STRATA_STRING)
    return createStringError("tensors of strings cannot be generated");
  return allocate(dtype, std::move(shape));
}

Expected<Tensor> allocateFor(const ValueInfo &info, const StringMap<int64_t> &sizes) {
  if (info.dtype == STRATA_STRING || !info.elements.empty())
    return createStringError("input '%s': values of type %s cannot be "
                             "generated",
                             info.name.c_str(), formatType(info).c_str());
  std::vector<int64_t> shape = info.shape;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < 0) {
      auto size = sizes.find(info.dimNames[i]);
      shape[i] = size == sizes.end() ? 1 : size->second;
    }
  return allocate(info.dtype, std::move(shape));
}

Error fill(Tensor &tensor, StringRef how, uint64_t seed) {
  int64_t count = tensor.size();
  if (how == "zeros")
    return Error::success();
  if (how != "ones" && how != "range" && how != "random")
    return createStringError("'%s' is neither a file (.npy, .npz, .pb) nor "
                             "random, zeros, ones or range",
                             how.str().c_str());
  for (int64_t i = 0; i < count; ++i) {
    double value = 1;
    if (how == "range")
      value = static_cast<double>(i);
    else if (how == "random" && isFloat(tensor.dtype))
      value = 2 * strata_rt_philox_uniform_f64(seed, i) - 1;
    else if (how == "random" && tensor.dtype == STRATA_BOOL)
      value = strata_rt_philox_bits(seed, i) & 1;
    else if (how == "random")
      value = std::floor(10 * strata_rt_philox_uniform_f64(seed, i));
    setElement(tensor, i, value);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Comparing and printing
//===----------------------------------------------------------------------===//

static std::string shapeOf(const Tensor &tensor) {
  std::string text;
  raw_string_ostream os(text);
  os << strata_dtype_name(tensor.dtype);
  if (tensor.dtype == STRATA_OPTIONAL)
    return os.str();
  os << "[";
  interleaveComma(tensor.shape, os);
  os << "]";
  return os.str();
}

static StringRef stringAt(const Tensor &tensor, int64_t index) {
  const strata_string &string = static_cast<const strata_string *>(tensor.data)[index];
  return {string.bytes, string.length};
}

static void printValue(raw_ostream &os, const Tensor &tensor, int64_t index) {
  if (tensor.dtype == STRATA_STRING) {
    os << '"';
    printEscapedString(stringAt(tensor, index), os);
    os << '"';
  } else if (tensor.dtype == STRATA_INT64)
    os << load<int64_t>(tensor, index);
  else if (tensor.dtype == STRATA_UINT64)
    os << load<uint64_t>(tensor, index);
  else {
    std::complex<double> value = elementAt(tensor, index);
    if (tensor.dtype == STRATA_COMPLEX64 || tensor.dtype == STRATA_COMPLEX128)
      os << format("%g%+gi", value.real(), value.imag());
    else
      os << format("%.*g", tensor.dtype == STRATA_DOUBLE ? 15 : 8, value.real());
  }
}

bool isClose(const Tensor &actual, const Tensor &expected, double rtol, double atol, std::string &why) {
  raw_string_ostream os(why);
  if (actual.dtype != expected.dtype || actual.shape != expected.shape) {
    os << "is " << shapeOf(actual) << ", expected " << shapeOf(expected);
    return false;
  }
  if (actual.isContainer()) {
    for (auto [i, a, e] : enumerate(actual.elements, expected.elements)) {
      std::string reason;
      if (isClose(a, e, rtol, atol, reason))
        continue;
      os << "element " << i << " " << reason;
      return false;
    }
    return true;
  }
  int64_t different = 0, worst = -1, count = actual.size();
  double worstExcess = -1;
  bool exact = !isFloat(actual.dtype) && rtol == 0 && atol == 0;
  size_t element = strata_dtype_size(actual.dtype);
  for (int64_t i = 0; i < count; ++i) {
    if (actual.dtype == STRATA_STRING) {
      if (stringAt(actual, i) == stringAt(expected, i))
        continue;
      ++different;
      if (worst < 0)
        worst = i;
      continue;
    }
    if (exact) {
      // Beyond 2^53 a double does not tell integers apart.
      if (std::memcmp(static_cast<const char *>(actual.data) + i * element,
                      static_cast<const char *>(expected.data) + i * element, element) == 0)
        continue;
      ++different;
      if (worst < 0)
        worst = i;
      continue;
    }
    std::complex<double> a = elementAt(actual, i), e = elementAt(expected, i);
    bool nanA = std::isnan(a.real()) || std::isnan(a.imag());
    bool nanE = std::isnan(e.real()) || std::isnan(e.imag());
    if (a == e || (nanA && nanE))
      continue;
    double error = std::abs(a - e), allowed = atol + rtol * std::abs(e);
    if (std::isfinite(error) && error <= allowed)
      continue;
    ++different;
    double excess = std::isfinite(error) ? error - allowed : INFINITY;
    if (excess > worstExcess) {
      worstExcess = excess;
      worst = i;
    }
  }
  if (different == 0)
    return true;
  os << different << " of " << count << " elements differ; the worst is [";
  std::vector<int64_t> index;
  int64_t rest = worst;
  for (auto dim = actual.shape.rbegin(); dim != actual.shape.rend(); ++dim) {
    index.insert(index.begin(), rest % *dim);
    rest /= *dim;
  }
  interleaveComma(index, os);
  os << "]: ";
  printValue(os, actual, worst);
  os << ", expected ";
  printValue(os, expected, worst);
  return false;
}

void printValues(raw_ostream &os, const Tensor &tensor, int64_t count) {
  if (tensor.isContainer()) {
    os << "[";
    interleaveComma(ArrayRef(tensor.elements).take_front(count), os, [&](const Tensor &element) {
      os << shapeOf(element) << " ";
      printValues(os, element, count);
    });
    os << (static_cast<int64_t>(tensor.elements.size()) > count ? ", ...]" : "]");
    return;
  }
  int64_t size = tensor.size();
  os << "[";
  for (int64_t i = 0; i < std::min(size, count); ++i) {
    os << (i ? ", " : "");
    printValue(os, tensor, i);
  }
  os << (size > count ? ", ...]" : "]");
}

uint64_t checksum(const Tensor &tensor) {
  std::string head = shapeOf(tensor), rest;
  for (const Tensor &element : tensor.elements)
    rest += utohexstr(checksum(element)) + ";";
  if (tensor.dtype == STRATA_STRING)
    for (int64_t i = 0, count = tensor.size(); i < count; ++i)
      rest += utostr(stringAt(tensor, i).size()) + ":" + stringAt(tensor, i).str();
  bool inPlace = !tensor.isContainer() && tensor.dtype != STRATA_STRING;
  uint64_t parts[2] = {
      xxh3_64bits(head),
      xxh3_64bits(inPlace ? StringRef(static_cast<const char *>(tensor.data), tensor.bytes()) : StringRef(rest))};
  return xxh3_64bits(ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(parts), sizeof(parts)));
}

} // namespace strata
