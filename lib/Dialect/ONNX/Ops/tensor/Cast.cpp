//===- Cast.cpp - Cast, CastLike: other element types ---------------------===//

#include "../Elementwise.h"
#include "Conversion/RuntimeCalls.h"
#include "Dialect/VersionSteps.h"

//===----------------------------------------------------------------------===//
// Rules and types
//===----------------------------------------------------------------------===//

// The element type that `to` names; null if none.
static Type getTarget(Operation *op) {
  std::optional<ElementKind> kind;
  if (auto number = op->getAttrOfType<IntegerAttr>("to"))
    kind = getElementKindOfDataType(number.getInt());
  else if (auto name = op->getAttrOfType<StringAttr>("to")) // Version 1 spells the names of TensorProto.DataType.
    kind = parseElementName(name.getValue().lower());
  return kind ? getElementType(op->getContext(), *kind) : Type();
}

static LogicalResult verifyRoundMode(Operation *op) {
  auto mode = op->getAttrOfType<StringAttr>("round_mode");
  if (mode && !llvm::is_contained({"up", "down", "nearest"}, mode.getValue()))
    return op->emitOpError("round_mode is '") << mode.getValue() << "', but must be up, down or nearest";
  return success();
}

static LogicalResult verifyCast(Operation *op) {
  if (!getTarget(op))
    return op->emitOpError("to = ") << op->getAttr("to") << " is no element type";
  return verifyRoundMode(op);
}

static LogicalResult inferCast(ShapeContext &c) {
  Type target = getTarget(c.getOperation());
  if (!target)
    return verifyCast(c.getOperation());
  c.setElementType(0, target);
  c.copyShape(0);
  return success();
}

static LogicalResult inferCastLike(ShapeContext &c) {
  c.setElementType(0, c.elementType(1));
  c.copyShape(0);
  return success();
}

static ValueAnalysis::Values inferElements(ShapeContext &c) {
  Type to = c.getOperation()->getNumOperands() == 2 ? c.elementType(1) : getTarget(c.getOperation());
  if (isa_and_nonnull<Float32Type, Float64Type>(to)) {
    ValueAnalysis::Values values = c.elements(0);
    Type from = c.elementType(0);
    if (!values || scalar::isUnsigned(from))
      return std::nullopt;
    for (Dim &value : *values)
      if (value.isStatic() && isa<FloatType>(from))
        value = Dim::ofFloat(roundFloat(value.asFloat(), to));
      else // An integer is rounded once.
        value = !value.isStatic()
                    ? Dim()
                    : Dim::ofFloat(to.isF32() ? static_cast<float>(value.size) : static_cast<double>(value.size));
    return values;
  }
  auto integer = dyn_cast_or_null<IntegerType>(to);
  if (!integer)
    return std::nullopt;
  bool isBool = integer.isSignlessInteger(1);
  if (ValueAnalysis::Values values = c.values(0)) {
    for (Dim &value : *values) {
      if (value.isStatic())
        value = Dim(isBool ? value.size != 0 : wrapInteger(value.size, to));
      else if (integer.getWidth() < 32)
        value = Dim();
    }
    return values;
  }
  std::optional<SmallVector<double>> floats = c.floats(0);
  if (!floats || floats->size() > 256)
    return std::nullopt;
  SmallVector<Dim> values;
  for (double value : *floats) {
    if (isBool)
      values.push_back(Dim(value != 0));
    else if (std::abs(value) < 2147483648.0 && wrapInteger(value, to) == static_cast<int64_t>(value))
      values.push_back(Dim(static_cast<int64_t>(value)));
    else
      values.push_back(Dim());
  }
  return values;
}

static LogicalResult upgradeCast(Operation *op, PatternRewriter &rewriter) {
  SmallVector<NamedAttribute> to;
  if (op->getAttrOfType<StringAttr>("to"))
    to.push_back(rewriter.getNamedAttr("to", rewriter.getI64IntegerAttr(getDataType(*getElementKind(getTarget(op))))));
  replaceByNext(op, rewriter, op->getOperand(0), {}, to);
  return success();
}

