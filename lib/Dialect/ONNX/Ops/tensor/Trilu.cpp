//===- Trilu.cpp - Trilu --------------------------------------------------===//
//
// Upper: the elements with column - row >= k, lower: <= k; zeros elsewhere.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"

static LogicalResult inferTrilu(ShapeContext &c) {
  if (auto rank = c.rank(0); rank && *rank < 2)
    return c.emitError() << "needs an input of rank at least 2, not " << *rank;
  c.copyShape(0);
  return success();
}

static FailureOr<SmallVector<Value>> lowerTrilu(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto type = cast<RankedTensorType>(operands[0].getType());
  int64_t rank = type.getRank();
  bool upper = cast<TriluOp>(op).getUpper() != 0;
  Value k = b.index(int64_t(0));
  if (operands.size() > 1)
    k = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), b.extractScalar(operands[1]));
  Type element = type.getElementType();
  Value zero = b.scalarInt(element, 0);
  return SmallVector<Value>{
      b.elementwise(operands[0], element, [&](ImplicitLocOpBuilder &body, ValueRange args) -> Value {
        Value row = body.create<linalg::IndexOp>(rank - 2), column = body.create<linalg::IndexOp>(rank - 1);
        Value distance = body.create<arith::SubIOp>(column, row);
        Value keep =
            body.create<arith::CmpIOp>(upper ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle, distance, k);
        return body.create<arith::SelectOp>(keep, args[0], zero);
      })};
}

STRATA_SLICE(Trilu) { ops.add("Trilu", {.inferShapes = inferTrilu, .lower = lowerTrilu, .handles = true}); }
