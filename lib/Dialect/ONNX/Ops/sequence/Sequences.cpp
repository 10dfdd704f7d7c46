//===- Sequences.cpp - sequences are made, changed, read ------------------===//

#include "../Containers.h"

static Type makeSequence(Type element) { return SeqType::get(element.getContext(), element); }

static Value call(LinalgBuilder &b, StringRef name, ValueRange arguments) {
  return callRuntime(b, name, arguments, b.getI64Type());
}

static SmallVector<Value> asResult(LinalgBuilder &b, Value handle) { return {b.fromScalar(handle)}; }

// A position from the end where it is negative, checked to be in [0, length + extra).
static Value getPosition(LinalgBuilder &b, Value sequence, Value tensor, Type from, int64_t extra) {
  Type i64 = b.getI64Type();
  Value length = call(b, "strata_rt_seq_length", sequence), zero = b.scalarInt(i64, 0);
  Value position = scalar::convert(b, b.extractScalar(tensor), from, i64);
  Value isNegative = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, position, zero);
  position = b.create<arith::SelectOp>(isNegative, b.create<arith::AddIOp>(position, length), position);
  Value end = extra ? b.create<arith::AddIOp>(length, b.scalarInt(i64, extra)).getResult() : length;
  // As unsigned numbers, negative ones are out of range too.
  b.check(b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, position, end),
          "the position is out of the sequence's range");
  return position;
}

//===----------------------------------------------------------------------===//
// SequenceEmpty, SequenceConstruct, SequenceInsert, SequenceErase
//===----------------------------------------------------------------------===//

static LogicalResult verifyEmpty(Operation *op) {
  auto dtype = op->getAttrOfType<IntegerAttr>("dtype");
  if (dtype && !getElementKindOfDataType(dtype.getInt()))
    return op->emitOpError("dtype = ") << dtype.getInt() << " is no element type";
  return success();
}

static LogicalResult inferEmpty(ShapeContext &c) {
  auto kind = getElementKindOfDataType(c.integer("dtype", 1));
  c.setType(0, makeSequence(UnrankedTensorType::get(getElementType(c.getContext(), *kind))));
  return success();
}

static FailureOr<SmallVector<Value>> lowerEmpty(Operation *, ValueRange, LinalgBuilder &b) {
  return asResult(b, call(b, "strata_rt_seq_empty", {}));
}

static LogicalResult inferConstruct(ShapeContext &c) {
  Type element;
  for (Value operand : c.getOperation()->getOperands()) {
    element = joinTypes(element, operand.getType());
    if (!element)
      return c.emitError() << "has elements of different types";
  }
  c.setType(0, makeSequence(element));
  return success();
}

static FailureOr<SmallVector<Value>> lowerConstruct(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value sequence = call(b, "strata_rt_seq_empty", {});
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (failed(checkElement(op, op->getOperand(i).getType())))
      return failure();
    Value object = toObject(b, op->getOperand(i), operand);
    sequence = call(b, "strata_rt_seq_insert", {sequence, object, b.scalarInt(b.getI64Type(), i)});
  }
  return asResult(b, sequence);
}

static LogicalResult inferInsert(ShapeContext &c) {
  Type element = joinTypes(elementOf(c.input(0)), c.input(1).getType());
  if (!element)
    return c.emitError() << "inserts " << getTypeString(c.input(1).getType()) << " into "
                         << getTypeString(c.input(0).getType());
  c.setType(0, makeSequence(element));
  return success();
}

static FailureOr<SmallVector<Value>> lowerInsert(Operation *op, ValueRange operands, LinalgBuilder &b) {
  if (failed(checkElement(op, op->getOperand(1).getType())))
    return failure();
  Value sequence = b.extractScalar(operands[0]);
  Value position = operands.size() > 2 ? getPosition(b, sequence, operands[2], getElementType(op->getOperand(2)), 1)
                                       : call(b, "strata_rt_seq_length", sequence);
  return asResult(b,
                  call(b, "strata_rt_seq_insert", {sequence, toObject(b, op->getOperand(1), operands[1]), position}));
}

static LogicalResult inferErase(ShapeContext &c) {
  c.setType(0, c.input(0).getType());
  return success();
}

static FailureOr<SmallVector<Value>> lowerErase(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value sequence = b.extractScalar(operands[0]), position;
  if (operands.size() > 1) {
    position = getPosition(b, sequence, operands[1], getElementType(op->getOperand(1)), 0);
  } else {
    Value one = b.scalarInt(b.getI64Type(), 1);
    position = b.create<arith::SubIOp>(call(b, "strata_rt_seq_length", sequence), one);
    b.check(b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, position, b.scalarInt(b.getI64Type(), 0)),
            "the sequence is empty");
  }
  return asResult(b, call(b, "strata_rt_seq_erase", {sequence, position}));
}

