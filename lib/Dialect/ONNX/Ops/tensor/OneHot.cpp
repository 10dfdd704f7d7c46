//===- OneHot.cpp - OneHot ------------------------------------------------===//
//
// result[a.., d, b..] = indices[a.., b..] == d ? on : off. From version 11 on a
// negative index counts from the end; out of range all are off.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"
#include "Conversion/ScalarOps.h"
#include "Dialect/VersionSteps.h"

static LogicalResult inferOneHot(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  FailureOr<int64_t> axis = c.normalizeAxis(c.integer("axis", -1), shape->size() + 1);
  if (failed(axis))
    return failure();
  Dim depth;
  if (auto values = c.values(1); values && values->size() == 1)
    depth = values->front();
  else if (auto numbers = c.floats(1); numbers && numbers->size() == 1)
    depth = Dim(static_cast<int64_t>((*numbers)[0]));
  if (depth.isStatic() && depth.size < 0)
    return c.emitError() << "has the depth " << depth.size;
  shape->insert(shape->begin() + *axis, depth);
  c.setShape(0, *shape);
  return success();
}

// 9 to 11: negative indices were out of range; `depth` still is.
static LogicalResult upgradeOneHot(Operation *op, PatternRewriter &rewriter) {
  Location loc = op->getLoc();
  SmallVector<Value> inputs(op->getOperands());
  auto type = cast<TensorType>(inputs[0].getType()), depthType = cast<TensorType>(inputs[1].getType());
  Type element = type.getElementType();
  auto known = getIntegers(getConstant(inputs[0]));
  bool negative = !known || llvm::any_of(*known, [](int64_t i) { return i < 0; });
  if (negative && !scalar::isUnsigned(element)) {
    auto to =
        rewriter.getNamedAttr("to", rewriter.getI64IntegerAttr(onnx::getDataType(*onnx::getElementKind(element))));
    Value depth = createVersion(rewriter, loc, "Cast", 9, inputs[1], to, depthType.clone(element))->getResult(0);
    Value none = makeIntegers(rewriter, loc, {});
    depth =
        createVersion(rewriter, loc, "Reshape", 5, {depth, none}, {}, RankedTensorType::get({}, element))->getResult(0);
    Value zero = makeScalar(rewriter, loc, element, 0);
    Value below =
        createVersion(rewriter, loc, "Less", 9, {inputs[0], zero}, {}, type.clone(rewriter.getI1Type()))->getResult(0);
    inputs[0] = createVersion(rewriter, loc, "Where", 9, {below, depth, inputs[0]}, {}, type)->getResult(0);
  }
  replaceByNext(op, rewriter, inputs);
  return success();
}

// Version 9 leaves rows with negative indices off, 11 counts them from the end.
static LogicalResult downgradeOneHot(Operation *op, PatternRewriter &rewriter) {
  if (cast<VersionedOpInterface>(op).getSinceVersion() != 11)
    return downgradeStep(op, rewriter);
  auto indices = getIntegers(getConstant(op->getOperand(0)));
  if (!getElementTypeOrSelf(op->getOperand(0).getType()).isUnsignedInteger() &&
      (!indices || llvm::any_of(*indices, [](int64_t index) { return index < 0; })))
    return refuseDowngrade(op) << "negative indices have another meaning, and these " << (indices ? "are" : "may be");
  return downgradeStep(op, rewriter);
}

static FailureOr<SmallVector<Value>> lowerOneHot(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto indexType = cast<RankedTensorType>(operands[0].getType());
  int64_t rank = indexType.getRank() + 1, axis = cast<OneHotOp>(op).getAxis();
  axis = axis < 0 ? axis + rank : axis;
  auto elementOf = [&](unsigned i) { return getElementType(op->getOperand(i)); };
  Type i64 = b.getI64Type();
  std::optional<Shape> shape = getShape(op->getResult(0).getType());
  std::optional<OpFoldResult> depth = b.knownSize((*shape)[axis]);
  if (!depth) {
    Value given = scalar::convert(b, b.extractScalar(operands[1]), elementOf(1), i64);
    depth = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), given);
    b.check(b.compare(arith::CmpIPredicate::sge, *depth, b.getIndexAttr(0)), "the depth is negative");
  }
  Value off = b.create<tensor::ExtractOp>(operands[2], ValueRange{b.index(int64_t(0))});
  Value on = b.create<tensor::ExtractOp>(operands[2], ValueRange{b.index(int64_t(1))});
  Value limit = b.createOrFold<arith::IndexCastOp>(i64, b.index(*depth)), zero = b.scalarInt(i64, 0);
  Sizes sizes = b.sizes(operands[0]);
  sizes.insert(sizes.begin() + axis, *depth);
  Value init = b.empty(sizes, on.getType());
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      exprs.push_back(b.getAffineDimExpr(i));
  SmallVector<AffineMap> maps{AffineMap::get(rank, 0, exprs, b.getContext()), b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto generic = b.create<linalg::GenericOp>(
      init.getType(), operands[0], init, maps, iterators, [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder body(loc, nested);
        Value index = scalar::convert(body, args[0], elementOf(0), i64);
        if (!scalar::isUnsigned(elementOf(0))) {
          Value negative = body.create<arith::CmpIOp>(arith::CmpIPredicate::slt, index, zero);
          index = body.create<arith::SelectOp>(negative, body.create<arith::AddIOp>(index, limit), index);
        }
        Value here = body.create<arith::IndexCastOp>(i64, body.create<linalg::IndexOp>(axis));
        Value is = body.create<arith::CmpIOp>(arith::CmpIPredicate::eq, index, here);
        body.create<linalg::YieldOp>(body.create<arith::SelectOp>(is, on, off).getResult());
      });
  return SmallVector<Value>{generic.getResult(0)};
}

STRATA_SLICE(OneHot) {
  ops.add("OneHot", {.inferShapes = inferOneHot,
                     .upgrade = upgradeOneHot,
                     .downgrade = downgradeOneHot,
                     .lower = lowerOneHot,
                     .handles = true});
}
