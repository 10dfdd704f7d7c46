//===- ReverseSequence.cpp - ReverseSequence ------------------------------===//
//
// The first sequence_lens[b] time steps of batch entry b in reverse order.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"

static LogicalResult verifyReverse(Operation *op) {
  auto get = [&](StringRef name, int64_t absent) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : absent;
  };
  int64_t batch = get("batch_axis", 1), time = get("time_axis", 0);
  if (batch == time || batch < 0 || batch > 1 || time < 0 || time > 1)
    return op->emitOpError("batch_axis ") << batch << " and time_axis " << time << " are not 0 and 1";
  return success();
}

static LogicalResult inferReverse(ShapeContext &c) {
  if (auto rank = c.rank(0); rank && *rank < 2)
    return c.emitError() << "needs an input of rank at least 2, not " << *rank;
  std::optional<Shape> data = c.shape(0), lengths = c.shape(1);
  int64_t batch = c.integer("batch_axis", 1);
  if (data && lengths && lengths->size() == 1 && batch >= 0 && batch < static_cast<int64_t>(data->size()) &&
      (*lengths)[0].isStatic() && (*data)[batch].isStatic() && (*lengths)[0].size != (*data)[batch].size)
    return c.emitError() << "has " << (*lengths)[0].size << " 'sequence_lens' for a batch of " << (*data)[batch].size;
  c.copyShape(0);
  return success();
}

static FailureOr<SmallVector<Value>> lowerReverse(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto reverse = cast<ReverseSequenceOp>(op);
  int64_t batch = reverse.getBatchAxis(), time = reverse.getTimeAxis();
  Value data = operands[0], lengths = operands[1];
  Sizes sizes = b.sizes(data);
  b.checkEqual(b.dim(lengths, 0), sizes[batch], "there are not as many lengths as batch entries");
  Value steps = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), b.index(sizes[time]));
  Value ok = b.reduce(lengths, {0}, false, b.scalarInt(b.getI1Type(), 1),
                      [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
                        // Unsigned, so that a negative length is too long.
                        Value fits = nested.create<arith::CmpIOp>(arith::CmpIPredicate::ule, args[0], steps);
                        return nested.create<arith::AndIOp>(args[1], fits);
                      });
  b.check(b.extractScalar(ok), "a sequence is longer than the time axis");
  Type element = getElementType(data);
  return SmallVector<Value>{b.generate(sizes, element, [&](ImplicitLocOpBuilder &body, ValueRange at) -> Value {
    Value length =
        body.create<arith::IndexCastOp>(body.getIndexType(), body.create<tensor::ExtractOp>(lengths, at[batch]));
    Value inside = body.create<arith::CmpIOp>(arith::CmpIPredicate::slt, at[time], length);
    Value last = body.create<arith::SubIOp>(length, body.create<arith::ConstantIndexOp>(1));
    SmallVector<Value> source(at);
    source[time] = body.create<arith::SelectOp>(inside, body.create<arith::SubIOp>(last, at[time]), at[time]);
    return body.create<tensor::ExtractOp>(data, source);
  })};
}

STRATA_SLICE(ReverseSequence) {
  ops.add("ReverseSequence",
          {.verify = verifyReverse, .inferShapes = inferReverse, .lower = lowerReverse, .handles = true});
}
