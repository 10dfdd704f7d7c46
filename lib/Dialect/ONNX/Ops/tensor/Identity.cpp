//===- Identity.cpp - Identity: the value itself --------------------------===//

#include "../Slice.h"

static LogicalResult inferIdentity(ShapeContext &c) {
  c.setType(0, c.input(0).getType());
  return success();
}

static ValueAnalysis::Values inferElements(ShapeContext &c) { return c.elements(0); }

static FailureOr<SmallVector<Value>> lowerIdentity(Operation *, ValueRange operands, LinalgBuilder &) {
  return SmallVector<Value>{operands[0]};
}

STRATA_SLICE(Identity) {
  ops.add("Identity",
          {.inferShapes = inferIdentity, .inferValues = inferElements, .lower = lowerIdentity, .handles = true});
}
