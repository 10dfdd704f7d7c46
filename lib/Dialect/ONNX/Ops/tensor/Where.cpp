//===- Where.cpp - Where: one of two elements, by a condition -------------===//

#include "../Elementwise.h"

static ValueAnalysis::Values inferElements(ShapeContext &c) {
  return broadcastValues(c, [](ArrayRef<Dim> x) {
    if (x[0].isStatic())
      return x[0].size ? x[1] : x[2];
    return x[1].sameAs(x[2]) ? x[1] : Dim();
  });
}

static FailureOr<SmallVector<Value>> lowerWhere(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto body = [](ImplicitLocOpBuilder &n, ValueRange x) -> Value {
    return n.create<arith::SelectOp>(x[0], x[1], x[2]);
  };
  Type element = getSeamElementType(getElementType(op->getResult(0)));
  return SmallVector<Value>{b.elementwise(operands, element, body, op->getOperands())};
}

STRATA_SLICE(Where) {
  ops.add("Where", {.inferShapes = inferBroadcast, .inferValues = inferElements, .lower = lowerWhere, .handles = true});
}
