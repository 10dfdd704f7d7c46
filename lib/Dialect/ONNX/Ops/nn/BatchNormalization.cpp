//===- BatchNormalization.cpp ---------------------------------------------===//
//
// Version 1 and 6: is_test, spatial. 7 and 9: the number of results tells the
// mode. From 14 on: training_mode.
//
//===----------------------------------------------------------------------===//

#include "../Moments.h"
#include "Dialect/VersionSteps.h"

static LogicalResult inferBatchNormalization(ShapeContext &c) {
  c.copyShape(0);
  std::optional<Shape> x = c.shape(0);
  bool perElement = c.version() < 9 && c.integer("spatial", 1) == 0;
  Dim channels;
  if (x && !perElement) {
    if (x->empty())
      return c.emitError() << "'X' is a scalar";
    channels = x->size() == 1 ? Dim(1) : (*x)[1];
    static constexpr StringLiteral names[] = {"X", "scale", "B", "mean", "variance"};
    for (unsigned i = 1; i < 5; ++i)
      if (auto shape = c.shape(i)) {
        if (shape->size() != 1)
          return c.emitError() << "'" << names[i] << "' has rank " << shape->size() << ", not 1";
        if ((*shape)[0].isStatic() && channels.isStatic() && (*shape)[0].size != channels.size)
          return c.emitError() << "'" << names[i] << "' has " << (*shape)[0].size << " elements for " << channels.size
                               << " channels";
      }
  }
  for (unsigned i = 1; i < 5; ++i) {
    if (perElement)
      c.copyShape(3, i);
    else
      c.setShape(i, {channels});
  }
  return success();
}

static LogicalResult verifyBatchNormalization(Operation *op) {
  auto versioned = cast<VersionedOpInterface>(op);
  if (versioned.getSinceVersion() >= 14) {
    auto training = op->getAttrOfType<IntegerAttr>("training_mode");
    bool isTraining = training && training.getInt() != 0;
    if (!isTraining && op->getNumResults() > 1)
      return op->emitOpError("has running statistics as results, but its training_mode is 0");
  }
  return success();
}

// X as a matrix, whose columns are its elements but for the batch, and the parameters of those as vectors.
static SmallVector<Value> flatten(Operation *op, PatternRewriter &rewriter) {
  Location loc = op->getLoc();
  Type flat = UnrankedTensorType::get(getElementType(op->getOperand(0)));
  Value minusOne = makeIntegers(rewriter, loc, -1);
  SmallVector<Value> operands{rewriter.create<FlattenOp>(loc, TypeRange{flat}, ValueRange{op->getOperand(0)})};
  for (Value parameter : op->getOperands().drop_front())
    operands.push_back(rewriter.create<ReshapeOp>(loc, TypeRange{flat}, ValueRange{parameter, minusOne}));
  return operands;
}

// `value` with the shape of `like`.
static Value unflatten(PatternRewriter &rewriter, Location loc, Value value, Value like, Type type) {
  Value shape = rewriter.create<ShapeOp>(loc, UnrankedTensorType::get(rewriter.getI64Type()), like);
  return rewriter.create<ReshapeOp>(loc, TypeRange{type}, ValueRange{value, shape});
}

// Version 14 in training mode: its three results.
static ResultRange createTraining(Operation *op, PatternRewriter &rewriter, ValueRange operands,
                                  ArrayRef<NamedAttribute> attrs, ArrayRef<Type> types) {
  OperationState state(op->getLoc(), getVersion(op, 14), operands, types, attrs);
  state.addAttribute("training_mode", rewriter.getI64IntegerAttr(1));
  state.addAttribute("resultSegmentSizes", rewriter.getDenseI32ArrayAttr({1, 1, 1}));
  return rewriter.create(state)->getResults();
}

