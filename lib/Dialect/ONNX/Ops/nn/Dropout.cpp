//===- Dropout.cpp - Dropout ----------------------------------------------===//

#include "../Elementwise.h"
#include "Dialect/VersionSteps.h"

static LogicalResult inferDropout(ShapeContext &c) {
  c.copyShape(0);
  c.copyShape(0, 1);
  return success();
}

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

static Value castTo(PatternRewriter &rewriter, Location loc, int64_t version, Value value, Type element) {
  auto to = rewriter.getNamedAttr("to", rewriter.getI64IntegerAttr(getDataType(*getElementKind(element))));
  Type type = cast<TensorType>(value.getType()).clone(element);
  return createVersion(rewriter, loc, "Cast", version, value, to, type)->getResult(0);
}

// At another version whose mask has elements of another type.
static void replaceByMask(Operation *op, PatternRewriter &rewriter, int64_t version, ArrayRef<Value> inputs,
                          ArrayRef<NamedAttribute> attrs, Type maskElement) {
  SmallVector<Type> types{op->getResult(0).getType()};
  if (op->getNumResults() > 1)
    types.push_back(cast<TensorType>(op->getResult(1).getType()).clone(maskElement));
  Operation *created = createVersion(rewriter, op->getLoc(), "Dropout", version, inputs, attrs, types);
  SmallVector<Value> results(created->getResults());
  if (results.size() > 1)
    if (Type own = getElementTypeOrSelf(op->getResult(1).getType()); own != maskElement)
      results[1] = castTo(rewriter, op->getLoc(), version < 9 ? 6 : 9, results[1], own);
  rewriter.replaceOp(op, results);
}

// Version 6 is training unless is_test is set; 7 and 10 leave the mode to the runtime, which runs inference; from 12 on
// it is an operand. The mask is a bool tensor from 10 on.
static LogicalResult upgradeDropout(Operation *op, PatternRewriter &rewriter) {
  int64_t version = cast<VersionedOpInterface>(op).getSinceVersion();
  Location loc = op->getLoc();
  auto isTest = op->getAttrOfType<IntegerAttr>("is_test");
  bool training = version == 6 && !(isTest && isTest.getInt() != 0);
  if (version < 6)
    return dropConsumedInputs(op, rewriter);
  if (version == 6 && !training)
    return dropAttributes(op, rewriter, {"is_test"});
  Type isKept = rewriter.getI1Type();
  if (version == 7) {
    replaceByMask(op, rewriter, 10, op->getOperand(0), attributesWithout(op), isKept);
    return success();
  }
  // As float32, like the attribute: rounded to the data's type it might become 1.
  auto ratio = op->getAttrOfType<FloatAttr>("ratio");
  Value ratioInput = makeScalar(rewriter, loc, rewriter.getF32Type(), ratio ? ratio.getValueAsDouble() : 0.5);
  Value mode = training ? makeScalar(rewriter, loc, isKept, 1) : Value();
  replaceByMask(op, rewriter, 12, {op->getOperand(0), ratioInput, mode}, attributesWithout(op, {"is_test", "ratio"}), isKept);
  return success();
}

// Versions before 12 run inference, which neither the ratio nor the seed changes.
static LogicalResult downgradeToInference(Operation *op, PatternRewriter &rewriter) {
  double ratio = 0.5;
  if (Value input = getFormalInput(op, 1)) {
    auto known = getFloats(getConstant(input));
    if (!known || known->size() != 1)
      return refuseDowngrade(op) << "'ratio' is a run-time input, there an attribute";
    ratio = known->front();
  }
  if (Value input = getFormalInput(op, 2)) {
    auto known = getIntegers(getConstant(input));
    if (!known || known->size() != 1)
      return refuseDowngrade(op) << "'training_mode' is a run-time input, and it does not train";
    if (known->front() != 0 && ratio != 0)
      return refuseDowngrade(op) << "it does not train, and training_mode is true";
  }
  float rounded = std::min(static_cast<float>(ratio), std::nextafter(1.0f, 0.0f));
  return replaceByPrevious(op, rewriter, op->getOperand(0), {"seed"},
                           rewriter.getNamedAttr("ratio", rewriter.getF32FloatAttr(rounded)));
}

static LogicalResult downgradeDropout(Operation *op, PatternRewriter &rewriter) {
  switch (getPreviousVersion(op)) {
  case 10:
    return downgradeToInference(op, rewriter);
  case 7:
    replaceByMask(op, rewriter, 7, op->getOperand(0), attributesWithout(op), getElementTypeOrSelf(op->getOperand(0).getType()));
    return success();
  case 6:
    return replaceByPrevious(op, rewriter, op->getOperand(0), {},
                             rewriter.getNamedAttr("is_test", rewriter.getI64IntegerAttr(1)));
  default:
    return downgradeStep(op, rewriter);
  }
}

static FailureOr<SmallVector<Value>> lowerDropout(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value mode = cast<DropoutOp>(op).getTrainingMode();
  if (mode) {
    std::optional<SmallVector<int64_t>> known = b.getIntegers(mode);
    if (!known || known->size() != 1 || known->front() != 0)
      return op->emitOpError("cannot be compiled: training mode");
  }
  SmallVector<Value> results{operands[0]};
  if (op->getNumResults() > 1) // Nothing is dropped.
    results.push_back(b.fill(b.sizes(operands[0]), b.create<arith::ConstantOp>(b.getBoolAttr(true))));
  return results;
}

STRATA_SLICE(Dropout) {
  ops.add("Dropout", {.inferShapes = inferDropout, .upgrade = upgradeDropout, .downgrade = downgradeDropout, .lower = lowerDropout});
}
