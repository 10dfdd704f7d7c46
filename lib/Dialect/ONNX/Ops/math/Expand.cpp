//===- Expand.cpp - Expand ------------------------------------------------===//

#include "../Slice.h"

static LogicalResult inferExpand(ShapeContext &c) {
  std::optional<Shape> input = c.shape(0);
  auto target = c.values(1);
  if (!target)
    if (auto shape = c.shape(1); shape && shape->size() == 1 && (*shape)[0].isStatic())
      target.emplace((*shape)[0].size);
  if (!input || !target)
    return success();
  size_t rank = std::max(input->size(), target->size());
  Shape result;
  for (size_t i = 0; i < rank; ++i) {
    Dim a = i + input->size() < rank ? Dim(1) : (*input)[i + input->size() - rank];
    Dim b = i + target->size() < rank ? Dim(1) : (*target)[i + target->size() - rank];
    if (b.isStatic() && b.size < 0)
      return c.emitError() << "has the size " << b.size << " in its shape";
    std::optional<Dim> dim = broadcastDims(a, b);
    if (!dim)
      return c.emitError() << "does not broadcast size " << a.size << " to " << b.size << " in dimension " << i;
    result.push_back(*dim);
  }
  c.setShape(0, result);
  return success();
}

static ValueAnalysis::Values expandValues(ShapeContext &c) {
  auto values = c.elements(0);
  auto target = c.integers(1);
  if (!values || values->size() != 1 || !target)
    return std::nullopt;
  int64_t count = 1;
  for (int64_t size : *target)
    if (size < 0 || size > 256 || (count *= size) > 256)
      return std::nullopt;
  return SmallVector<Dim>(count, values->front());
}

static FailureOr<SmallVector<Value>> lowerExpand(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0];
  std::optional<Shape> result = getShape(op->getResult(0).getType());
  if (!cast<RankedTensorType>(op->getOperand(1).getType()).hasStaticShape())
    return op->emitOpError("cannot be compiled: the rank of its result is not known at compile time");
  Sizes input = b.sizes(data), target = b.integerElements(op->getOperand(1)), sizes;
  size_t rank = result->size();
  for (size_t i = 0; i < rank; ++i) {
    OpFoldResult one = b.getIndexAttr(1);
    OpFoldResult from = i + input.size() < rank ? one : input[i + input.size() - rank];
    OpFoldResult to = i + target.size() < rank ? one : target[i + target.size() - rank];
    if (isConstantIntValue(to, 1) || isEqualConstantIntOrValue(from, to))
      sizes.push_back(from);
    else if (isConstantIntValue(from, 1))
      sizes.push_back(to);
    else if (std::optional<int64_t> known = getConstantIntValue(from); known) {
      // The target is 1 or the same.
      b.check(b.createOrFold<arith::OrIOp>(b.compare(arith::CmpIPredicate::eq, to, one),
                                           b.compare(arith::CmpIPredicate::eq, to, from)),
              "the shape does not broadcast in dimension " + Twine(i));
      sizes.push_back(from);
    } else {
      sizes.push_back(b.select(b.compare(arith::CmpIPredicate::eq, from, one), to, from));
      Value fits = b.createOrFold<arith::OrIOp>(b.compare(arith::CmpIPredicate::eq, to, one),
                                                b.compare(arith::CmpIPredicate::eq, sizes.back(), to));
      b.check(fits, "the shape does not broadcast in dimension " + Twine(i));
    }
    if (!getConstantIntValue(sizes.back()))
      b.check(b.compare(arith::CmpIPredicate::sge, sizes.back(), b.getIndexAttr(0)), "the shape has a negative size");
  }
  return SmallVector<Value>{b.broadcast(data, sizes)};
}

STRATA_SLICE(Expand) {
  ops.add("Expand", {.inferShapes = inferExpand, .inferValues = expandValues, .lower = lowerExpand, .handles = true});
}
