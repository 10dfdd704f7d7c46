//===- TopK.cpp - TopK ----------------------------------------------------===//
//
// Keeps a sorted list of the best k elements so far; of equal ones the lower
// index comes first. A NaN counts as larger than every number.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"
#include "Conversion/ScalarOps.h"
#include "Dialect/VersionSteps.h"

static LogicalResult inferTopK(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  FailureOr<int64_t> axis = c.normalizeAxis(c.integer("axis", -1), shape->size());
  if (failed(axis))
    return failure();
  Dim k, whole = (*shape)[*axis];
  if (c.version() == 1)
    k = Dim(c.integer("k", 0));
  else if (auto values = c.values(1); values && values->size() == 1)
    k = values->front();
  if (k.isStatic() && (k.size < 0 || (whole.isStatic() && k.size > whole.size)))
    return c.emitError() << "takes " << k.size << " elements of a dimension "
                         << (whole.isStatic() ? "of size " + std::to_string(whole.size) : std::string("of any size"));
  (*shape)[*axis] = k;
  c.setShape(0, *shape);
  c.setShape(1, *shape);
  return success();
}

static LogicalResult upgradeTopK(Operation *op, PatternRewriter &rewriter) {
  SmallVector<Value> inputs(op->getOperands());
  if (auto k = op->getAttrOfType<IntegerAttr>("k"))
    inputs.push_back(makeIntegers(rewriter, op->getLoc(), k.getInt()));
  replaceByNext(op, rewriter, inputs, {"k"});
  return success();
}

// Whether `x` comes before `y`.
static Value isBetter(LinalgBuilder &b, Value x, Value y, bool largest, bool isUnsigned) {
  if (!isa<FloatType>(x.getType())) {
    using P = arith::CmpIPredicate;
    return b.create<arith::CmpIOp>(largest ? (isUnsigned ? P::ugt : P::sgt) : (isUnsigned ? P::ult : P::slt), x, y);
  }
  using P = arith::CmpFPredicate;
  // Unordered comparisons hold for a NaN on either side: it must be the one that wins.
  Value wins = b.create<arith::CmpFOp>(largest ? P::UGT : P::ULT, x, y);
  Value number = largest ? y : x;
  return b.create<arith::AndIOp>(wins, b.create<arith::CmpFOp>(P::ORD, number, number));
}

static LogicalResult downgradeTopK(Operation *op, PatternRewriter &rewriter) {
  if (getPreviousVersion(op) >= 10) // Sorted results are also a valid answer where no order is asked for.
    return downgradeStep(op, rewriter, {{"largest", 1}, {"sorted", 1}, {"sorted", 0}});
  FailureOr<SmallVector<int64_t>> k = requireIntegers(op, 1);
  if (failed(k))
    return failure();
  return replaceByPrevious(op, rewriter, op->getOperand(0), {},
                           rewriter.getNamedAttr("k", rewriter.getI64IntegerAttr(k->front())));
}

static FailureOr<SmallVector<Value>> lowerTopK(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto topk = cast<TopKOp>(op);
  Value data = operands[0];
  auto type = cast<RankedTensorType>(data.getType());
  int64_t axis = topk.getAxis();
  axis = axis < 0 ? axis + type.getRank() : axis;
  bool largest = topk.getLargest() != 0;
  Type onnx = getElementType(op->getOperand(0));
  bool isUnsigned = scalar::isUnsigned(onnx);
  Sizes sizes = b.sizes(data), outer = sizes;
  std::optional<Shape> shape = getShape(op->getResult(0).getType());
  std::optional<OpFoldResult> known = b.knownSize((*shape)[axis]);
  // K has one element, even where its type does not say so.
  b.checkEqual(b.sizes(operands[1])[0], b.getIndexAttr(1), "K must have one element");
  OpFoldResult k = known ? *known : b.element(operands[1], 0);
  if (!getConstantIntValue(k) || !getConstantIntValue(sizes[axis]))
    b.check(b.compare(arith::CmpIPredicate::ule, k, sizes[axis]), "more elements are asked for than there are");
  Sizes result = sizes;
  result[axis] = k;
  outer.erase(outer.begin() + axis);
  Type i64 = b.getI64Type();
  SmallVector<Value> lists{b.empty(result, type.getElementType()), b.empty(result, i64)};
  SmallVector<Value> found = b.loopNest(outer, lists, [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
    auto position = [&](Value i) {
      SmallVector<Value> full(at);
      full.insert(full.begin() + axis, i);
      return full;
    };
    return b.loopNest({sizes[axis]}, carried, [&](ValueRange j, ValueRange best) -> SmallVector<Value> {
      // The candidate goes into its place; from there on every element moves by one, and the last one drops out.
      Value candidate = b.create<tensor::ExtractOp>(data, position(j[0]));
      SmallVector<Value> state{best[0], best[1], candidate, b.create<arith::IndexCastOp>(i64, j[0]),
                               b.scalarInt(b.getI1Type(), 0)};
      OpFoldResult filled = b.minimum(b.add(j[0], b.getIndexAttr(1)), k);
      SmallVector<Value> next = b.loopNest({filled}, state, [&](ValueRange p, ValueRange s) -> SmallVector<Value> {
        SmallVector<Value> place = position(p[0]);
        Value old = b.create<tensor::ExtractOp>(s[0], place), oldIndex = b.create<tensor::ExtractOp>(s[1], place);
        Value isFree = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, p[0], j[0]);
        Value better = isBetter(b, scalar::decode(b, s[2], onnx), scalar::decode(b, old, onnx), largest, isUnsigned);
        Value moves = b.create<arith::OrIOp>(s[4], b.create<arith::OrIOp>(isFree, better));
        Value stored = b.create<arith::SelectOp>(moves, s[2], old);
        Value storedIndex = b.create<arith::SelectOp>(moves, s[3], oldIndex);
        return {b.create<tensor::InsertOp>(stored, s[0], place), b.create<tensor::InsertOp>(storedIndex, s[1], place),
                b.create<arith::SelectOp>(moves, old, s[2]), b.create<arith::SelectOp>(moves, oldIndex, s[3]), moves};
      });
      return {next[0], next[1]};
    });
  });
  return found;
}

STRATA_SLICE(TopK) {
  ops.add("TopK", {.inferShapes = inferTopK, .upgrade = upgradeTopK, .downgrade = downgradeTopK, .lower = lowerTopK});
}
