//===- TopK.cpp - TopK ----------------------------------------------------===//
//
// The runtime finds the places of the first k keys of each row; of equal ones the
// lower index comes first. A NaN counts as larger than every number.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"
#include "Conversion/RuntimeCalls.h"
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

// A number whose order as a signed integer is that in which elements come: the lowest one first.
static Value getKey(ImplicitLocOpBuilder &b, Value x, bool largest, Type onnx) {
  Type i64 = b.getI64Type();
  auto integer = [&](int64_t value) -> Value { return b.create<arith::ConstantIntOp>(value, 64); };
  x = scalar::decode(b, x, onnx);
  Value key;
  if (isa<FloatType>(x.getType())) {
    // Zeros have no sign. Negative numbers come in the opposite order of their bits.
    unsigned width = x.getType().getIntOrFloatBitWidth();
    auto number = [&](int64_t value) -> Value { return b.create<arith::ConstantIntOp>(value, width); };
    Value positive = b.create<arith::AddFOp>(x, constantFloat(b, x.getType(), 0));
    Value bits = b.create<arith::BitcastOp>(b.getIntegerType(width), positive);
    Value most = number(llvm::maxIntN(width));
    Value flip = b.create<arith::AndIOp>(b.create<arith::ShRSIOp>(bits, number(width - 1)), most);
    Value isNaN = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
    key = b.create<arith::SelectOp>(isNaN, most, b.create<arith::XOrIOp>(bits, flip));
    if (width < 64)
      key = b.create<arith::ExtSIOp>(i64, key);
  } else {
    bool isUnsigned = scalar::isUnsigned(onnx);
    key = x;
    if (x.getType() != i64)
      key = isUnsigned ? b.create<arith::ExtUIOp>(i64, x).getResult() : b.create<arith::ExtSIOp>(i64, x).getResult();
    else if (isUnsigned)
      key = b.create<arith::XOrIOp>(x, integer(INT64_MIN));
  }
  return largest ? b.create<arith::XOrIOp>(key, integer(-1)) : key;
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
  Value keys = b.elementwise(
      data, i64, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value { return getKey(n, v[0], largest, onnx); });
  // The axis last, and back again.
  SmallVector<int64_t> last, back;
  for (int64_t i = 0, rank = type.getRank(); i < rank; ++i) {
    if (i != axis)
      last.push_back(i);
    back.push_back(i < axis ? i : i == axis ? rank - 1 : i - 1);
  }
  last.push_back(axis);
  keys = b.reshape(b.transpose(keys, last), {b.product(outer), sizes[axis]});
  Value buffer = makeBuffer(b, {b.product(outer), k}, i64);
  callRuntime(b, "strata_rt_first_of_rows", {keys, buffer});
  outer.push_back(k);
  Value positions = b.transpose(b.reshape(bufferToTensor(b, buffer), outer), back);
  Value values = b.generate(result, type.getElementType(), [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
    SmallVector<Value> place(at);
    place[axis] = n.create<arith::IndexCastOp>(n.getIndexType(), n.create<tensor::ExtractOp>(positions, at));
    return n.create<tensor::ExtractOp>(data, place);
  });
  return SmallVector<Value>{values, positions};
}

STRATA_SLICE(TopK) {
  ops.add("TopK", {.inferShapes = inferTopK, .upgrade = upgradeTopK, .downgrade = downgradeTopK, .lower = lowerTopK});
}
