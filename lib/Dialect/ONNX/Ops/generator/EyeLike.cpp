//===- EyeLike.cpp - EyeLike: ones on a diagonal --------------------------===//

#include "../Elementwise.h"

static LogicalResult inferEyeLike(ShapeContext &c) {
  if (c.hasAttr("dtype")) {
    std::optional<ElementKind> kind = getElementKindOfDataType(c.integer("dtype", 0));
    if (!kind)
      return c.emitError() << "dtype " << c.integer("dtype", 0) << " is no element type";
    c.setElementType(0, getElementType(c.getContext(), *kind));
  } else {
    c.setElementType(0, c.elementType(0));
  }
  if (auto rank = c.rank(0); rank && *rank != 2)
    return c.emitError() << "input must be of rank 2, but is of rank " << *rank;
  c.copyShape(0);
  return success();
}

static FailureOr<SmallVector<Value>> lowerEyeLike(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type element = getSeamElementType(getElementType(op->getResult(0)));
  // Zeros, and then the ones: from row max(0, -k), column max(0, k), as far as there are both.
  int64_t k = cast<EyeLikeOp>(op).getK();
  // So that the other side cannot overflow, which has no element.
  k = std::clamp(k, std::numeric_limits<int64_t>::min() / 2, std::numeric_limits<int64_t>::max() / 2);
  OpFoldResult row = b.getIndexAttr(std::max<int64_t>(0, -k)), column = b.getIndexAttr(std::max<int64_t>(0, k));
  Sizes sizes = b.sizes(operands[0]);
  OpFoldResult count = b.minimum(b.sub(sizes[0], row), b.sub(sizes[1], column));
  Value one = b.create<arith::ConstantOp>(b.getOneAttr(element)), first = b.index(row), shift = b.index(column);
  Value zeros = b.fill(sizes, b.create<arith::ConstantOp>(b.getZeroAttr(element)));
  return b.loopNest({count}, zeros, [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
    SmallVector<Value> place{b.create<arith::AddIOp>(at[0], first), b.create<arith::AddIOp>(at[0], shift)};
    return {b.create<tensor::InsertOp>(one, carried[0], place)};
  });
}

STRATA_SLICE(EyeLike) { ops.add("EyeLike", {.inferShapes = inferEyeLike, .lower = lowerEyeLike}); }
