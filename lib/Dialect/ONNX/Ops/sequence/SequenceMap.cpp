//===- SequenceMap.cpp - a graph applied to each element ------------------===//

#include "../Containers.h"

static LogicalResult verifyMap(Operation *op) {
  Block &body = op->getRegion(0).front();
  if (body.getTerminator()->getNumOperands() != op->getNumResults())
    return op->emitOpError("has ") << op->getNumResults() << " outputs, but its body has "
                                   << body.getTerminator()->getNumOperands();
  return success();
}

static LogicalResult inferMap(ShapeContext &c) {
  Operation *op = c.getOperation();
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != op->getNumOperands())
    return c.emitError() << "has " << op->getNumOperands() << " inputs, but its body has " << body.getNumArguments();
  for (auto [argument, operand] : llvm::zip(body.getArguments(), op->getOperands())) {
    Type type = operand.getType();
    if (Type element = elementOf(type))
      type = element;
    Type merged = mergeTypes(argument.getType(), type);
    argument.setType(merged ? merged : type);
  }
  if (failed(inferTypesInBlock(body, c.getAnalysis())))
    return failure();
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    c.setType(0, SeqType::get(op->getContext(), value.getType()), i);
  return success();
}

static FailureOr<SmallVector<Value>> lowerMap(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type i64 = b.getI64Type();
  Block &body = op->getRegion(0).front();
  auto length = [&](Value sequence) { return callRuntime(b, "strata_rt_seq_length", sequence, i64); };
  SmallVector<Value> sequences;
  for (auto [onnx, value, argument] : llvm::zip_equal(op->getOperands(), operands, body.getArguments())) {
    sequences.push_back(isa<SeqType>(onnx.getType()) ? b.extractScalar(value) : Value());
    if (failed(checkElement(op, argument.getType())))
      return failure();
  }
  for (Value value : body.getTerminator()->getOperands())
    if (failed(checkElement(op, value.getType())))
      return failure();
  Value count = length(sequences[0]);
  for (Value other : ArrayRef(sequences).drop_front())
    if (other)
      b.check(b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, length(other), count),
              "the sequences have different lengths");
  SmallVector<Value> results(op->getNumResults());
  for (Value &result : results)
    result = callRuntime(b, "strata_rt_seq_empty", {}, i64);

  auto loop = b.create<scf::ForOp>(b.index(int64_t(0)), b.create<arith::IndexCastOp>(b.getIndexType(), count),
                                   b.index(int64_t(1)), results);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value position = b.create<arith::IndexCastOp>(i64, loop.getInductionVar());
  SmallVector<Value> arguments;
  for (auto [i, sequence] : llvm::enumerate(sequences)) {
    Type type = body.getArgument(i).getType();
    Value argument = operands[i];
    if (sequence)
      argument = fromObject(b, callRuntime(b, "strata_rt_seq_at", {sequence, position}, i64), type);
    arguments.push_back(b.castTo(argument, getSeamType(type)));
  }
  FailureOr<SmallVector<Value>> yielded = b.lowerBlock(body, arguments);
  if (failed(yielded))
    return failure();
  SmallVector<Value> next;
  for (auto [i, value] : llvm::enumerate(*yielded)) {
    Value object = toObject(b, body.getTerminator()->getOperand(i), value);
    next.push_back(callRuntime(b, "strata_rt_seq_insert", {loop.getRegionIterArgs()[i], object, position}, i64));
  }
  b.create<scf::YieldOp>(next);
  b.setInsertionPointAfter(loop);
  return llvm::map_to_vector(loop.getResults(), [&](Value handle) { return b.fromScalar(handle); });
}

STRATA_SLICE(SequenceMap) {
  ops.add("SequenceMap", {.verify = verifyMap, .inferShapes = inferMap, .lower = lowerMap, .handles = true});
}
