//===- TensorFlow.cpp - the dialect tf ------------------------------------===//

#include "Dialect/TensorFlow/IR/TensorFlow.h"
#include "Dialect/FormalParameters.h"
#include "mlir/IR/Builders.h"

#include "Dialect/TensorFlow/IR/TensorFlowDialect.cpp.inc"
#define GET_OP_CLASSES
#include "Dialect/TensorFlow/IR/TensorFlow.cpp.inc"

void strata::tf::TensorFlowDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Dialect/TensorFlow/IR/TensorFlow.cpp.inc"
      >();
}
