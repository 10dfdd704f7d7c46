//===- ONNX.h - the newest version of every operator ------------*- C++ -*-===//
//
// Behaviour is written against the aliases at the end: `SoftmaxOp` is the newest
// Softmax. Older versions: ONNXHistory.h.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_DIALECT_ONNX_IR_ONNX_H
#define STRATA_DIALECT_ONNX_IR_ONNX_H

#include "Dialect/ONNX/IR/ONNXBase.h"

#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/controlflow.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/generator.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/image.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/logical.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/math.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/ml.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/nn.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/objectdetection.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/optional.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/preview.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/quantization.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/reduction.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/rnn.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/sequence.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/tensor.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/text.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/training.h.inc"

namespace strata::onnx {
#include "Dialect/ONNX/IR/opset/ONNXAliases.h.inc"
} // namespace strata::onnx

#endif // STRATA_DIALECT_ONNX_IR_ONNX_H
