//===- Softmax.cpp - Softmax, LogSoftmax, Hardmax -------------------------===//
//
// Up to version 11 these flatten their operand to two dimensions at `axis`;
// from 13 on they work along one axis.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"
#include "Dialect/VersionSteps.h"

static int64_t getAbsentAxis(int64_t version) { return version < 13 ? 1 : -1; }

static LogicalResult inferSoftmax(ShapeContext &c) {
  if (auto rank = c.rank(0)) {
    int64_t axis = c.integer("axis", getAbsentAxis(c.version()));
    // The flattening versions may split after the last dimension (version 1 says so of Flatten, which they apply).
    bool atEnd = c.version() < 13 && axis == *rank;
    if (!atEnd && *rank > 0 && failed(c.normalizeAxis(axis, *rank)))
      return failure();
    if (*rank == 0 && axis != 0 && axis != -1)
      return c.emitError() << "axis " << axis << " is out of range for rank 0";
  }
  c.copyShape(0);
  return success();
}

// op_11(x, axis) = Reshape(op_13(Flatten(x, axis), -1), Shape(x)).
static LogicalResult upgradeSoftmax(Operation *op, PatternRewriter &rewriter) {
  auto axisAttr = op->getAttrOfType<IntegerAttr>("axis");
  int64_t axis = axisAttr ? axisAttr.getInt() : 1;
  Location loc = op->getLoc();
  Value x = op->getOperand(0);
  auto ranked = dyn_cast<RankedTensorType>(x.getType());
  StringRef name = cast<VersionedOpInterface>(op).getOperatorName();
  auto make = [&](StringRef name, int64_t version, ArrayRef<Value> inputs, Type type, ArrayRef<NamedAttribute> attrs) {
    return createVersion(rewriter, loc, name, version, inputs, attrs, type)->getResult(0);
  };
  auto axisIs = [&](int64_t value) { return rewriter.getNamedAttr("axis", rewriter.getI64IntegerAttr(value)); };
  Type flatType = UnrankedTensorType::get(getElementType(x)), type = op->getResult(0).getType();
  if (axis == -1 || (ranked && axis == ranked.getRank() - 1)) {
    rewriter.replaceOp(op, make(name, 13, x, type, axisIs(-1)));
    return success();
  }
  Value flat = make("Flatten", 25, x, flatType, axisIs(axis));
  Value result = make(name, 13, flat, flatType, axisIs(-1));
  Value shape = make("Shape", 25, x, UnrankedTensorType::get(rewriter.getI64Type()), {});
  rewriter.replaceOp(op, make("Reshape", 25, {result, shape}, type, {}));
  return success();
}

// Up to version 11 the dimensions from axis on are one: other axes than the last one go there and back.
static LogicalResult downgradeSoftmax(Operation *op, PatternRewriter &rewriter) {
  if (getPreviousVersion(op) != 11)
    return downgradeStep(op, rewriter);
  Value x = op->getOperand(0);
  auto attr = op->getAttrOfType<IntegerAttr>("axis");
  int64_t axis = attr ? attr.getInt() : -1;
  std::optional<Shape> shape = getShape(x.getType());
  if (!shape)
    return refuseDowngrade(op) << "it needs the rank of its input";
  int64_t rank = shape->size();
  axis += axis < 0 ? rank : 0;
  auto last = rewriter.getNamedAttr("axis", rewriter.getI64IntegerAttr(rank - 1));
  if (axis == rank - 1)
    return replaceByPrevious(op, rewriter, x, {}, last);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[axis], order[rank - 1]);
  std::swap((*shape)[axis], (*shape)[rank - 1]);
  auto perm = rewriter.getNamedAttr("perm", rewriter.getDenseI64ArrayAttr(order));
  Type moved = makeTensorType(*shape, getElementType(x)), own = op->getResult(0).getType();
  // Along the last axis at this version, which is then as it is there: by the same step, which looks at the types.
  Value there = createVersion(rewriter, op->getLoc(), "Transpose", 13, x, perm, moved)->getResult(0);
  Operation *plain = rewriter.create(op->getLoc(), op->getName().getIdentifier(), there, moved, {last});
  Operation *back = createVersion(rewriter, op->getLoc(), "Transpose", 13, plain->getResult(0), perm, own);
  rewriter.setInsertionPoint(plain);
  if (failed(replaceByPrevious(plain, rewriter, there, {}, last))) {
    rewriter.eraseOp(back);
    rewriter.eraseOp(plain);
    return failure();
  }
  rewriter.replaceOp(op, back);
  return success();
}

static int64_t getAxis(Operation *op, int64_t rank) {
  auto attr = op->getAttrOfType<IntegerAttr>("axis");
  int64_t axis = attr ? attr.getInt() : -1;
  return axis < 0 ? axis + rank : axis;
}