static LogicalResult downgradeCast(Operation *op, PatternRewriter &rewriter) {
  if (getPreviousVersion(op) == 1) {
    static constexpr StringLiteral names[] = {"",      "FLOAT",  "UINT8", "INT8",    "UINT16", "INT16",  "INT32",
                                              "INT64", "STRING", "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
    int64_t to = getDataType(*getElementKind(getElementTypeOrSelf(op->getResult(0).getType())));
    if (to >= static_cast<int64_t>(std::size(names)))
      return refuseDowngrade(op) << "it has no name for the type it makes";
    return replaceByPrevious(op, rewriter, op->getOperand(0), {},
                             rewriter.getNamedAttr("to", rewriter.getStringAttr(names[to])));
  }
  // What they say matters to 8-bit floats only, which the versions without them do not have.
  return downgradeStep(op, rewriter, {{"saturate", 1}, {"saturate", 0}, {"round_mode", "up"}});
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

// Numbers as text, and back.
static Value toString(LinalgBuilder &b, Value number, Type from) {
  Type i64 = b.getI64Type(), wide = b.getF64Type();
  Value dtype = dtypeOf(b, from);
  if (isa<IntegerType>(from))
    return callRuntime(b, "strata_rt_string_from_integer", {scalar::convert(b, number, from, i64), dtype}, i64);
  return callRuntime(b, "strata_rt_string_from_float", {scalar::convert(b, number, from, wide), dtype}, i64);
}

static Value fromString(LinalgBuilder &b, Value string, Type to, bool saturate, scalar::RoundMode mode) {
  Type i64 = b.getI64Type(), wide = b.getF64Type();
  if (to.isSignlessInteger(1))
    return b.create<arith::CmpIOp>(
        arith::CmpIPredicate::ne,
        callRuntime(b, "strata_rt_string_to_integer", {string, dtypeOf(b, to)}, i64, /*located=*/true),
        b.scalarInt(i64, 0));
  if (isa<IntegerType>(to))
    return scalar::convert(
        b, callRuntime(b, "strata_rt_string_to_integer", {string, dtypeOf(b, to)}, i64, /*located=*/true), i64, to);
  Value number = callRuntime(b, "strata_rt_string_to_float", string, wide, /*located=*/true);
  return scalar::convert(b, number, wide, to, saturate, mode);
}

static FailureOr<SmallVector<Value>> lowerCast(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type from = getElementType(op->getOperand(0)), to = getElementType(op->getResult(0));
  auto saturate = op->getAttrOfType<IntegerAttr>("saturate");
  auto roundMode = op->getAttrOfType<StringAttr>("round_mode");
  scalar::RoundMode mode = scalar::RoundMode::up;
  if (roundMode && roundMode != "up")
    mode = roundMode == "down" ? scalar::RoundMode::down : scalar::RoundMode::nearest;
  if (from == to)
    return SmallVector<Value>{operands[0]};
  bool fromText = isa<StringType>(from), toText = isa<StringType>(to), saturates = !saturate || saturate.getInt() != 0;
  if (isa<ComplexType>(from) != isa<ComplexType>(to) && (fromText || toText))
    return op->emitOpError("cannot be compiled: complex numbers have no form as strings");
  if (fromText || toText)
    return SmallVector<Value>{mapElements(b, operands[0], getSeamElementType(to), [&](ValueRange x) {
      return toText ? toString(b, x[0], from) : fromString(b, x[0], to, saturates, mode);
    })};
  Value result = b.elementwise(operands[0], getSeamElementType(to), [&](ImplicitLocOpBuilder &n, ValueRange x) {
    return scalar::convert(n, x[0], from, to, !saturate || saturate.getInt() != 0, mode);
  });
  return SmallVector<Value>{result};
}

STRATA_SLICE(Cast) {
  ops.add("Cast", {.verify = verifyCast,
                   .inferShapes = inferCast,
                   .inferValues = inferElements,
                   .upgrade = upgradeCast,
                   .downgrade = downgradeCast,
                   .lower = lowerCast,
                   .handles = true});
  ops.add("CastLike", {.verify = verifyRoundMode,
                       .inferShapes = inferCastLike,
                       .inferValues = inferElements,
                       .upgrade = keepAttributes,
                       .downgrade = downgradeCast,
                       .lower = lowerCast,
                       .handles = true});
}
