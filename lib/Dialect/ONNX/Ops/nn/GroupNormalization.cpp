//===- GroupNormalization.cpp - by groups of channels, by instance --------===//

#include "../Moments.h"
#include "Dialect/VersionSteps.h"

static LogicalResult inferChannels(ShapeContext &c, StringRef xName, const Dim &parameters, int64_t leastRank) {
  std::optional<Shape> x = c.shape(0);
  if (x && static_cast<int64_t>(x->size()) < leastRank)
    return c.emitError() << "'" << xName << "' has rank " << x->size() << ", less than " << leastRank;
  for (unsigned i = 1; i < 3; ++i)
    if (auto shape = c.shape(i)) {
      if (shape->size() != 1)
        return c.emitError() << "operand " << i << " has rank " << shape->size() << ", not 1";
      const Dim &size = (*shape)[0];
      if (size.isStatic() && parameters.isStatic() && size.size != parameters.size)
        return c.emitError() << "operand " << i << " has " << size.size << " elements, not " << parameters.size;
    }
  c.copyShape(0);
  return success();
}

static Dim getChannels(ShapeContext &c) {
  std::optional<Shape> x = c.shape(0);
  return x && x->size() > 1 ? (*x)[1] : Dim();
}

static LogicalResult inferInstanceNormalization(ShapeContext &c) {
  return inferChannels(c, "input", getChannels(c), 3);
}

static LogicalResult inferGroupNormalization(ShapeContext &c) {
  int64_t groups = c.integer("num_groups", 1);
  if (groups < 1)
    return c.emitError() << "'num_groups' is " << groups << ", less than 1";
  Dim channels = getChannels(c);
  if (channels.isStatic() && channels.size % groups != 0)
    return c.emitError() << "has " << channels.size << " channels, which do not divide into " << groups << " groups";
  return inferChannels(c, "X", c.version() < 21 ? Dim(groups) : channels, 2);
}

// 18 has one parameter per group, 21 one per channel: each is repeated. 18 computes in the type of X.
static LogicalResult upgradeGroupNormalization(Operation *op, PatternRewriter &rewriter) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type || type.getRank() < 2 || type.isDynamicDim(1))
    return op->emitOpError("cannot be upgraded: the number of channels is not known");
  int64_t groups = op->getAttrOfType<IntegerAttr>("num_groups").getInt();
  if (groups < 1 || type.getDimSize(1) % groups != 0)
    return op->emitOpError("has ") << type.getDimSize(1) << " channels, which do not divide into " << groups
                                   << " groups";
  Location loc = op->getLoc();
  SmallVector<Value> operands{op->getOperand(0)};
  for (Value parameter : op->getOperands().drop_front()) {
    Type unranked = UnrankedTensorType::get(type.getElementType());
    auto reshape = [&](Value value, ArrayRef<int64_t> shape) -> Value {
      return rewriter.create<ReshapeOp>(loc, TypeRange{unranked},
                                        ValueRange{value, makeIntegers(rewriter, loc, shape)});
    };
    Value shape = makeIntegers(rewriter, loc, {1, type.getDimSize(1) / groups});
    Value repeated =
        rewriter.create<ExpandOp>(loc, TypeRange{unranked}, ValueRange{reshape(parameter, {-1, 1}), shape});
    operands.push_back(reshape(repeated, {-1}));
  }
  SmallVector<NamedAttribute, 1> added;
  if (type.getElementType().isF64())
    added.push_back(rewriter.getNamedAttr("stash_type", rewriter.getI64IntegerAttr(11)));
  replaceByNext(op, rewriter, operands, {}, added);
  return success();
}

// (x - mean) / sqrt(variance + epsilon) * scale[channel] + bias[channel], statistics over `axes`.
static Value normalize(LinalgBuilder &b, Value x, Value scale, Value bias, ArrayRef<int64_t> axes, AffineMap channel,
                       double epsilon, bool inDouble) {
  Type seam = getElementType(x);
  Type compute = seam.isF64() || inDouble ? Type(b.getF64Type()) : b.getF32Type();
  int64_t rank = getRank(x);
  Value mean = getMean(b, x, axes, compute);
  Value inverse = getInverseRoot(b, getVariance(b, x, mean, axes, compute), epsilon);
  AffineMap row = mapWithout(b.getContext(), rank, axes);
  return mapElements(b, {x, mean, inverse, scale, bias}, {b.getMultiDimIdentityMap(rank), row, row, channel, channel},
                     b.sizes(x), seam, [&](ImplicitLocOpBuilder &n, ValueRange v) {
                       Value centered = n.create<arith::SubFOp>(extend(n, v[0], compute), v[1]);
                       Value factor = n.create<arith::MulFOp>(v[2], extend(n, v[3], compute));
                       Value scaled = n.create<arith::MulFOp>(centered, factor);
                       return convertFloat(n, n.create<arith::AddFOp>(scaled, extend(n, v[4], compute)), seam);
                     });
}

static FailureOr<SmallVector<Value>> lowerInstanceNormalization(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto norm = cast<InstanceNormalizationOp>(op);
  Value x = operands[0];
  int64_t rank = getRank(x);
  for (Value parameter : operands.drop_front())
    b.checkEqual(b.dim(parameter, 0), b.dim(x, 1), "a parameter does not have one element per channel");
  AffineMap channel = AffineMap::get(rank, 0, b.getAffineDimExpr(1), b.getContext());
  return SmallVector<Value>{normalize(b, x, operands[1], operands[2], llvm::to_vector(llvm::seq<int64_t>(2, rank)),
                                      channel, norm.getEpsilon().convertToFloat(), false)};
}

static FailureOr<SmallVector<Value>> lowerGroupNormalization(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto norm = cast<GroupNormalizationOp>(op);
  Value x = operands[0];
  int64_t groups = norm.getNumGroups();
  OpFoldResult channels = b.dim(x, 1), group = b.getIndexAttr(groups);
  b.checkEqual(b.mul(b.floorDiv(channels, group), group), channels, "the channels do not divide into groups");
  SmallVector<Value> split{splitDim(b, x, 1, groups)};
  for (Value parameter : operands.drop_front()) {
    b.checkEqual(b.dim(parameter, 0), channels, "a parameter does not have one element per channel");
    split.push_back(splitDim(b, parameter, 0, groups));
  }
  int64_t rank = getRank(split[0]);
  AffineMap channel = AffineMap::get(rank, 0, {b.getAffineDimExpr(1), b.getAffineDimExpr(2)}, b.getContext());
  Value y = normalize(b, split[0], split[1], split[2], llvm::to_vector(llvm::seq<int64_t>(2, rank)), channel,
                      norm.getEpsilon().convertToFloat(), norm.getStashType() == 11);
  return SmallVector<Value>{mergeDims(b, y, 1)};
}

STRATA_SLICE(GroupNormalization) {
  ops.add(
      "GroupNormalization",
      {.inferShapes = inferGroupNormalization, .upgrade = upgradeGroupNormalization, .lower = lowerGroupNormalization});
  ops.add("InstanceNormalization", {.inferShapes = inferInstanceNormalization,
                                    .upgrade = dropConsumedInputs,
                                    .downgrade = downgradePlainly,
                                    .lower = lowerInstanceNormalization});
}