namespace {
// The pieces that the three share: x in the compute type and its maximum along the axis.
struct Rows {
  Rows(Operation *op, Value operand, LinalgBuilder &b, bool keepNaN = false)
      : element(getElementType(op->getResult(0))), compute(scalar::getComputeType(element)), x(operand) {
    if (getRank(x) == 0) // Of a scalar: one row of one element.
      x = b.unsqueeze(x, {0});
    rank = getRank(x);
    axis = getAxis(op, rank);
    sizes = b.sizes(x);
    full = b.getMultiDimIdentityMap(rank);
    row = mapWithout(b.getContext(), rank, {axis});
    Value lowest = b.create<arith::ConstantOp>(scalar::getLowest(element));
    // Passed over, a NaN costs nothing, where keeping it takes six instructions: the sum of the exponentials has it.
    maximum = reduceMany(b, x, full, {axis}, lowest, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
      Value value = scalar::decode(n, v[0], element);
      if (keepNaN)
        return n.create<arith::MaximumFOp>(value, v[1]);
      Value larger = n.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, value, v[1]);
      return n.create<arith::SelectOp>(larger, value, v[1]);
    });
  }
  // Like the result of the op.
  SmallVector<Value> finish(LinalgBuilder &b, Operation *op, Value result) const {
    if (getRank(op->getResult(0)) == 0)
      result = b.squeeze(result, {0});
    return {result};
  }
  Value sumOfExp(LinalgBuilder &b, Value shifted) const {
    return reduceMany(b, shifted, full, {axis}, b.scalar(compute, 0),
                      [&](ImplicitLocOpBuilder &n, ValueRange v) { return addScalars(n, v[1], v[0]); });
  }

  Type element, compute;
  Value x, maximum;
  int64_t rank, axis;
  Sizes sizes;
  AffineMap full, row;
};
} // namespace

static FailureOr<SmallVector<Value>> lowerSoftmax(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Rows r(op, operands[0], b);
  Value e = mapElements(b, {r.x, r.maximum}, {r.full, r.row}, r.sizes, r.compute,
                        [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
                          return scalar::expBelow(n, scalar::decode(n, v[0], r.element), v[1]);
                        });
  // The sum is at least 1: its reciprocal is exact enough, and a product cheaper than a division.
  Value inverse = b.elementwise(r.sumOfExp(b, e), r.compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    return n.create<arith::DivFOp>(constantFloat(n, r.compute, 1), v[0]);
  });
  Value y = mapElements(b, {e, inverse}, {r.full, r.row}, r.sizes, getSeamElementType(r.element),
                        [&](ImplicitLocOpBuilder &n, ValueRange v) {
                          return scalar::encode(n, n.create<arith::MulFOp>(v[0], v[1]), r.element);
                        });
  return r.finish(b, op, y);
}

// x - max - log(sum(exp(x - max))). The difference is computed twice: cheaper than to keep it.
static FailureOr<SmallVector<Value>> lowerLogSoftmax(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Rows r(op, operands[0], b);
  Value sum = reduceMany(b, {r.x, r.maximum}, {r.full, r.row}, {r.axis}, b.scalar(r.compute, 0),
                         [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
                           Value e = scalar::expBelow(n, scalar::decode(n, v[0], r.element), v[1]);
                           return n.create<arith::AddFOp>(v[2], e);
                         });
  Value log = b.elementwise(sum, r.compute,
                            [](ImplicitLocOpBuilder &n, ValueRange v) -> Value { return n.create<math::LogOp>(v[0]); });
  Value y = mapElements(b, {r.x, r.maximum, log}, {r.full, r.row, r.row}, r.sizes, getSeamElementType(r.element),
                        [&](ImplicitLocOpBuilder &n, ValueRange v) {
                          Value shifted = n.create<arith::SubFOp>(scalar::decode(n, v[0], r.element), v[1]);
                          return scalar::encode(n, n.create<arith::SubFOp>(shifted, v[2]), r.element);
                        });
  return r.finish(b, op, y);
}

// 1 at the first maximum of each row.
static FailureOr<SmallVector<Value>> lowerHardmax(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Rows r(op, operands[0], b, /*keepNaN=*/true);
  Value first = findAlong(b, {r.x, r.maximum}, {r.full, r.row}, r.axis, /*last=*/false,
                          [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
                            Value value = scalar::decode(n, v[0], r.element);
                            return n.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, value, v[1]);
                          });
  Type seam = getSeamElementType(r.element);
  Value y = mapElements(b, first, r.row, r.sizes, seam, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    Value position = n.create<arith::IndexCastOp>(v[0].getType(), n.create<linalg::IndexOp>(r.axis));
    Value here = n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, position, v[0]);
    return n.create<arith::SelectOp>(here, constantFloat(n, seam, 1), constantFloat(n, seam, 0));
  });
  return r.finish(b, op, y);
}

STRATA_SLICE(Softmax) {
  auto add = [&](StringRef name, decltype(OpBehavior::lower) lower) {
    ops.add(name,
            {.inferShapes = inferSoftmax, .upgrade = upgradeSoftmax, .downgrade = downgradeSoftmax, .lower = lower});
  };
  add("Hardmax", lowerHardmax);
  add("LogSoftmax", lowerLogSoftmax);
  add("Softmax", lowerSoftmax);
}