//===----------------------------------------------------------------------===//
// SequenceAt, SequenceLength
//===----------------------------------------------------------------------===//

static LogicalResult inferAt(ShapeContext &c) {
  c.setType(0, elementOf(c.input(0).getType()));
  return success();
}

static FailureOr<SmallVector<Value>> lowerAt(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value sequence = b.extractScalar(operands[0]);
  Value position = getPosition(b, sequence, operands[1], getElementType(op->getOperand(1)), 0);
  Value object = call(b, "strata_rt_seq_at", {sequence, position});
  return SmallVector<Value>{fromObject(b, object, op->getResult(0).getType())};
}

static LogicalResult inferLength(ShapeContext &c) {
  c.setShape(0, {});
  return success();
}

static FailureOr<SmallVector<Value>> lowerLength(Operation *, ValueRange operands, LinalgBuilder &b) {
  return asResult(b, call(b, "strata_rt_seq_length", b.extractScalar(operands[0])));
}

//===----------------------------------------------------------------------===//
// SplitToSequence
//===----------------------------------------------------------------------===//

static LogicalResult inferSplit(ShapeContext &c) {
  Type element = UnrankedTensorType::get(c.elementType(0));
  if (std::optional<Shape> shape = c.shape(0)) {
    FailureOr<int64_t> axis = c.normalizeAxis(c.integer("axis", 0), shape->size());
    if (failed(axis))
      return failure();
    Dim size = (*shape)[*axis];
    if (!c.hasInput(1)) {
      (*shape)[*axis] = Dim(1);
      if (!c.integer("keepdims", 1))
        shape->erase(shape->begin() + *axis);
    } else {
      (*shape)[*axis] = Dim();
      auto parts = c.integers(1);
      bool isScalar = c.rank(1) == 0;
      if (parts && isScalar && parts->front() <= 0)
        return c.emitError() << "splits into parts of size " << parts->front();
      if (parts && isScalar && size.isStatic() && size.size % parts->front() == 0)
        (*shape)[*axis] = Dim(parts->front());
      if (parts && !isScalar && !parts->empty() && llvm::all_equal(*parts))
        (*shape)[*axis] = Dim(parts->front());
    }
    element = makeTensorType(*shape, c.elementType(0));
  }
  c.setType(0, makeSequence(element));
  return success();
}

static FailureOr<SmallVector<Value>> lowerSplit(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type i64 = b.getI64Type();
  if (failed(checkElement(op, op->getOperand(0).getType())))
    return failure();
  int64_t rank = getRank(operands[0]), axis = 0;
  if (auto attr = op->getAttrOfType<IntegerAttr>("axis"))
    axis = attr.getInt() < 0 ? attr.getInt() + rank : attr.getInt();
  bool keepDims = true;
  OpFoldResult size = b.dim(operands[0], axis);
  Value parts;
  if (operands.size() < 2) {
    parts = b.fill({size}, b.scalarInt(i64, 1));
    auto attr = op->getAttrOfType<IntegerAttr>("keepdims");
    keepDims = !attr || attr.getInt() != 0;
  } else {
    Type from = getElementType(op->getOperand(1));
    Value split = b.elementwise(
        operands[1], i64, [&](ImplicitLocOpBuilder &n, ValueRange x) { return scalar::convert(n, x[0], from, i64); });
    if (getRank(split) == 0) {
      // Equal parts; the last one takes what is left.
      Value part = b.extractScalar(split);
      b.check(b.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, part, b.scalarInt(i64, 0)),
              "the size of the parts is not positive");
      Value one = b.scalarInt(i64, 1), total = b.create<arith::IndexCastOp>(i64, b.index(size));
      part = b.create<arith::MaxSIOp>(part, one);
      Value count = b.create<arith::CeilDivSIOp>(total, part);
      parts = b.generate({b.create<arith::IndexCastOp>(b.getIndexType(), count).getResult()}, i64,
                         [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
                           Value begin = n.create<arith::MulIOp>(n.create<arith::IndexCastOp>(i64, at[0]), part);
                           return n.create<arith::MinSIOp>(part, n.create<arith::SubIOp>(total, begin));
                         });
    } else {
      parts = split;
      Value zero = b.scalarInt(i64, 0);
      auto fold = [&](Value init, ScalarFn combine) {
        return b.extractScalar(b.reduce(parts, {0}, false, init, combine));
      };
      Value least = fold(
          zero, [](ImplicitLocOpBuilder &n, ValueRange x) -> Value { return n.create<arith::MinSIOp>(x[0], x[1]); });
      b.check(b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, least, zero), "the size of a part is negative");
      Value sum = fold(
          zero, [](ImplicitLocOpBuilder &n, ValueRange x) -> Value { return n.create<arith::AddIOp>(x[0], x[1]); });
      b.checkEqual(b.create<arith::IndexCastOp>(b.getIndexType(), sum).getResult(), size,
                   "the sizes of the parts do not add up to the size of the axis");
    }
  }
  auto number = [&](int64_t value) { return b.scalarInt(i64, value); };
  return asResult(b, call(b, "strata_rt_seq_split",
                          {operands[0], dtypeOf(b, getElementType(op->getOperand(0))), number(rank), number(axis),
                           parts, number(keepDims)}));
}

