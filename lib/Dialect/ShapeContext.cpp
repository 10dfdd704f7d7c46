//===- ShapeContext.cpp - type inference of versioned ops -----------------===//

#include "Dialect/ShapeContext.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/OpBehavior.h"

using namespace mlir;

namespace strata {

ShapeContext::ShapeContext(Operation *op, ValueAnalysis &values)
    : op(op), versioned(cast<VersionedOpInterface>(op)), signature(versioned.getSignature()), analysis(values),
      results(op->getNumResults()) {
  for (auto [i, formal] : llvm::enumerate(signature.inputs))
    if (formal.isTypeVariable() && !formal.heterogeneous)
      for (Value value : versioned.getInputGroup(i))
        bindings.try_emplace(formal.type, eraseShape(value.getType()));
}

unsigned ShapeContext::numInputs(unsigned formal) const { return versioned.getInputGroup(formal).size(); }

Value ShapeContext::input(unsigned formal, unsigned k) const {
  if (formal >= signature.inputs.size())
    return {};
  OperandRange group = versioned.getInputGroup(formal);
  return k < group.size() ? group[k] : Value();
}

std::optional<Shape> ShapeContext::shape(unsigned formal, unsigned k) const {
  Value value = input(formal, k);
  return value ? getShape(value.getType()) : std::nullopt;
}

std::optional<int64_t> ShapeContext::rank(unsigned formal, unsigned k) const {
  Value value = input(formal, k);
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type ? std::optional(type.getRank()) : std::nullopt;
}

Type ShapeContext::elementType(unsigned formal, unsigned k) const {
  Value value = input(formal, k);
  auto type = value ? dyn_cast<TensorType>(value.getType()) : TensorType();
  return type ? type.getElementType() : Type();
}

ValueAnalysis::Values ShapeContext::values(unsigned formal, unsigned k) const {
  Value value = input(formal, k);
  return value ? analysis.get(value) : std::nullopt;
}

ValueAnalysis::Values ShapeContext::elements(unsigned formal, unsigned k) const {
  Value value = input(formal, k);
  return value ? analysis.getElements(value) : std::nullopt;
}

std::optional<SmallVector<int64_t>> ShapeContext::integers(unsigned formal, unsigned k) const {
  auto dims = values(formal, k);
  if (!dims || !llvm::all_of(*dims, [](const Dim &dim) { return dim.isStatic(); }))
    return std::nullopt;
  return llvm::map_to_vector(*dims, [](const Dim &dim) { return dim.size; });
}

std::optional<SmallVector<double>> ShapeContext::floats(unsigned formal, unsigned k) const {
  if (auto constant = getFloats(getConstant(input(formal, k))))
    return constant;
  ValueAnalysis::Values known = elements(formal, k);
  if (!known || !isa<FloatType>(elementType(formal, k)) ||
      !llvm::all_of(*known, [](const Dim &dim) { return dim.isStatic(); }))
    return std::nullopt;
  return llvm::map_to_vector(*known, [](const Dim &dim) { return dim.asFloat(); });
}

int64_t ShapeContext::integer(StringRef name, int64_t absent) const {
  auto value = op->getAttrOfType<IntegerAttr>(name);
  return value ? value.getInt() : absent;
}

std::optional<SmallVector<int64_t>> ShapeContext::integerArray(StringRef name) const {
  if (auto values = op->getAttrOfType<DenseI64ArrayAttr>(name))
    return SmallVector<int64_t>(values.asArrayRef());
  return std::nullopt;
}

StringRef ShapeContext::string(StringRef name, StringRef absent) const {
  auto value = op->getAttrOfType<StringAttr>(name);
  return value ? value.getValue() : absent;
}

FailureOr<int64_t> ShapeContext::normalizeAxis(int64_t axis, int64_t rank, StringRef what) const {
  if (axis < -rank || axis >= rank)
    return emitError() << what << " " << axis << " is out of range for rank " << rank;
  return axis < 0 ? axis + rank : axis;
}

bool ShapeContext::hasOutput(unsigned formal) const {
  return formal < signature.outputs.size() && !versioned.getOutputGroup(formal).empty();
}

Type *ShapeContext::resultType(unsigned formal, unsigned k) {
  if (formal >= signature.outputs.size())
    return nullptr;
  ResultRange group = versioned.getOutputGroup(formal);
  return k < group.size() ? &results[group[k].getResultNumber()] : nullptr;
}

void ShapeContext::setType(unsigned formal, Type type, unsigned k) {
  if (Type *result = resultType(formal, k))
    *result = type;
}

void ShapeContext::setShape(unsigned formal, ArrayRef<Dim> shape, unsigned k) {
  if (Type *result = resultType(formal, k))
    if (auto tensor = dyn_cast_or_null<TensorType>(*result))
      *result = makeTensorType(shape, tensor.getElementType());
}

void ShapeContext::setElementType(unsigned formal, Type element, unsigned k) {
  Type *result = resultType(formal, k);
  if (!result)
    return;
  auto tensor = dyn_cast_or_null<TensorType>(*result);
  *result = tensor ? Type(tensor.clone(element)) : Type(UnrankedTensorType::get(element));
}

void ShapeContext::copyShape(unsigned from, unsigned formal) {
  if (std::optional<Shape> dims = shape(from))
    setShape(formal, *dims);
}

// `tensor(float)` as a type without shape; null for a type that signatures do not name literally.
static Type parseLiteralType(MLIRContext *context, StringRef text) {
  if (text.consume_front("tensor(") && text.consume_back(")"))
    if (auto kind = onnx::parseElementName(text))
      return UnrankedTensorType::get(onnx::getElementType(context, *kind));
  return {};
}

LogicalResult inferResultTypes(ShapeContext &context) {
  Operation *op = context.getOperation();
  for (auto [i, formal] : llvm::enumerate(context.signature.outputs)) {
    ResultRange group = context.versioned.getOutputGroup(i);
    for (OpResult result : group) {
      Type type;
      if (!formal.isTypeVariable())
        type = parseLiteralType(op->getContext(), formal.type);
      else if (!formal.heterogeneous)
        type = context.boundType(formal.type);
      context.results[result.getResultNumber()] = type;
    }
  }
  if (auto infer = getBehavior(op).inferShapes)
    if (failed(infer(context)))
      return failure();
  for (auto [type, result] : llvm::zip_equal(context.results, op->getResults()))
    if (!type)
      type = result.getType();
  return success();
}

} // namespace strata