// To version 14 with training_mode 1. The saved statistics are the batch's own: those that run with no momentum.
// spatial = 0: every element of (C, D1, ...) has parameters of its own.
static LogicalResult upgradeTraining(Operation *op, PatternRewriter &rewriter, ArrayRef<NamedAttribute> attrs,
                                     bool perElement) {
  auto versioned = cast<VersionedOpInterface>(op);
  SmallVector<Value> operands = perElement ? flatten(op, rewriter) : llvm::to_vector(op->getOperands());
  auto replace = [&](unsigned formal, Value by) {
    for (Value old : versioned.getOutputGroup(formal))
      rewriter.replaceAllUsesWith(
          old,
          perElement ? unflatten(rewriter, op->getLoc(), by, op->getOperand(formal == 0 ? 0 : 3), old.getType()) : by);
  };
  auto isUsed = [&](unsigned formal) {
    return llvm::any_of(versioned.getOutputGroup(formal), [](Value value) { return !value.use_empty(); });
  };
  auto typeOf = [&](unsigned formal) -> Type {
    for (Value value : versioned.getOutputGroup(formal))
      if (!perElement)
        return value.getType();
    return UnrankedTensorType::get(getElementType(op->getOperand(0)));
  };
  ResultRange results = createTraining(op, rewriter, operands, attrs, {typeOf(0), typeOf(1), typeOf(2)});
  for (unsigned i = 0; i < 3; ++i)
    replace(i, results[i]);
  if (isUsed(3) || isUsed(4)) {
    SmallVector<NamedAttribute> fresh(attrs);
    llvm::erase_if(fresh, [](NamedAttribute attr) { return attr.getName() == "momentum"; });
    fresh.push_back(rewriter.getNamedAttr("momentum", rewriter.getF32FloatAttr(0)));
    ResultRange batch = createTraining(op, rewriter, operands, fresh, {typeOf(0), typeOf(3), typeOf(4)});
    replace(3, batch[1]);
    replace(4, batch[2]);
  }
  rewriter.eraseOp(op);
  return success();
}

static LogicalResult upgradePerElement(Operation *op, PatternRewriter &rewriter, ArrayRef<NamedAttribute> attrs) {
  Location loc = op->getLoc();
  Type flat = UnrankedTensorType::get(getElementType(op->getOperand(0)));
  Operation *created = createVersion(rewriter, loc, "BatchNormalization", 9, flatten(op, rewriter), attrs, flat);
  rewriter.replaceOp(op,
                     unflatten(rewriter, loc, created->getResult(0), op->getOperand(0), op->getResult(0).getType()));
  return success();
}

static LogicalResult upgradeBatchNormalization(Operation *op, PatternRewriter &rewriter) {
  int64_t version = cast<VersionedOpInterface>(op).getSinceVersion();
  auto integer = [&](StringRef name, int64_t absent) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : absent;
  };
  bool training = op->getNumResults() > 1 || (version < 7 && integer("is_test", 0) == 0);
  bool perElement = version < 9 && integer("spatial", 1) == 0;
  // Below 9 a step drops one attribute, as long as the next version says the same without it.
  auto drop = [&](int64_t next, StringRef attribute) {
    replaceByVersion(op, rewriter, next, llvm::to_vector(op->getOperands()), attributesWithout(op, {attribute}));
    return success();
  };
  if (version == 1)
    return drop(6, "consumed_inputs");
  if (version == 6 && training == (op->getNumResults() > 1))
    return drop(7, "is_test");
  if (version == 7 && !perElement)
    return drop(9, "spatial");
  SmallVector<NamedAttribute> attrs = attributesWithout(op, {"is_test", "spatial"});
  if (training)
    return upgradeTraining(op, rewriter, attrs, perElement);
  if (perElement)
    return upgradePerElement(op, rewriter, attrs);
  replaceByVersion(op, rewriter, 14, llvm::to_vector(op->getOperands()), attrs);
  return success();
}

