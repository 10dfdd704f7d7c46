//===- ElementKinds.cpp - ONNX's element types and type sets --------------===//

#include "Dialect/ONNX/IR/ElementKinds.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace strata::onnx {

namespace {
struct KindInfo {
  ElementKind kind;
  const char *name;
  int64_t dataType; // TensorProto.DataType
  Type (*make)(MLIRContext *);
};
} // namespace

template <unsigned width, IntegerType::SignednessSemantics signedness> static Type makeInteger(MLIRContext *context) {
  return IntegerType::get(context, width, signedness);
}
template <typename T> static Type make(MLIRContext *context) { return T::get(context); }

static constexpr auto kSignless = IntegerType::Signless;
static constexpr auto kUnsigned = IntegerType::Unsigned;

// In the order of ElementKind.
static const KindInfo kKinds[kNumElementKinds] = {
    {ElementKind::float16, "float16", 10, make<Float16Type>},
    {ElementKind::float32, "float", 1, make<Float32Type>},
    {ElementKind::float64, "double", 11, make<Float64Type>},
    {ElementKind::bfloat16, "bfloat16", 16, make<BFloat16Type>},
    {ElementKind::float8e4m3fn, "float8e4m3fn", 17, make<Float8E4M3FNType>},
    {ElementKind::float8e4m3fnuz, "float8e4m3fnuz", 18, make<Float8E4M3FNUZType>},
    {ElementKind::float8e5m2, "float8e5m2", 19, make<Float8E5M2Type>},
    {ElementKind::float8e5m2fnuz, "float8e5m2fnuz", 20, make<Float8E5M2FNUZType>},
    {ElementKind::float8e8m0, "float8e8m0", 24, make<F8E8M0Type>},
    {ElementKind::float6e2m3, "float6e2m3", 27, make<F6E2M3Type>},
    {ElementKind::float6e3m2, "float6e3m2", 28, make<F6E3M2Type>},
    {ElementKind::float4e2m1, "float4e2m1", 23, make<F4E2M1Type>},
    {ElementKind::int8, "int8", 3, makeInteger<8, kSignless>},
    {ElementKind::int16, "int16", 5, makeInteger<16, kSignless>},
    {ElementKind::int32, "int32", 6, makeInteger<32, kSignless>},
    {ElementKind::int64, "int64", 7, makeInteger<64, kSignless>},
    {ElementKind::uint8, "uint8", 2, makeInteger<8, kUnsigned>},
    {ElementKind::uint16, "uint16", 4, makeInteger<16, kUnsigned>},
    {ElementKind::uint32, "uint32", 12, makeInteger<32, kUnsigned>},
    {ElementKind::uint64, "uint64", 13, makeInteger<64, kUnsigned>},
    {ElementKind::int4, "int4", 22, makeInteger<4, kSignless>},
    {ElementKind::uint4, "uint4", 21, makeInteger<4, kUnsigned>},
    {ElementKind::int2, "int2", 26, makeInteger<2, kSignless>},
    {ElementKind::uint2, "uint2", 25, makeInteger<2, kUnsigned>},
    {ElementKind::boolean, "bool", 9, makeInteger<1, kSignless>},
    {ElementKind::string, "string", 8, make<StringType>},
    {ElementKind::complex64, "complex64", 14,
     [](MLIRContext *c) -> Type { return ComplexType::get(FloatType::getF32(c)); }},
    {ElementKind::complex128, "complex128", 15,
     [](MLIRContext *c) -> Type { return ComplexType::get(FloatType::getF64(c)); }},
};

static const KindInfo &getInfo(ElementKind kind) { return kKinds[static_cast<unsigned>(kind)]; }

// By width, from 2 bits: 2, 4, 8, 16, 32, 64.
static std::optional<ElementKind> getIntegerKind(IntegerType type) {
  if (type.isSigned())
    return std::nullopt;
  bool isUnsigned = type.isUnsigned();
  switch (type.getWidth()) {
  case 1:
    return isUnsigned ? std::nullopt : std::optional(ElementKind::boolean);
  case 2:
    return isUnsigned ? ElementKind::uint2 : ElementKind::int2;
  case 4:
    return isUnsigned ? ElementKind::uint4 : ElementKind::int4;
  case 8:
    return isUnsigned ? ElementKind::uint8 : ElementKind::int8;
  case 16:
    return isUnsigned ? ElementKind::uint16 : ElementKind::int16;
  case 32:
    return isUnsigned ? ElementKind::uint32 : ElementKind::int32;
  case 64:
    return isUnsigned ? ElementKind::uint64 : ElementKind::int64;
  default:
    return std::nullopt;
  }
}

