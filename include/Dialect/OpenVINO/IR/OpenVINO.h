//===- OpenVINO.h - the dialect ov ------------------------*- C++ -*-===//

#ifndef STRATA_DIALECT_OPENVINO_IR_OPENVINO_H
#define STRATA_DIALECT_OPENVINO_IR_OPENVINO_H

#include "Dialect/ONNX/IR/ONNXBase.h"

#include "Dialect/OpenVINO/IR/OpenVINODialect.h.inc"
#define GET_OP_CLASSES
#include "Dialect/OpenVINO/IR/OpenVINO.h.inc"

#endif // STRATA_DIALECT_OPENVINO_IR_OPENVINO_H
