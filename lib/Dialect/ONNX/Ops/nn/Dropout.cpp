//===- Dropout.cpp - Dropout ----------------------------------------------===//
//
// In training an element is kept where its uniform number is not below ratio,
// and multiplied by 1 / (1 - ratio). Otherwise the output is the data.
//
//===----------------------------------------------------------------------===//

#include "../Random.h"
#include "Dialect/VersionSteps.h"
#include "mlir/IR/Matchers.h"

static bool isRatio(double ratio) { return ratio >= 0 && ratio < 1; } // False for NaN.

static LogicalResult verifyDropout(Operation *op) {
  std::optional<double> ratio;
  if (auto attr = op->getAttrOfType<FloatAttr>("ratio")) {
    ratio = attr.getValueAsDouble();
  } else if (cast<VersionedOpInterface>(op).getSinceVersion() >= 12) {
    OperandRange group = cast<VersionedOpInterface>(op).getInputGroup(1);
    if (ElementsAttr constant = group.empty() ? ElementsAttr() : getConstant(group.front()))
      if (auto values = getFloats(constant); values && values->size() == 1)
        ratio = values->front();
  }
  if (ratio && !isRatio(*ratio))
    return op->emitOpError("ratio is ") << *ratio << ", but must be in [0, 1)";
  return success();
}

static LogicalResult inferDropout(ShapeContext &c) {
  c.copyShape(0);
  c.copyShape(0, 1);
  if (c.version() < 12)
    return success();
  static constexpr const char *names[] = {"data", "ratio", "training_mode"};
  for (unsigned formal : {1, 2})
    if (auto rank = c.rank(formal); rank && *rank != 0)
      return c.emitError() << names[formal] << " must be a scalar, but is of rank " << *rank;
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
    return changeAttributes(op, rewriter, {"is_test"});
  Type isKept = rewriter.getI1Type();
  if (version == 7) {
    replaceByMask(op, rewriter, 10, op->getOperand(0), attributesWithout(op), isKept);
    return success();
  }
  // As float32, like the attribute: rounded to the data's type it might become 1.
  auto ratio = op->getAttrOfType<FloatAttr>("ratio");
  Value ratioInput = makeScalar(rewriter, loc, rewriter.getF32Type(), ratio ? ratio.getValueAsDouble() : 0.5);
  Value mode = training ? makeScalar(rewriter, loc, isKept, 1) : Value();
  replaceByMask(op, rewriter, 12, {op->getOperand(0), ratioInput, mode}, attributesWithout(op, {"is_test", "ratio"}),
                isKept);
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
  // What the mask of inference is, they do not say.
  if (op->getNumResults() > 1 && !op->getResult(1).use_empty()) {
    Value data = op->getOperand(0), mask;
    auto type = dyn_cast<RankedTensorType>(data.getType());
    if (type && type.hasStaticShape()) {
      auto all = DenseElementsAttr::get(RankedTensorType::get(type.getShape(), rewriter.getI1Type()), true);
      mask = rewriter.create<InitializerOp>(op->getLoc(), all);
    } else {
      Type sizes = RankedTensorType::get({type ? type.getRank() : ShapedType::kDynamic}, rewriter.getI64Type());
      Value shape = createVersion(rewriter, op->getLoc(), "Shape", 25, {data}, {}, sizes)->getResult(0);
      Value kept = makeScalar(rewriter, op->getLoc(), rewriter.getI1Type(), 1);
      mask = createVersion(rewriter, op->getLoc(), "Expand", 13, {kept, shape}, {}, op->getResult(1).getType())
                 ->getResult(0);
    }
    rewriter.replaceAllUsesWith(op->getResult(1), mask);
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
    replaceByMask(op, rewriter, 7, op->getOperand(0), attributesWithout(op),
                  getElementTypeOrSelf(op->getOperand(0).getType()));
    return success();
  case 6:
    return replaceByPrevious(op, rewriter, op->getOperand(0), {},
                             rewriter.getNamedAttr("is_test", rewriter.getI64IntegerAttr(1)));
  default:
    return downgradeStep(op, rewriter);
  }
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

// The ratio as f64, checked.
static Value lowerRatio(LinalgBuilder &b) {
  Value onnxRatio = b.onnxOperand(1);
  if (!onnxRatio)
    return b.scalar(b.getF64Type(), 0.5);
  if (ElementsAttr constant = getConstant(onnxRatio))
    if (auto values = getFloats(constant); values && values->size() == 1)
      return b.scalar(b.getF64Type(), values->front());
  Value ratio = scalar::decode(b, b.extractScalar(b.operand(1)), getElementType(onnxRatio));
  if (!ratio.getType().isF64())
    ratio = b.create<arith::ExtFOp>(b.getF64Type(), ratio);
  Value isNotNegative = b.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, ratio, b.scalar(b.getF64Type(), 0));
  Value isBelowOne = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, ratio, b.scalar(b.getF64Type(), 1));
  b.check(b.create<arith::AndIOp>(isNotNegative, isBelowOne), "ratio is not in [0, 1)");
  return ratio;
}

