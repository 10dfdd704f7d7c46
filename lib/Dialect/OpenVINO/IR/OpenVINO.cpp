//===- OpenVINO.cpp - the dialect ov ------------------------------------===//

#include "Dialect/OpenVINO/IR/OpenVINO.h"
#include "Dialect/FormalParameters.h"
#include "mlir/IR/Builders.h"

#include "Dialect/OpenVINO/IR/OpenVINODialect.cpp.inc"
#define GET_OP_CLASSES
#include "Dialect/OpenVINO/IR/OpenVINO.cpp.inc"

void strata::ov::OpenVINODialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Dialect/OpenVINO/IR/OpenVINO.cpp.inc"
      >();
}
