//===- Optional.cpp - Optional, OptionalHasElement, OptionalGetElement ----===//
//
// The handle of an optional is that of its element, or zero.
//
//===----------------------------------------------------------------------===//

#include "../Containers.h"
#include "Dialect/VersionSteps.h"

static LogicalResult verifyOptional(Operation *op) {
  if (op->getNumOperands() == 0 && !op->getAttr("elem_type"))
    return op->emitOpError("needs an input or the attribute elem_type");
  return success();
}

static LogicalResult inferOptional(ShapeContext &c) {
  Type element = c.hasInput(0) ? c.input(0).getType() : c.attr<TypeAttr>("elem_type").getValue();
  c.setType(0, OptionalType::get(c.getContext(), element));
  return success();
}

static FailureOr<SmallVector<Value>> lowerOptional(Operation *op, ValueRange operands, LinalgBuilder &b) {
  if (operands.empty())
    return SmallVector<Value>{b.fromScalar(b.scalarInt(b.getI64Type(), 0))};
  if (failed(checkElement(op, op->getOperand(0).getType())))
    return failure();
  return SmallVector<Value>{b.fromScalar(toObject(b, op->getOperand(0), operands[0]))};
}

static LogicalResult inferHas(ShapeContext &c) {
  c.setShape(0, {});
  return success();
}

// What is no optional is there.
static std::optional<bool> isThere(Operation *op) {
  if (op->getNumOperands() == 0)
    return false;
  if (!isa<OptionalType>(op->getOperand(0).getType()))
    return true;
  return std::nullopt;
}

static ValueAnalysis::Values inferHasValue(ShapeContext &c) {
  std::optional<bool> there = isThere(c.getOperation());
  return there ? ValueAnalysis::Values(SmallVector<Dim>{Dim(*there)}) : std::nullopt;
}

static Value hasElement(LinalgBuilder &b, Value handle) {
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, handle, b.scalarInt(b.getI64Type(), 0));
}

static FailureOr<SmallVector<Value>> lowerHas(Operation *op, ValueRange operands, LinalgBuilder &b) {
  std::optional<bool> there = isThere(op);
  Value result = there ? b.scalarInt(b.getI1Type(), *there) : hasElement(b, b.extractScalar(operands[0]));
  return SmallVector<Value>{b.fromScalar(result)};
}

static LogicalResult inferGet(ShapeContext &c) {
  Type type = c.input(0).getType();
  if (auto optional = dyn_cast<OptionalType>(type))
    type = optional.getElement();
  c.setType(0, type);
  return success();
}

static FailureOr<SmallVector<Value>> lowerGet(Operation *op, ValueRange operands, LinalgBuilder &b) {
  if (!isa<OptionalType>(op->getOperand(0).getType()))
    return SmallVector<Value>{operands[0]};
  Value handle = b.extractScalar(operands[0]);
  b.check(hasElement(b, handle), "the optional is empty");
  return SmallVector<Value>{fromObject(b, handle, op->getResult(0).getType())};
}

STRATA_SLICE(Optional) {
  ops.add("Optional",
          {.verify = verifyOptional, .inferShapes = inferOptional, .lower = lowerOptional, .handles = true});
  ops.add("OptionalHasElement", {.inferShapes = inferHas,
                                 .inferValues = inferHasValue,
                                 .upgrade = keepAttributes,
                                 .downgrade = downgradePlainly,
                                 .lower = lowerHas,
                                 .handles = true});
  ops.add("OptionalGetElement",
          {.inferShapes = inferGet, .downgrade = downgradePlainly, .lower = lowerGet, .handles = true});
}
