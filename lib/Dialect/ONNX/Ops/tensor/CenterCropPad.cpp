//===- CenterCropPad.cpp - CenterCropPad ----------------------------------===//
//
// Element i of a dimension is element i + (size - target) / 2 of the input, the
// quotient rounded towards zero, or zero where there is no such element. (The
// function body mixes int64 with a target of int32.)
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"

// The axes that the target is of, within the rank.
static SmallVector<int64_t> getAxes(Operation *op, int64_t rank) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>("axes");
  if (!attr)
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  return llvm::map_to_vector(attr.asArrayRef(), [&](int64_t axis) { return axis < 0 ? axis + rank : axis; });
}

static LogicalResult inferCenterCropPad(ShapeContext &c) {
  if (auto rank = c.rank(1); rank && *rank != 1)
    return c.emitError() << "needs a shape of rank 1, not " << *rank;
  std::optional<Shape> shape = c.shape(0), target = c.shape(1);
  if (!shape)
    return success();
  if (auto axes = c.integerArray("axes"))
    for (int64_t axis : *axes)
      if (failed(c.normalizeAxis(axis, shape->size())))
        return failure();
  SmallVector<int64_t> axes = getAxes(c.getOperation(), shape->size());
  if (target && target->front().isStatic() && target->front().size != static_cast<int64_t>(axes.size()))
    return c.emitError() << "has a shape of " << target->front().size << " sizes for " << axes.size() << " axes";
  auto sizes = c.values(1);
  for (auto [k, axis] : llvm::enumerate(axes)) {
    Dim size = sizes && sizes->size() == axes.size() ? (*sizes)[k] : Dim();
    if (size.isStatic() && size.size < 0)
      return c.emitError() << "has a size of " << size.size;
    (*shape)[axis] = size;
  }
  c.setShape(0, *shape);
  return success();
}

static FailureOr<SmallVector<Value>> lowerCenterCropPad(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0], target = operands[1];
  int64_t rank = getRank(data);
  Type element = getElementType(data);
  SmallVector<int64_t> axes = getAxes(op, rank);
  b.checkEqual(b.dim(target, 0), b.getIndexAttr(axes.size()), "there is not one size per axis");
  Sizes input = b.sizes(data), sizes = input;
  ValueAnalysis::Values known = b.getAnalysis().get(op->getOperand(1));
  SmallVector<Value> offsets, lengths;
  for (auto [k, axis] : llvm::enumerate(axes)) {
    std::optional<OpFoldResult> size = known && known->size() == axes.size() ? b.knownSize((*known)[k]) : std::nullopt;
    sizes[axis] = size ? *size : b.element(target, k);
    b.check(b.compare(arith::CmpIPredicate::sge, sizes[axis], b.getIndexAttr(0)), "a size is negative");
    Value length = b.index(input[axis]);
    Value difference = b.createOrFold<arith::SubIOp>(length, b.index(sizes[axis]));
    offsets.push_back(b.createOrFold<arith::DivSIOp>(difference, b.index(int64_t(2))));
    lengths.push_back(length);
  }
  Value zero = b.scalarInt(element, 0);
  // A dimension of the input without elements has nothing to read, not even what is not taken.
  Value count = b.index(b.product(input));
  Value isEmpty = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, count, b.index(int64_t(0)));
  return SmallVector<Value>{b.generate(sizes, element, [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
    SmallVector<Value> source(at);
    Value none = n.create<arith::ConstantIndexOp>(0), one = n.create<arith::ConstantIndexOp>(1), inside;
    for (auto [k, axis] : llvm::enumerate(axes)) {
      Value position = n.create<arith::AddIOp>(at[axis], offsets[k]), length = lengths[k];
      Value is = n.create<arith::CmpIOp>(arith::CmpIPredicate::ult, position, length);
      inside = inside ? n.create<arith::AndIOp>(inside, is).getResult() : is;
      Value last = n.create<arith::SubIOp>(length, one);
      source[axis] = n.create<arith::MaxSIOp>(n.create<arith::MinSIOp>(position, last), none);
    }
    auto choose = n.create<scf::IfOp>(
        isEmpty, [&](OpBuilder &nested, Location loc) { nested.create<scf::YieldOp>(loc, zero); },
        [&](OpBuilder &nested, Location loc) {
          Value value = nested.create<tensor::ExtractOp>(loc, data, source);
          if (inside)
            value = nested.create<arith::SelectOp>(loc, inside, value, zero);
          nested.create<scf::YieldOp>(loc, value);
        });
    return choose.getResult(0);
  })};
}

STRATA_SLICE(CenterCropPad) {
  ops.add("CenterCropPad", {.inferShapes = inferCenterCropPad, .lower = lowerCenterCropPad, .handles = true});
}
