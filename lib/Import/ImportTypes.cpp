//===- ImportTypes.cpp - ONNX types to MLIR types -------------------------===//

#include "ImportTypes.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlir;

namespace strata::importer {

const ElementFormat *getElementFormat(int32_t dataType) {
  using F = ElementField;
  // Indexed by TensorProto.DataType.
  static const ElementFormat formats[] = {
      {0, F::Int32, 1},    // undefined
      {32, F::Float, 1},   // float
      {8, F::Int32, 1},    // uint8
      {8, F::Int32, 1},    // int8
      {16, F::Int32, 1},   // uint16
      {16, F::Int32, 1},   // int16
      {32, F::Int32, 1},   // int32
      {64, F::Int64, 1},   // int64
      {0, F::String, 1},   // string
      {8, F::Int32, 1},    // bool
      {16, F::Int32, 1},   // float16
      {64, F::Double, 1},  // double
      {32, F::UInt64, 1},  // uint32
      {64, F::UInt64, 1},  // uint64
      {64, F::Float, 2},   // complex64
      {128, F::Double, 2}, // complex128
      {16, F::Int32, 1},   // bfloat16
      {8, F::Int32, 1},    // float8e4m3fn
      {8, F::Int32, 1},    // float8e4m3fnuz
      {8, F::Int32, 1},    // float8e5m2
      {8, F::Int32, 1},    // float8e5m2fnuz
      {4, F::Int32, 1},    // uint4
      {4, F::Int32, 1},    // int4
      {4, F::Int32, 1},    // float4e2m1
      {8, F::Int32, 1},    // float8e8m0
      {2, F::Int32, 1},    // uint2
      {2, F::Int32, 1},    // int2
      {6, F::Int32, 1},    // float6e2m3
      {6, F::Int32, 1},    // float6e3m2
  };
  static_assert(std::size(formats) == proto::TensorProto::FLOAT6E3M2 + 1);
  if (dataType <= 0 || dataType >= static_cast<int32_t>(std::size(formats)))
    return nullptr;
  return &formats[dataType];
}

FailureOr<Type> importElementType(int32_t dataType, const Trace &trace) {
  if (auto kind = onnx::getElementKindOfDataType(dataType))
    return onnx::getElementType(trace.getContext(), *kind);
  return trace.error() << "element type " << dataType << " is not one of ONNX's (1 to "
                       << static_cast<int>(proto::TensorProto::FLOAT6E3M2) << ")",
         failure();
}

FailureOr<RankedTensorType> makeTensorType(ArrayRef<int64_t> dims, ArrayRef<StringRef> names, Type element,
                                           const Trace &trace) {
  int64_t elements = 1;
  for (int64_t dim : dims)
    // A zero does not excuse the others: 0 x 2^62 x 2^62 has no strides.
    if (!ShapedType::isDynamic(dim) && MulOverflow(elements, std::max<int64_t>(dim, 1), elements))
      return trace.error() << "a tensor with more than 2^63 elements", failure();
  Attribute encoding;
  if (llvm::any_of(names, [](StringRef name) { return !name.empty(); })) {
    SmallVector<StringAttr> attrs;
    for (StringRef name : names)
      attrs.push_back(StringAttr::get(trace.getContext(), name));
    encoding = onnx::DimsAttr::get(trace.getContext(), attrs);
  }
  return RankedTensorType::get(dims, element, encoding);
}

namespace {
constexpr unsigned kDeepestType = 32;

FailureOr<Type> importShaped(int32_t elementType, const proto::TensorShapeProto *shape, const Trace &trace) {
  FailureOr<Type> element = importElementType(elementType, trace);
  if (failed(element))
    return failure();
  if (!shape)
    return Type(UnrankedTensorType::get(*element));
  SmallVector<int64_t> dims;
  SmallVector<StringRef> names;
  for (auto [i, dim] : llvm::enumerate(shape->dim())) {
    names.push_back("");
    if (!dim.has_dim_value()) {
      dims.push_back(ShapedType::kDynamic);
      if (dim.dim_param() != "?") // Not a name, but what some writers put in the place of one.
        names.back() = dim.dim_param();
    } else if (dim.dim_value() == -1) {
      // Not ONNX, but what many writers mean by an unknown size.
      dims.push_back(ShapedType::kDynamic);
    } else if (dim.dim_value() < 0) {
      return trace.error() << "dimension " << i << " is " << dim.dim_value(), failure();
    } else {
      dims.push_back(dim.dim_value());
    }
  }
  FailureOr<RankedTensorType> type = makeTensorType(dims, names, *element, trace);
  if (failed(type))
    return failure();
  return Type(*type);
}

FailureOr<Type> importNested(const proto::TypeProto &type, const Trace &trace, unsigned depth) {
  if (depth > kDeepestType)
    return trace.error() << "a type nested deeper than " << kDeepestType << " levels", failure();
  auto wrap = [&](const proto::TypeProto &inner, auto make) -> FailureOr<Type> {
    FailureOr<Type> element = importNested(inner, trace, depth + 1);
    if (failed(element))
      return failure();
    return Type(make(*element));
  };
  switch (type.value_case()) {
  case proto::TypeProto::kTensorType: {
    const auto &tensor = type.tensor_type();
    return importShaped(tensor.elem_type(), tensor.has_shape() ? &tensor.shape() : nullptr, trace);
  }
  case proto::TypeProto::kSparseTensorType: {
    const auto &tensor = type.sparse_tensor_type();
    if (!tensor.has_shape())
      return trace.error() << "a sparse tensor type without a shape", failure();
    FailureOr<Type> dense = importShaped(tensor.elem_type(), &tensor.shape(), trace);
    if (failed(dense))
      return failure();
    return Type(onnx::SparseTensorType::get(trace.getContext(), cast<RankedTensorType>(*dense)));
  }
  case proto::TypeProto::kSequenceType:
    return wrap(type.sequence_type().elem_type(), [&](Type t) { return onnx::SeqType::get(trace.getContext(), t); });
  case proto::TypeProto::kOptionalType:
    return wrap(type.optional_type().elem_type(),
                [&](Type t) { return onnx::OptionalType::get(trace.getContext(), t); });
  case proto::TypeProto::kMapType: {
    FailureOr<Type> key = importElementType(type.map_type().key_type(), trace);
    if (failed(key))
      return failure();
    return wrap(type.map_type().value_type(), [&](Type t) { return onnx::MapType::get(trace.getContext(), *key, t); });
  }
  case proto::TypeProto::kOpaqueType:
    return trace.error() << "opaque type '" << type.opaque_type().domain() << "::" << type.opaque_type().name()
                         << "' is not supported",
           failure();
  default:
    return trace.error() << "a type without content", failure();
  }
}
} // namespace

FailureOr<Type> importType(const proto::TypeProto &type, const Trace &trace) { return importNested(type, trace, 0); }

} // namespace strata::importer