std::optional<ElementKind> getElementKind(Type type) {
  using Result = std::optional<ElementKind>;
  return llvm::TypeSwitch<Type, Result>(type)
      .Case([](IntegerType t) { return getIntegerKind(t); })
      .Case([](Float16Type) { return ElementKind::float16; })
      .Case([](Float32Type) { return ElementKind::float32; })
      .Case([](Float64Type) { return ElementKind::float64; })
      .Case([](BFloat16Type) { return ElementKind::bfloat16; })
      .Case([](Float8E4M3FNType) { return ElementKind::float8e4m3fn; })
      .Case([](Float8E4M3FNUZType) { return ElementKind::float8e4m3fnuz; })
      .Case([](Float8E5M2Type) { return ElementKind::float8e5m2; })
      .Case([](Float8E5M2FNUZType) { return ElementKind::float8e5m2fnuz; })
      .Case([](F8E8M0Type) { return ElementKind::float8e8m0; })
      .Case([](F6E2M3Type) { return ElementKind::float6e2m3; })
      .Case([](F6E3M2Type) { return ElementKind::float6e3m2; })
      .Case([](F4E2M1Type) { return ElementKind::float4e2m1; })
      .Case([](StringType) { return ElementKind::string; })
      .Case([](ComplexType t) -> Result {
        if (t.getElementType().isF32())
          return ElementKind::complex64;
        return t.getElementType().isF64() ? Result(ElementKind::complex128) : std::nullopt;
      })
      .Default([](Type) { return std::nullopt; });
}

Type getElementType(MLIRContext *context, ElementKind kind) { return getInfo(kind).make(context); }
StringRef getElementName(ElementKind kind) { return getInfo(kind).name; }
int64_t getDataType(ElementKind kind) { return getInfo(kind).dataType; }

std::optional<ElementKind> parseElementName(StringRef name) {
  for (const KindInfo &info : kKinds)
    if (name == info.name)
      return info.kind;
  return std::nullopt;
}

std::optional<ElementKind> getElementKindOfDataType(int64_t dataType) {
  for (const KindInfo &info : kKinds)
    if (dataType == info.dataType)
      return info.kind;
  return std::nullopt;
}

static bool containsKind(uint32_t mask, Type element) {
  std::optional<ElementKind> kind = mask ? getElementKind(element) : std::nullopt;
  return kind && (mask >> static_cast<unsigned>(*kind) & 1);
}

static bool containsTensor(uint32_t mask, Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor && containsKind(mask, tensor.getElementType());
}

// Bit of a map type: 4 * (key is a string) + (float, double, string, int64).
static bool containsMap(uint32_t mask, Type type) {
  auto map = dyn_cast<MapType>(type);
  if (!map)
    return false;
  Type value = map.getValue();
  if (auto tensor = dyn_cast<TensorType>(value))
    value = tensor.getElementType();
  bool stringKey = isa<StringType>(map.getKey());
  if (!stringKey && !map.getKey().isSignlessInteger(64))
    return false;
  unsigned index = value.isF32()                 ? 0
                   : value.isF64()               ? 1
                   : isa<StringType>(value)      ? 2
                   : value.isSignlessInteger(64) ? 3
                                                 : 8;
  return index < 4 && (mask >> (4 * stringKey + index) & 1);
}

bool TypeSet::contains(Type type) const {
  if (isa<TensorType>(type))
    return containsTensor(tensor, type);
  if (auto sequence = dyn_cast<SeqType>(type))
    return containsTensor(seq, sequence.getElement()) || containsMap(seqMaps, sequence.getElement());
  if (auto opt = dyn_cast<OptionalType>(type)) {
    if (auto inner = dyn_cast<SeqType>(opt.getElement()))
      return containsTensor(optionalSeq, inner.getElement());
    return containsTensor(optional, opt.getElement());
  }
  return containsMap(maps, type);
}

std::string getTypeString(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    return "tensor(" + getTypeString(tensor.getElementType()) + ")";
  if (auto seq = dyn_cast<SeqType>(type))
    return "seq(" + getTypeString(seq.getElement()) + ")";
  if (auto opt = dyn_cast<OptionalType>(type))
    return "optional(" + getTypeString(opt.getElement()) + ")";
  if (auto map = dyn_cast<MapType>(type)) {
    auto tensor = dyn_cast<TensorType>(map.getValue());
    return "map(" + getTypeString(map.getKey()) + ", " +
           getTypeString(tensor ? tensor.getElementType() : map.getValue()) + ")";
  }
  if (auto sparse = dyn_cast<SparseTensorType>(type))
    return "sparse_tensor(" + getTypeString(sparse.getDense().getElementType()) + ")";
  if (std::optional<ElementKind> kind = getElementKind(type))
    return getElementName(*kind).str();
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

} // namespace strata::onnx
