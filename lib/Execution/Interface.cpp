//===- Interface.cpp - what a model takes and gives -----------------------===//

#include "Execution/Interface.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace strata {

static constexpr llvm::StringLiteral kInterface = "strata.interface";

/// The ONNX element type that a seam type stands for when nothing else is said.
static strata_dtype defaultDtype(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF64()   ? STRATA_COMPLEX128
           : complex.getElementType().isF32() ? STRATA_COMPLEX64
                                              : STRATA_UNDEFINED;
  if (type.isF32())
    return STRATA_FLOAT;
  if (type.isF64())
    return STRATA_DOUBLE;
  if (type.isF16())
    return STRATA_FLOAT16;
  if (type.isBF16())
    return STRATA_BFLOAT16;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return STRATA_UNDEFINED;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return STRATA_BOOL;
  case 8:
    return isUnsigned ? STRATA_UINT8 : STRATA_INT8;
  case 16:
    return isUnsigned ? STRATA_UINT16 : STRATA_INT16;
  case 32:
    return isUnsigned ? STRATA_UINT32 : STRATA_INT32;
  case 64:
    return isUnsigned ? STRATA_UINT64 : STRATA_INT64;
  default:
    return STRATA_UNDEFINED;
  }
}

/// Lists in `elements` what is in a container: dictionaries {dtype, shape,
/// dims, element}, of which tensors without a known rank have only dtype.
static LogicalResult readElements(Operation *op, ArrayAttr attrs, std::vector<ValueInfo> &elements) {
  for (Attribute attr : attrs) {
    auto dict = dyn_cast<DictionaryAttr>(attr);
    auto dtype = dict ? dict.getAs<StringAttr>("dtype") : nullptr;
    if (!dtype)
      return op->emitError() << "the element of a container is malformed: " << attr;
    ValueInfo &info = elements.emplace_back();
    info.dtype = strata_dtype_from_name(dtype.str().c_str());
    auto shape = dict.getAs<DenseI64ArrayAttr>("shape");
    auto dims = dict.getAs<ArrayAttr>("dims");
    if (info.dtype == STRATA_UNDEFINED || !shape != !dims || (dims && dims.size() != static_cast<size_t>(shape.size())))
      return op->emitError() << "the element of a container is malformed: " << attr;
    info.ranked = static_cast<bool>(shape);
    if (shape)
      info.shape.assign(shape.asArrayRef().begin(), shape.asArrayRef().end());
    for (Attribute dim : dims ? dims.getValue() : ArrayRef<Attribute>()) {
      auto name = dyn_cast<StringAttr>(dim);
      info.dimNames.push_back(name ? name.str() : std::string());
    }
    if (auto inner = dict.getAs<ArrayAttr>("element"))
      if (failed(readElements(op, inner, info.elements)))
        return failure();
  }
  return success();
}

/// Whether there are as many elements as the kind of value has.
static bool isComplete(const ValueInfo &info) {
  size_t count = info.dtype == STRATA_MAP ? 2 : info.dtype >= STRATA_SEQUENCE ? 1 : 0;
  return info.elements.size() == count && llvm::all_of(info.elements, isComplete);
}

/// One input or output of @main; `what` and `index` are for messages.
static FailureOr<ValueInfo> readValue(Operation *op, Type type, DictionaryAttr attrs, const char *what,
                                      unsigned index) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return op->emitError() << what << " " << index << " of @main has type " << type << "; a ranked tensor is expected";
  ValueInfo info;
  for (int64_t dim : shaped.getShape())
    info.shape.push_back(ShapedType::isDynamic(dim) ? -1 : dim);
  info.dimNames.resize(info.shape.size());
  info.dtype = defaultDtype(shaped.getElementType());
  if (attrs) {
    if (auto name = attrs.getAs<StringAttr>("strata.name"))
      info.name = name.str();
    if (auto dtype = attrs.getAs<StringAttr>("strata.dtype"))
      info.dtype = strata_dtype_from_name(dtype.str().c_str());
    if (auto dims = attrs.getAs<ArrayAttr>("strata.dims")) {
      if (dims.size() != info.shape.size())
        return op->emitError() << "strata.dims of " << what << " " << index << " names " << dims.size()
                               << " dimensions of a type of rank " << info.shape.size();
      for (auto [i, dim] : llvm::enumerate(dims))
        if (auto name = dyn_cast<StringAttr>(dim))
          info.dimNames[i] = name.str();
    }
  }
  if (attrs)
    if (auto elements = attrs.getAs<ArrayAttr>("strata.element"))
      if (failed(readElements(op, elements, info.elements)))
        return failure();
  if (!isComplete(info))
    return op->emitError() << what << " " << index << " of @main does not say what it holds";
  if (info.name.empty())
    info.name = what + std::to_string(index);
  if (info.dtype == STRATA_UNDEFINED)
    return op->emitError() << what << " " << index << " of @main has no "
                           << "known element type: " << type;
  return info;
}

static FailureOr<ModelInterface> readFromMain(ModuleOp module) {
  auto main = module.lookupSymbol<FunctionOpInterface>("main");
  if (!main)
    return module.emitError("the module has no function @main");
  ModelInterface result;
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes())) {
    auto info = readValue(main, type, main.getArgAttrDict(i), "input", i);
    if (failed(info))
      return failure();
    result.inputs.push_back(std::move(*info));
  }
  for (auto [i, type] : llvm::enumerate(main.getResultTypes())) {
    auto info = readValue(main, type, main.getResultAttrDict(i), "output", i);
    if (failed(info))
      return failure();
    result.outputs.push_back(std::move(*info));
  }
  return result;
}

