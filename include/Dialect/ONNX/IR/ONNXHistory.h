//===- ONNXHistory.h - the older versions of operators ----------*- C++ -*-===//
//
// Expensive to include; only upgrade steps between typed ops need it.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_DIALECT_ONNX_IR_ONNXHISTORY_H
#define STRATA_DIALECT_ONNX_IR_ONNXHISTORY_H

#include "Dialect/ONNX/IR/ONNXBase.h"

#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/controlflow_history.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/generator_history.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/logical_history.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/math_history.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/ml_history.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/nn_history.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/objectdetection_history.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/optional_history.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/quantization_history.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/reduction_history.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/rnn_history.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/sequence_history.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/opset/tensor_history.h.inc"

#endif // STRATA_DIALECT_ONNX_IR_ONNXHISTORY_H
