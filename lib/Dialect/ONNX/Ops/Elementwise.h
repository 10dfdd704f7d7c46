//===- Elementwise.h - what elementwise slices share ------------*- C++ -*-===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_ELEMENTWISE_H
#define STRATA_LIB_DIALECT_ONNX_OPS_ELEMENTWISE_H

#include "Conversion/ScalarOps.h"
#include "Slice.h"

namespace strata::onnx {

inline LogicalResult inferSameShape(ShapeContext &c) {
  c.copyShape(0);
  return success();
}

/// The shape of NumPy's broadcasting; none, after an error, if the shapes contradict it.
inline FailureOr<Shape> broadcastShapes(ShapeContext &c, ArrayRef<Shape> shapes) {
  Shape result;
  for (const Shape &shape : shapes) {
    while (result.size() < shape.size())
      result.insert(result.begin(), Dim(1));
    for (size_t i = 0, lead = result.size() - shape.size(); i < shape.size(); ++i) {
      std::optional<Dim> dim = broadcastDims(result[lead + i], shape[i]);
      if (!dim)
        return c.emitError() << "sizes " << result[lead + i].size << " and " << shape[i].size << " of dimension "
                             << lead + i << " do not broadcast";
      result[lead + i] = *dim;
    }
  }
  return result;
}

/// The result's shape is that of all operands (of formals 0.. and their variadic values) broadcast together.
inline LogicalResult inferBroadcast(ShapeContext &c) {
  SmallVector<Shape> shapes;
  for (Value operand : c.getOperation()->getOperands()) {
    std::optional<Shape> shape = getShape(operand.getType());
    if (!shape)
      return success();
    shapes.push_back(*shape);
  }
  FailureOr<Shape> result = broadcastShapes(c, shapes);
  if (failed(result))
    return failure();
  c.setShape(0, *result);
  return success();
}

/// Compile-time elements of an elementwise operator: `fn` over the operands' elements, broadcast.
inline ValueAnalysis::Values broadcastValues(ShapeContext &c, llvm::function_ref<Dim(ArrayRef<Dim>)> fn) {
  constexpr int64_t maxElements = 256;
  Operation *op = c.getOperation();
  SmallVector<SmallVector<Dim>> elements;
  SmallVector<SmallVector<int64_t>> sizes;
  SmallVector<int64_t> result;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    ValueAnalysis::Values values = c.getAnalysis().getElements(operand);
    if (!type || !values || !type.hasStaticShape() || static_cast<int64_t>(values->size()) != type.getNumElements())
      return std::nullopt;
    elements.push_back(*values);
    sizes.emplace_back(type.getShape());
    while (result.size() < sizes.back().size())
      result.insert(result.begin(), 1);
    for (size_t i = 0, lead = result.size() - sizes.back().size(); i < sizes.back().size(); ++i) {
      int64_t &size = result[lead + i], own = sizes.back()[i];
      if (size != 1 && own != 1 && size != own)
        return std::nullopt;
      size = size == 1 ? own : size;
    }
  }
  int64_t count = 1;
  for (int64_t size : result)
    if (llvm::MulOverflow(count, size, count) || count > maxElements)
      return std::nullopt;
  SmallVector<Dim> out;
  for (int64_t linear = 0; linear < count; ++linear) {
    SmallVector<Dim> arguments;
    for (auto [values, shape] : llvm::zip_equal(elements, sizes)) {
      int64_t rest = linear, index = 0, stride = 1;
      for (size_t i = 0; i < shape.size(); ++i) { // From the last dimension.
        int64_t size = result[result.size() - 1 - i], own = shape[shape.size() - 1 - i];
        index += own == 1 ? 0 : rest % size * stride;
        rest /= size;
        stride *= own;
      }
      arguments.push_back(values[index]);
    }
    out.push_back(fn(arguments));
  }
  return out;
}

/// `value` as an element of float or double.
inline double roundFloat(double value, Type element) { return element.isF32() ? static_cast<float>(value) : value; }

/// `value` as an element of an integer type: the bits beyond its width are dropped.
inline int64_t wrapInteger(int64_t value, Type element) {
  auto type = cast<IntegerType>(element);
  APInt bits = APInt(64, value).zextOrTrunc(type.getWidth());
  return scalar::isUnsigned(element) ? static_cast<int64_t>(bits.getZExtValue()) : bits.getSExtValue();
}

} // namespace strata::onnx

#endif // STRATA_LIB_DIALECT_ONNX_OPS_ELEMENTWISE_H
