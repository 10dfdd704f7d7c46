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

// The 64 bits of a complex number of two f32, the real part lowest, and back.
static Value complexToBits(ImplicitLocOpBuilder &n, Value value) {
  Type i32 = n.getI32Type(), i64 = n.getI64Type();
  Value real = n.create<arith::BitcastOp>(i32, n.create<complex::ReOp>(value));
  Value imaginary = n.create<arith::BitcastOp>(i32, n.create<complex::ImOp>(value));
  Value high = n.create<arith::ShLIOp>(n.create<arith::ExtUIOp>(i64, imaginary),
                                       n.create<arith::ConstantOp>(n.getI64IntegerAttr(32)));
  return n.create<arith::OrIOp>(n.create<arith::ExtUIOp>(i64, real), high);
}

static Value bitsToComplex(ImplicitLocOpBuilder &n, Value bits, Type complex) {
  Type i32 = n.getI32Type(), f32 = n.getF32Type();
  Value high = n.create<arith::ShRUIOp>(bits, n.create<arith::ConstantOp>(n.getI64IntegerAttr(32)));
  Value real = n.create<arith::BitcastOp>(f32, n.create<arith::TruncIOp>(i32, bits));
  Value imaginary = n.create<arith::BitcastOp>(f32, n.create<arith::TruncIOp>(i32, high));
  return n.create<complex::CreateOp>(complex, real, imaginary);
}

// Between f16 and bf16 by way of i16. Two casts in a row would become one, which the emulation of narrow floats takes
// for a computation, so each half of the bits goes by itself.
static Value throughInteger(ImplicitLocOpBuilder &n, Value value, Type to) {
  Value bits = n.create<arith::BitcastOp>(n.getI16Type(), value);
  auto masked = [&](int16_t mask) {
    return n.create<arith::AndIOp>(bits, n.create<arith::ConstantOp>(n.getI16IntegerAttr(mask)));
  };
  return n.create<arith::BitcastOp>(to, n.create<arith::OrIOp>(masked(0xff), masked(~0xff)));
}

static FailureOr<SmallVector<Value>> lowerBitCast(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type from = getElementType(op->getOperand(0)), to = getElementType(op->getResult(0));
  Type seamFrom = getSeamElementType(from), seamTo = getSeamElementType(to);
  auto body = [&](ImplicitLocOpBuilder &n, ValueRange x) -> Value {
    Value value = x[0];
    if (isa<ComplexType>(seamFrom))
      return n.createOrFold<arith::BitcastOp>(seamTo, complexToBits(n, value));
    if (isa<ComplexType>(seamTo))
      return bitsToComplex(n, n.createOrFold<arith::BitcastOp>(n.getI64Type(), value), seamTo);
    if (isa<FloatType>(seamFrom) && isa<FloatType>(seamTo) && seamFrom != seamTo)
      return throughInteger(n, value, seamTo);
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