//===----------------------------------------------------------------------===//
// ConcatFromSequence
//===----------------------------------------------------------------------===//

static LogicalResult inferConcat(ShapeContext &c) {
  Type element = elementOf(c.input(0));
  if (!element)
    element = elementOf(c.input(0).getType());
  bool newAxis = c.integer("new_axis", 0) != 0;
  c.setElementType(0, cast<TensorType>(element).getElementType());
  std::optional<Shape> shape = getShape(element);
  if (!shape)
    return success();
  FailureOr<int64_t> axis = c.normalizeAxis(c.integer("axis", 0), shape->size() + newAxis);
  if (failed(axis))
    return failure();
  if (newAxis)
    shape->insert(shape->begin() + *axis, Dim());
  else
    (*shape)[*axis] = Dim();
  c.setShape(0, *shape);
  return success();
}

static FailureOr<SmallVector<Value>> lowerConcat(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type i64 = b.getI64Type();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto newAxisAttr = op->getAttrOfType<IntegerAttr>("new_axis");
  bool newAxis = newAxisAttr && newAxisAttr.getInt() != 0;
  int64_t axis = op->getAttrOfType<IntegerAttr>("axis").getInt(), rank = type.getRank() - newAxis;
  if (axis < -type.getRank() || axis >= type.getRank())
    return op->emitOpError("axis ") << axis << " is out of range for rank " << type.getRank();
  if (axis < 0)
    axis += type.getRank();
  if (type.getRank() > kMaxObjectRank)
    return op->emitOpError("cannot be compiled: elements of rank ") << type.getRank();
  auto number = [&](int64_t value) { return b.scalarInt(i64, value); };
  Value sequence = b.extractScalar(operands[0]);
  Value sum = callRuntime(b, "strata_rt_seq_concat_size", {sequence, number(rank), number(newAxis ? -1 : axis)}, i64,
                          /*located=*/true);
  Value first = call(b, "strata_rt_seq_at", {sequence, number(0)});
  Sizes sizes;
  for (int64_t i = 0, from = 0; i < type.getRank(); ++i) {
    Value size = sum;
    if (i != axis || !newAxis) {
      if (i != axis)
        size = call(b, "strata_rt_tensor_size", {first, number(from)});
      ++from;
    }
    sizes.push_back(b.create<arith::IndexCastOp>(b.getIndexType(), size).getResult());
  }
  Value buffer = makeBuffer(b, sizes, getSeamElementType(type.getElementType()));
  callRuntime(b, "strata_rt_seq_concat", {sequence, number(rank), number(axis), number(newAxis), buffer});
  return SmallVector<Value>{bufferToTensor(b, buffer)};
}

STRATA_SLICE(Sequences) {
  ops.add("SequenceEmpty", {.verify = verifyEmpty, .inferShapes = inferEmpty, .lower = lowerEmpty, .handles = true});
  ops.add("SequenceConstruct", {.inferShapes = inferConstruct, .lower = lowerConstruct, .handles = true});
  ops.add("SequenceInsert", {.inferShapes = inferInsert, .lower = lowerInsert, .handles = true});
  ops.add("SequenceErase", {.inferShapes = inferErase, .lower = lowerErase, .handles = true});
  ops.add("SequenceAt", {.inferShapes = inferAt, .lower = lowerAt, .handles = true});
  ops.add("SequenceLength", {.inferShapes = inferLength, .lower = lowerLength, .handles = true});
  ops.add("SplitToSequence", {.inferShapes = inferSplit, .lower = lowerSplit, .handles = true});
  ops.add("ConcatFromSequence", {.inferShapes = inferConcat, .lower = lowerConcat, .handles = true});
}