static FailureOr<std::vector<ValueInfo>> parseValues(ModuleOp module, DictionaryAttr interface, StringRef key) {
  auto array = interface.getAs<ArrayAttr>(key);
  if (!array)
    return module.emitError() << kInterface << " has no array '" << key << "'";
  std::vector<ValueInfo> values;
  for (Attribute element : array) {
    auto dict = dyn_cast<DictionaryAttr>(element);
    auto name = dict ? dict.getAs<StringAttr>("name") : nullptr;
    auto dtype = dict ? dict.getAs<StringAttr>("dtype") : nullptr;
    auto shape = dict ? dict.getAs<DenseI64ArrayAttr>("shape") : nullptr;
    auto dims = dict ? dict.getAs<ArrayAttr>("dims") : nullptr;
    if (!name || !dtype || !shape || !dims || dims.size() != static_cast<size_t>(shape.size()))
      return module.emitError() << kInterface << " is malformed: " << element;
    ValueInfo info;
    info.name = name.str();
    info.dtype = strata_dtype_from_name(dtype.str().c_str());
    if (info.dtype == STRATA_UNDEFINED)
      return module.emitError() << kInterface << " has the unknown type " << dtype;
    info.shape.assign(shape.asArrayRef().begin(), shape.asArrayRef().end());
    for (Attribute dim : dims) {
      auto dimName = dyn_cast<StringAttr>(dim);
      info.dimNames.push_back(dimName ? dimName.str() : std::string());
    }
    if (auto elements = dict.getAs<ArrayAttr>("element"))
      if (failed(readElements(module, elements, info.elements)))
        return failure();
    if (!isComplete(info))
      return module.emitError() << kInterface << " is malformed: " << element;
    values.push_back(std::move(info));
  }
  return values;
}

FailureOr<ModelInterface> readInterface(ModuleOp module) {
  auto attr = module->getAttrOfType<DictionaryAttr>(kInterface);
  if (!attr)
    return readFromMain(module);
  auto inputs = parseValues(module, attr, "inputs");
  auto outputs = parseValues(module, attr, "outputs");
  if (failed(inputs) || failed(outputs))
    return failure();
  return ModelInterface{std::move(*inputs), std::move(*outputs)};
}

static ArrayAttr printElements(Builder &builder, ArrayRef<ValueInfo> values) {
  SmallVector<Attribute> result;
  for (const ValueInfo &info : values) {
    SmallVector<NamedAttribute> attrs{
        builder.getNamedAttr("dtype", builder.getStringAttr(strata_dtype_name(info.dtype)))};
    SmallVector<StringRef> dims(info.dimNames.begin(), info.dimNames.end());
    if (info.ranked) {
      attrs.push_back(builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(info.shape)));
      attrs.push_back(builder.getNamedAttr("dims", builder.getStrArrayAttr(dims)));
    }
    if (!info.elements.empty())
      attrs.push_back(builder.getNamedAttr("element", printElements(builder, info.elements)));
    result.push_back(builder.getDictionaryAttr(attrs));
  }
  return builder.getArrayAttr(result);
}

static ArrayAttr printValues(Builder &builder, ArrayRef<ValueInfo> values) {
  SmallVector<Attribute> result;
  for (const ValueInfo &info : values) {
    SmallVector<StringRef> dims(info.dimNames.begin(), info.dimNames.end());
    SmallVector<NamedAttribute> attrs = {
        builder.getNamedAttr("name", builder.getStringAttr(info.name)),
        builder.getNamedAttr("dtype", builder.getStringAttr(strata_dtype_name(info.dtype))),
        builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(info.shape)),
        builder.getNamedAttr("dims", builder.getStrArrayAttr(dims)),
    };
    if (!info.elements.empty())
      attrs.push_back(builder.getNamedAttr("element", printElements(builder, info.elements)));
    result.push_back(builder.getDictionaryAttr(attrs));
  }
  return builder.getArrayAttr(result);
}

LogicalResult attachInterface(ModuleOp module) {
  if (module->hasAttr(kInterface))
    return success();
  auto interface = readFromMain(module);
  if (failed(interface))
    return failure();
  Builder builder(module.getContext());
  module->setAttr(kInterface, builder.getDictionaryAttr(
                                  {builder.getNamedAttr("inputs", printValues(builder, interface->inputs)),
                                   builder.getNamedAttr("outputs", printValues(builder, interface->outputs))}));
  return success();
}

std::string formatType(const ValueInfo &info) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << strata_dtype_name(info.dtype);
  if (!info.elements.empty()) {
    os << "(";
    llvm::interleaveComma(info.elements, os, [&](const ValueInfo &element) { os << formatType(element); });
    os << ")";
    return text;
  }
  if (!info.ranked) {
    os << "[...]";
    return text;
  }
  os << "[";
  for (size_t i = 0; i < info.shape.size(); ++i) {
    os << (i ? ", " : "");
    if (info.shape[i] >= 0)
      os << info.shape[i];
    else
      os << (info.dimNames[i].empty() ? "?" : info.dimNames[i]);
  }
  os << "]";
  return text;
}

} // namespace strata
