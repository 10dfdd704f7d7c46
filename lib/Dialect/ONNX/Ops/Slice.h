//===- Slice.h - what slices include ----------------------------*- C++ -*-===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_SLICE_H
#define STRATA_LIB_DIALECT_ONNX_OPS_SLICE_H

#include "Conversion/LinalgBuilder.h"
#include "Dialect/ONNX/IR/ONNX.h"
#include "Dialect/OpBehavior.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace strata;
using namespace strata::onnx;

namespace strata::onnx {

inline Type getElementType(Value tensor) { return cast<TensorType>(tensor.getType()).getElementType(); }
inline int64_t getRank(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getRank(); }

} // namespace strata::onnx

#endif // STRATA_LIB_DIALECT_ONNX_OPS_SLICE_H
