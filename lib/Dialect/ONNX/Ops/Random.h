//===- Random.h - what the random operators share ---------------*- C++ -*-===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_RANDOM_H
#define STRATA_LIB_DIALECT_ONNX_OPS_RANDOM_H

#include "Conversion/RandomNumbers.h"
#include "Elementwise.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSwitch.h"

namespace strata::onnx {

/// The op's number among the random ops of its function, in the order of the text: the same at every version.
inline int64_t getDrawNumber(Operation *op) {
  int64_t number = 0;
  op->getParentOfType<func::FuncOp>().walk<WalkOrder::PreOrder>([&](VersionedOpInterface other) {
    if (other.getOperation() == op)
      return WalkResult::interrupt();
    number += llvm::StringSwitch<bool>(getUnversionedName(other))
                  .Cases("Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
                         "RandomUniformLike", true)
                  .Default(false);
    return WalkResult::advance();
  });
  return number;
}

/// The key of an op whose attribute `seed` is a float: its bits.
inline Value makeKey(LinalgBuilder &b, Operation *op) {
  auto seed = op->getAttrOfType<FloatAttr>("seed");
  return draw::makeKey(b, getDrawNumber(op),
                       seed ? std::optional<uint64_t>(seed.getValue().bitcastToAPInt().getZExtValue()) : std::nullopt);
}

/// The kind of the result's elements: that of attribute `dtype` or, where it is absent, `absent` or the input's. An
/// error if the operator's version does not have it.
inline FailureOr<ElementKind> getDrawnKind(Operation *op, bool (*isResult)(ElementKind kind, int64_t version),
                                           std::optional<ElementKind> absent = std::nullopt) {
  int64_t version = cast<VersionedOpInterface>(op).getSinceVersion();
  if (auto dtype = op->getAttrOfType<IntegerAttr>("dtype")) {
    std::optional<ElementKind> kind = getElementKindOfDataType(dtype.getInt());
    if (!kind)
      return op->emitOpError("dtype ") << dtype.getInt() << " is no element type";
    if (!isResult(*kind, version))
      return op->emitOpError("dtype ") << dtype.getInt() << " (" << getElementName(*kind)
                                       << ") is no type of its result";
    return *kind;
  }
  if (absent)
    return *absent;
  std::optional<ElementKind> kind = getElementKind(getElementType(op->getOperand(0)));
  if (!isResult(*kind, version))
    return op->emitOpError("dtype is absent, and the input's type ")
           << getElementName(*kind) << " is no type of its result";
  return *kind;
}

/// Of the operators that draw floating-point numbers.
inline bool isFloatResult(ElementKind kind, int64_t version) {
  return kind == ElementKind::float16 || kind == ElementKind::float32 || kind == ElementKind::float64 ||
         (kind == ElementKind::bfloat16 && version >= 22);
}

/// The shape rule of the operators that have the attribute `shape`, or whose result has the shape of the input.
inline LogicalResult inferDrawn(ShapeContext &c, ElementKind kind) {
  c.setElementType(0, onnx::getElementType(c.getContext(), kind));
  if (auto shape = c.integerArray("shape"))
    c.setShape(0, Shape(shape->begin(), shape->end()));
  else
    c.copyShape(0);
  return success();
}

inline LogicalResult verifyShape(Operation *op) {
  if (auto shape = op->getAttrOfType<DenseI64ArrayAttr>("shape"))
    for (int64_t size : shape.asArrayRef())
      if (size < 0)
        return op->emitOpError("size ") << size << " of the shape is negative";
  return success();
}

/// The sizes of the result, of the shape attribute or of the operand.
inline Sizes getDrawnSizes(Operation *op, ValueRange operands, LinalgBuilder &b) {
  if (operands.empty())
    return getAsIndexOpFoldResult(b.getContext(), cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  return b.sizes(operands[0]);
}

/// An f64 rounded to a floating-point type of 16 bits or more.
inline Value roundTo(ImplicitLocOpBuilder &b, Value value, Type element) {
  return value.getType() == element ? value : b.create<arith::TruncFOp>(element, value).getResult();
}

} // namespace strata::onnx

#endif // STRATA_LIB_DIALECT_ONNX_OPS_RANDOM_H
