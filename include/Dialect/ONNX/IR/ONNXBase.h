//===- ONNXBase.h - the onnx dialect without its operators ------*- C++ -*-===//

#ifndef STRATA_DIALECT_ONNX_IR_ONNXBASE_H
#define STRATA_DIALECT_ONNX_IR_ONNXBASE_H

#include "Dialect/ONNX/IR/ElementKinds.h"
#include "Dialect/ShapeContext.h"
#include "Dialect/VersionedOp.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Dialect/ONNX/IR/ONNXDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "Dialect/ONNX/IR/ONNXTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "Dialect/ONNX/IR/ONNXAttributes.h.inc"
#define GET_OP_CLASSES
#include "Dialect/ONNX/IR/ONNXOps.h.inc"

#endif // STRATA_DIALECT_ONNX_IR_ONNXBASE_H
