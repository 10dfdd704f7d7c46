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
  Value k = b.index(cast<EyeLikeOp>(op).getK());
  Value result = b.generate(b.sizes(operands[0]), element, [&](ImplicitLocOpBuilder &n, ValueRange indices) {
    Value onDiagonal =
        n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, indices[1], n.create<arith::AddIOp>(indices[0], k));
    Value one = n.create<arith::ConstantOp>(n.getOneAttr(element)),
          zero = n.create<arith::ConstantOp>(n.getZeroAttr(element));
    return n.create<arith::SelectOp>(onDiagonal, one, zero).getResult();
  });
  return SmallVector<Value>{result};
}

STRATA_SLICE(EyeLike) { ops.add("EyeLike", {.inferShapes = inferEyeLike, .lower = lowerEyeLike}); }