static SmallVector<Value> lowerTraining(LinalgBuilder &b, Operation *op, Value data, Value ratio) {
  Type onnx = getElementType(op->getOperand(0)), element = getSeamElementType(onnx);
  Type compute = scalar::getComputeType(onnx), f64 = b.getF64Type();
  Value one = b.scalar(f64, 1);
  Value scale = b.createOrFold<arith::DivFOp>(one, b.createOrFold<arith::SubFOp>(one, ratio));
  if (compute != f64)
    scale = b.createOrFold<arith::TruncFOp>(compute, scale);
  auto seed = op->getAttrOfType<IntegerAttr>("seed");
  Value key = draw::makeKey(b, getDrawNumber(op),
                            seed ? std::optional<uint64_t>(static_cast<uint64_t>(seed.getInt())) : std::nullopt);
  SmallVector<Type> types{element};
  if (op->getNumResults() > 1)
    types.push_back(b.getI1Type());
  return draw::makeElements(
      b, b.sizes(data), key, data, types,
      [&](ImplicitLocOpBuilder &n, const draw::Words &words, ValueRange scalars) -> SmallVector<Value> {
        Value isKept = n.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, draw::makeUniform(n, words), ratio);
        Value scaled = n.create<arith::MulFOp>(scalar::decode(n, scalars[0], onnx), scale);
        Value zero = n.create<arith::ConstantOp>(n.getZeroAttr(element));
        Value output = n.create<arith::SelectOp>(isKept, scalar::encode(n, scaled, onnx), zero);
        return types.size() > 1 ? SmallVector<Value>{output, isKept} : SmallVector<Value>{output};
      });
}

static SmallVector<Value> lowerInference(LinalgBuilder &b, Operation *op, Value data) {
  SmallVector<Value> results{data};
  if (op->getNumResults() > 1) // Nothing is dropped.
    results.push_back(b.fill(b.sizes(data), b.create<arith::ConstantOp>(b.getBoolAttr(true))));
  return results;
}

static FailureOr<SmallVector<Value>> lowerDropout(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0], mode = b.onnxOperand(2), ratio = lowerRatio(b);
  if (!mode)
    return lowerInference(b, op, data);
  if (std::optional<SmallVector<int64_t>> known = b.getIntegers(mode); known && known->size() == 1) {
    bool drops = known->front() != 0 && !matchPattern(ratio, m_AnyZeroFloat());
    return drops ? lowerTraining(b, op, data, ratio) : lowerInference(b, op, data);
  }
  SmallVector<Type> types{data.getType()};
  if (op->getNumResults() > 1)
    types.push_back(cast<RankedTensorType>(data.getType()).clone(b.getI1Type()));
  auto branch = b.create<scf::IfOp>(types, b.extractScalar(b.operand(2)), /*withElseRegion=*/true);
  for (bool training : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(training ? branch.thenBlock() : branch.elseBlock());
    SmallVector<Value> results = training ? lowerTraining(b, op, data, ratio) : lowerInference(b, op, data);
    for (auto [result, type] : llvm::zip_equal(results, types))
      result = b.castTo(result, type);
    b.create<scf::YieldOp>(results);
  }
  return SmallVector<Value>(branch.getResults());
}

STRATA_SLICE(Dropout) {
  ops.add("Dropout", {.verify = verifyDropout,
                      .inferShapes = inferDropout,
                      .upgrade = upgradeDropout,
                      .downgrade = downgradeDropout,
                      .lower = lowerDropout});
}
