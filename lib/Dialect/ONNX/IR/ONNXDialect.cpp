//===- ONNXDialect.cpp - types, attributes and non-operators of onnx ------===//

#include "Dialect/FormalParameters.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace strata::onnx;

#include "Dialect/ONNX/IR/ONNXDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "Dialect/ONNX/IR/ONNXTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "Dialect/ONNX/IR/ONNXAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/ONNXOps.cpp.inc"

void ONNXDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "Dialect/ONNX/IR/ONNXTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Dialect/ONNX/IR/ONNXAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Dialect/ONNX/IR/ONNXOps.cpp.inc"
      >();
#define ONNX_FAMILY(name) register_##name();
#include "Dialect/ONNX/IR/ONNXFamilies.def"
}

Operation *ONNXDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return builder.create<InitializerOp>(loc, elements);
}

OpFoldResult InitializerOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult CastShapeOp::fold(FoldAdaptor) {
  return getInput().getType() == getOutput().getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

namespace strata {
namespace onnx {
#define ONNX_FAMILY(name) std::optional<TypeSets> getTypeSetsOf_##name(llvm::StringRef op);
#include "Dialect/ONNX/IR/ONNXFamilies.def"
} // namespace onnx

std::optional<TypeSets> getTypeSets(StringRef op) {
#define ONNX_FAMILY(name)                                                                                              \
  if (std::optional<TypeSets> found = onnx::getTypeSetsOf_##name(op))                                                  \
    return found;
#include "Dialect/ONNX/IR/ONNXFamilies.def"
  return std::nullopt;
}
} // namespace strata
