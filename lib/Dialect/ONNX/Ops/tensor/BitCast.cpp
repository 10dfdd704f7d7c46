//===- BitCast.cpp - BitCast: the same bits under another type ------------===//

#include "../Elementwise.h"

// ONNX's width in memory; a bool takes a byte.
static unsigned getBits(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  if (isa<F4E2M1Type>(element))
    return 4;
  if (isa<F6E2M3Type, F6E3M2Type>(element))
    return 6;
  if (!element.isIntOrFloat())
    return 8;
  return element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
}

static LogicalResult inferBitCast(ShapeContext &c) {
  int64_t to = c.integer("to", 0);
  std::optional<ElementKind> kind = getElementKindOfDataType(to);
  if (!kind || *kind == ElementKind::string)
    return c.emitError() << "to = " << to << " is no element type with a fixed width";
  Type target = getElementType(c.getContext(), *kind), source = c.elementType(0);
  if (getBits(target) != getBits(source))
    return c.emitError() << "cannot reinterpret " << getBits(source) << " bits as " << getBits(target);
  c.setElementType(0, target);
  c.copyShape(0);
  return success();
}

static FailureOr<SmallVector<Value>> lowerBitCast(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type from = getElementType(op->getOperand(0)), to = getElementType(op->getResult(0));
  Type seamFrom = getSeamElementType(from), seamTo = getSeamElementType(to);
  if (isa<ComplexType>(seamFrom) != isa<ComplexType>(seamTo))
    return op->emitOpError("cannot be compiled: between complex and other numbers");
  auto body = [&](ImplicitLocOpBuilder &n, ValueRange x) -> Value {
    Value value = x[0];
    if (seamFrom.isInteger(1) && !seamTo.isInteger(1))
      return n.create<arith::ExtUIOp>(seamTo, value);
    if (seamTo.isInteger(1) && !seamFrom.isInteger(1))
      return n.create<arith::CmpIOp>(arith::CmpIPredicate::ne, value,
                                     n.create<arith::ConstantOp>(n.getZeroAttr(seamFrom)));
    if (seamFrom != seamTo)
      value = n.create<arith::BitcastOp>(seamTo, value);
    // A narrow integer is extended within its byte, other narrow types are not.
    auto narrow = dyn_cast<IntegerType>(to);
    if (!narrow || narrow.getWidth() >= 8)
      if (unsigned bits = getBits(to); bits < 8)
        return n.create<arith::AndIOp>(value, n.create<arith::ConstantOp>(n.getI8IntegerAttr((1 << bits) - 1)));
    if (narrow && narrow.getWidth() < 8) {
      Value shift = n.create<arith::ConstantOp>(n.getI8IntegerAttr(8 - narrow.getWidth()));
      value = n.create<arith::ShLIOp>(value, shift);
      return scalar::isUnsigned(to) ? n.create<arith::ShRUIOp>(value, shift).getResult()
                                    : n.create<arith::ShRSIOp>(value, shift).getResult();
    }
    return value;
  };
  if (from == to)
    return SmallVector<Value>{operands[0]};
  return SmallVector<Value>{b.elementwise(operands, seamTo, body)};
}

STRATA_SLICE(BitCast) { ops.add("BitCast", {.inferShapes = inferBitCast, .lower = lowerBitCast}); }
