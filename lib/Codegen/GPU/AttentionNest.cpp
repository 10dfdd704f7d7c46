//===- AttentionNest.cpp - the loops and stages of an attention -----------===//
#include "AttentionNest.h"
#include "Integers.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata;
using linalg::GenericOp;

static Stage stageOf(OpBuilder &b, GenericOp op, ArrayRef<int> loopOf, unsigned loops, GenericOp before, bool isLast) {
  Value in = before ? before.getDpsInits()[0] : Value(), out = isLast ? Value() : op.getDpsInits()[0];
  FailureOr<Stage> stage = buildStage(b, op, loopOf, loops, in, out);
  assert(succeeded(stage) && "accesses of an attention are strided");
  return *stage;
}

AttentionNest::AttentionNest(OpBuilder &b, Attention &a, const AttentionTile &tile) {
  Location loc = a.scores.getLoc();
  auto add = [&](bool reduction, OpFoldResult size) {
    std::optional<int64_t> known = getConstantIntValue(size);
    nest.loops.push_back({reduction, known ? Extent{*known, {}} : Extent{0, cast<Value>(size)}});
  };
  auto product = cast<linalg::LinalgOp>(a.scores.getOperation());
  for (auto [range, kind] : llvm::zip(product.createLoopRanges(b, loc), a.scores.getIteratorTypesArray()))
    add(kind == utils::IteratorType::reduction, range.size);
  OpOperand &v = a.valuesOperand();
  keyLoop = a.key;
  depthLoop = a.depth;
  widthLoop = nest.loops.size();
  unsigned width = llvm::find(a.valueLoops, widthLoop) - a.valueLoops.begin();
  AffineMap map = a.values.getMatchingIndexingMap(&v);
  add(false, memref::getMixedSize(b, loc, v.get(), *map.getResultPosition(b.getAffineDimExpr(width))));

  unsigned loops = nest.loops.size();
  scores = stageOf(b, a.scores, llvm::to_vector(llvm::seq<int>(0, loops - 1)), loops, nullptr, false);
  if (a.score)
    score = stageOf(b, a.score, a.scoreLoops, loops, a.scores, false);
  values = stageOf(b, a.values, a.valueLoops, loops, a.weight, !a.finish);
  if (a.finish)
    finish = stageOf(b, a.finish, a.finishLoops, loops, a.values, true);
  weights.element = tile.weightType;
  weights.strides.resize(loops);
}

bool AttentionNest::readsForKeys() const {
  return score &&
         llvm::any_of(score->inputs, [&](const Access &input) { return input.base && !input.strides[keyLoop].is(0); });
}

Value AttentionNest::product(OpBuilder &b, Location loc, ArrayRef<int> loops) const {
  Value result = b.create<arith::ConstantIndexOp>(loc, 1);
  for (int loop : loops) {
    const Extent &size = nest.loops[loop].size;
    Value value = size.value ? size.value : b.create<arith::ConstantIndexOp>(loc, size.known).getResult();
    result = b.createOrFold<arith::MulIOp>(loc, result, value);
  }
  return result;
}

static Value wide(OpBuilder &b, Location loc, Value value) {
  return value.getType().isF32() ? value : b.create<arith::ExtFOp>(loc, b.getF32Type(), value).getResult();
}

/// The body's result for values of f32, nothing of which is rounded to a narrower type.
static Value applyWide(OpBuilder &b, Location loc, GenericOp op, ArrayRef<Value> arguments) {
  Block *body = op.getBody();
  IRMapping known;
  for (auto [argument, value] : llvm::zip(body->getArguments(), arguments))
    known.map(argument, value);
  for (Operation &inner : body->without_terminator()) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(inner)) {
      known.map(inner.getResult(0), known.lookupOrDefault(inner.getOperand(0)));
      continue;
    }
    for (Value operand : inner.getOperands())
      if (Value value = known.lookupOrDefault(operand); isa<FloatType>(value.getType()))
        known.map(operand, wide(b, loc, value));
    Value result = b.clone(inner, known)->getResult(0);
    if (isa<FloatType>(result.getType()))
      result.setType(b.getF32Type());
  }
  return known.lookupOrDefault(body->getTerminator()->getOperand(0));
}

Value strata::weightOfRow(OpBuilder &b, Location loc, Attention &a, Value maximum, Value total) {
  // What the model makes of the largest score: 1, but for rows of -inf.
  Value one = applyWide(b, loc, a.exponential, {maximum, maximum});
  Value sum = b.create<arith::MulFOp>(loc, total, one);
  if (a.inverse)
    sum = applyWide(b, loc, a.inverse, sum);
  SmallVector<Value> arguments(2);
  unsigned exponential = inputFrom(a.weight, a.exponential)->getOperandNumber();
  arguments[exponential] = one;
  arguments[1 - exponential] = sum;
  return applyWide(b, loc, a.weight, arguments);
}

Value strata::shiftOfRow(OpBuilder &b, Location loc, Value maximum) {
  auto number = [&](float value) { return b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(value)); };
  Value lowest = number(-std::numeric_limits<float>::infinity());
  Value none = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, maximum, lowest);
  return b.create<arith::SelectOp>(loc, none, number(0), maximum);
}

Value strata::exchange(OpBuilder &b, Location loc, Value value, int64_t distance) {
  constexpr int64_t lanes = 32;
  Integers i32{b, loc, b.getI32Type()};
  Value word = b.create<arith::BitcastOp>(loc, b.getI32Type(), value);
  word = b.create<gpu::ShuffleOp>(loc, word, i32.number(distance), i32.number(lanes), gpu::ShuffleMode::XOR)
             .getShuffleResult();
  return b.create<arith::BitcastOp>(loc, value.getType(), word);
}
