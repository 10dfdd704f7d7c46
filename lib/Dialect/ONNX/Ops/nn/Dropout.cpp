//===- Dropout.cpp - Dropout ----------------------------------------------===//

#include "../Elementwise.h"
#include "../UpgradeStep.h"

static LogicalResult inferDropout(ShapeContext &c) {
  c.copyShape(0);
  c.copyShape(0, 1);
  return success();
}

// Version 6 is training unless is_test is set; 7 and 10 leave the mode to the runtime, which runs inference; from 12 on
// it is an operand. The mask is a bool tensor from 10 on.
static LogicalResult upgradeDropout(Operation *op, PatternRewriter &rewriter) {
  int64_t version = cast<VersionedOpInterface>(op).getSinceVersion();
  if (version < 6)
    return dropConsumedInputs(op, rewriter);
  Location loc = op->getLoc();
  Value data = op->getOperand(0);
  Type element = getElementTypeOrSelf(data.getType());
  auto isTest = op->getAttrOfType<IntegerAttr>("is_test");
  bool training = version == 6 && !(isTest && isTest.getInt() != 0);
  auto ratio = op->getAttrOfType<FloatAttr>("ratio");
  Value ratioOperand = makeFloat(rewriter, loc, element, ratio ? ratio.getValueAsDouble() : 0.5);
  Value mode;
  if (training)
    mode = rewriter.create<InitializerOp>(
        loc, DenseElementsAttr::get(RankedTensorType::get({}, rewriter.getI1Type()), true));

  SmallVector<Type> types{op->getResult(0).getType()};
  if (op->getNumResults() > 1)
    types.push_back(cast<TensorType>(op->getResult(1).getType()).clone(rewriter.getI1Type()));
  auto dropout = rewriter.create<DropoutOp>(loc, types[0], types.size() > 1 ? types[1] : Type(), data, ratioOperand,
                                            mode, IntegerAttr());
  SmallVector<Value> results(dropout->getResults());
  if (version < 10 && results.size() > 1) {
    OperationState state(loc, CastOp::getOperationName(), results[1], op->getResult(1).getType(),
                         rewriter.getNamedAttr("to", rewriter.getI64IntegerAttr(getDataType(*getElementKind(element)))));
    results[1] = rewriter.create(state)->getResult(0);
  }
  rewriter.replaceOp(op, results);
  return success();
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
  ops.add("Dropout", {.inferShapes = inferDropout, .upgrade = upgradeDropout, .lower = lowerDropout});
}