static FailureOr<SmallVector<Value>> lowerBatchNormalization(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto norm = cast<BatchNormalizationOp>(op);
  Value x = operands[0], scale = operands[1], bias = operands[2], inputMean = operands[3], inputVar = operands[4];
  bool isDouble = llvm::any_of(operands, [](Value v) { return getElementType(v).isF64(); });
  Type compute = isDouble ? Type(b.getF64Type()) : b.getF32Type();
  int64_t rank = getRank(x);
  bool hasChannels = rank > 1;
  OpFoldResult channels = hasChannels ? b.dim(x, 1) : OpFoldResult(b.getIndexAttr(1));
  for (Value parameter : operands.drop_front())
    b.checkEqual(b.dim(parameter, 0), channels, "a parameter does not have one element per channel");

  SmallVector<Value> results;
  Value mean = inputMean, variance = inputVar;
  if (norm.getTrainingMode() != 0) {
    SmallVector<int64_t> axes;
    for (int64_t i = 0; i < rank; ++i)
      if (i != 1)
        axes.push_back(i);
    mean = getMean(b, x, axes, compute);
    variance = getVariance(b, x, mean, axes, compute);
    if (!hasChannels) {
      mean = b.unsqueeze(mean, {0});
      variance = b.unsqueeze(variance, {0});
    }
  }
  // y = x * factor + offset, both per channel.
  double epsilon = norm.getEpsilon().convertToFloat();
  Value factor = b.elementwise({scale, variance}, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    Value shifted = n.create<arith::AddFOp>(extend(n, v[1], compute), constantFloat(n, compute, epsilon));
    return n.create<arith::DivFOp>(extend(n, v[0], compute), n.create<math::SqrtOp>(shifted));
  });
  Value offset = b.elementwise({bias, mean, factor}, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    Value moved = n.create<arith::MulFOp>(extend(n, v[1], compute), v[2]);
    return n.create<arith::SubFOp>(extend(n, v[0], compute), moved);
  });
  AffineMap channel =
      AffineMap::get(rank, 0, hasChannels ? b.getAffineDimExpr(1) : b.getAffineConstantExpr(0), b.getContext());
  Type seam = getElementType(x);
  results.push_back(mapElements(b, {x, factor, offset}, {b.getMultiDimIdentityMap(rank), channel, channel}, b.sizes(x),
                                seam, [&](ImplicitLocOpBuilder &n, ValueRange v) {
                                  Value scaled = n.create<arith::MulFOp>(extend(n, v[0], compute), v[1]);
                                  return convertFloat(n, n.create<arith::AddFOp>(scaled, v[2]), seam);
                                }));
  double momentum = norm.getMomentum().convertToFloat();
  auto addRunning = [&](Value result, Value input, Value batch) {
    if (!result)
      return;
    Type type = getSeamElementType(getElementType(result));
    results.push_back(b.elementwise({input, batch}, type, [&](ImplicitLocOpBuilder &n, ValueRange v) {
      Value old = n.create<arith::MulFOp>(extend(n, v[0], compute), constantFloat(n, compute, momentum));
      Value fresh = n.create<arith::MulFOp>(extend(n, v[1], compute), constantFloat(n, compute, 1 - momentum));
      return convertFloat(n, n.create<arith::AddFOp>(old, fresh), type);
    }));
  };
  addRunning(norm.getRunningMean(), inputMean, mean);
  addRunning(norm.getRunningVar(), inputVar, variance);
  return results;
}

static LogicalResult downgradeBatchNormalization(Operation *op, PatternRewriter &rewriter) {
  int64_t previous = getPreviousVersion(op);
  if (previous >= 9 || (previous == 7 && op->getNumResults() == 1))
    return downgradeStep(op, rewriter, {{"training_mode", 0}});
  if (op->getNumResults() > 1)
    return refuseDowngrade(op) << "training has results there that it has not here";
  SmallVector<Value> inputs(op->getOperands());
  if (previous == 6)
    return replaceByPrevious(op, rewriter, inputs, {}, rewriter.getNamedAttr("is_test", rewriter.getI64IntegerAttr(1)));
  // The statistics are what is consumed.
  return replaceByPrevious(op, rewriter, inputs, {},
                           rewriter.getNamedAttr("consumed_inputs", rewriter.getDenseI64ArrayAttr({0, 0, 0, 1, 1})));
}

STRATA_SLICE(BatchNormalization) {
  ops.add("BatchNormalization", {.verify = verifyBatchNormalization,
                                 .inferShapes = inferBatchNormalization,
                                 .upgrade = upgradeBatchNormalization,
                                 .downgrade = downgradeBatchNormalization,
                                 .lower = lowerBatchNormalization});
}
