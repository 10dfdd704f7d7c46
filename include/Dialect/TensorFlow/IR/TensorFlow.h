//===- TensorFlow.h - the dialect tf ------------------------*- C++ -*-===//

#ifndef STRATA_DIALECT_TENSORFLOW_IR_TENSORFLOW_H
#define STRATA_DIALECT_TENSORFLOW_IR_TENSORFLOW_H

#include "Dialect/ONNX/IR/ONNXBase.h"

#include "Dialect/TensorFlow/IR/TensorFlowDialect.h.inc"
#define GET_OP_CLASSES
#include "Dialect/TensorFlow/IR/TensorFlow.h.inc"

#endif // STRATA_DIALECT_TENSORFLOW_IR_TENSORFLOW_H
