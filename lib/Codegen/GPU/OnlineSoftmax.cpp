//===- OnlineSoftmax.cpp - what a thread has of its rows ------------------===//
#include "OnlineSoftmax.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace strata;

SmallVector<Value> OnlineSoftmax::State::flat() const {
  SmallVector<Value> list(sums);
  llvm::append_range(list, maxima);
  llvm::append_range(list, totals);
  return list;
}

void OnlineSoftmax::State::assign(ValueRange list) {
  for (SmallVector<Value> *part : {&sums, &maxima, &totals}) {
    ValueRange own = list.take_front(part->size());
    part->assign(own.begin(), own.end());
    list = list.drop_front(part->size());
  }
}

OnlineSoftmax::State OnlineSoftmax::firstState() {
  State state;
  state.sums.assign(valuePlaces.slots.size(), single(0));
  state.maxima.assign(rowsAt.size(), lowest());
  state.totals.assign(rowsAt.size(), single(0));
  return state;
}

Value OnlineSoftmax::exp(Value value) {
  if (!areApproximate)
    return b.create<math::ExpOp>(loc, value);
  value = b.create<arith::MulFOp>(loc, value, single(llvm::numbers::log2e));
  return b.create<LLVM::CallIntrinsicOp>(loc, b.getF32Type(), StringRef("llvm.nvvm.ex2.approx.ftz.f"), value)
      .getResult(0);
}
Value OnlineSoftmax::wide(Value value) {
  return value.getType().isF32() ? value : b.create<arith::ExtFOp>(loc, b.getF32Type(), value).getResult();
}

bool OnlineSoftmax::isWhole(ArrayRef<int> loops, int64_t size) const {
  int64_t product = 1;
  for (int loop : loops) {
    const Extent &extent = all.nest.loops[loop].size;
    if (!extent.isKnown())
      return false;
    product = llvm::SaturatingMultiply<uint64_t>(product, extent.known % size);
  }
  return product % size == 0;
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// A bound as it is for one query.
Value OnlineSoftmax::numberOf(Value bound, Value query) {
  if (bound.getParentBlock() != a.score.getBody())
    return bound;
  Operation *maker = bound.getDefiningOp();
  if (auto number = dyn_cast<linalg::IndexOp>(maker))
    return a.scoreLoops[number.getDim()] == a.rows.front() ? query : index.number(0);
  IRMapping operands;
  for (Value operand : maker->getOperands())
    operands.map(operand, numberOf(operand, query));
  return b.clone(*maker, operands)->getResult(0);
}

bool OnlineSoftmax::findKeys(Value firstQuery, Value lastQuery) {
  Value zero = index.number(0), last = b.createOrFold<arith::SubIOp>(loc, numKeys, index.number(1));
  firstKey = zero;
  endOfKeys = numKeys;
  SmallVector<KeyBound> bounds = findKeyBounds(a);
  for (const KeyBound &bound : bounds) {
    Value key = index.add(numberOf(bound.number, bound.isLower ? firstQuery : lastQuery), bound.offset);
    if (bound.isLower)
      firstKey = b.create<arith::MaxSIOp>(loc, firstKey, b.create<arith::MinSIOp>(loc, key, last));
    else
      endOfKeys = b.create<arith::MinSIOp>(loc, endOfKeys, b.create<arith::MaxSIOp>(loc, key, zero));
  }
  if (!bounds.empty())
    firstKey = index.mul(index.div(firstKey, tileKeys), tileKeys);
  return !bounds.empty();
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

SmallVector<Value> OnlineSoftmax::finishScores(ArrayRef<Value> sums, Value begin) {
  Value first = index.add(begin, scoreColumn);
  auto scoreOf = [&](size_t i) {
    SmallVector<Value> at = rowsAt[scorePlaces.slots[i]];
    at[all.keyLoop] = index.add(first, scorePlaces.columns[i]);
    return wide(all.score ? stages.evaluate(*all.score, at, sums[i], {Value()})[0] : sums[i]);
  };
  SmallVector<Value> scores(sums.size());
  auto ofAll = [&](function_ref<Value(size_t)> of) {
    for (auto [i, score] : llvm::enumerate(scores))
      score = of(i);
  };
  if (isWhole(a.key, tileKeys)) {
    ofAll(scoreOf);
    return scores;
  }
  Value left =
      i32.of(b.create<arith::MinUIOp>(loc, b.create<arith::SubIOp>(loc, numKeys, begin), index.number(tileKeys)));
  Value column = i32.of(scoreColumn);
  auto isKey = [&](size_t i) { return i32.less(i32.add(column, scorePlaces.columns[i]), left); };
  if (!all.readsForKeys()) {
    ofAll([&](size_t i) { return b.create<arith::SelectOp>(loc, isKey(i), scoreOf(i), lowest()); });
    return scores;
  }
  // What is read for keys that there are not is not there either.
  SmallVector<Type> types(sums.size(), b.getF32Type());
  Value full = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, left, i32.number(tileKeys));
  auto branch = b.create<scf::IfOp>(loc, types, full, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  ofAll(scoreOf);
  b.create<scf::YieldOp>(loc, scores);
  b.setInsertionPointToStart(branch.elseBlock());
  ofAll([&](size_t i) {
    auto inside = b.create<scf::IfOp>(loc, TypeRange(b.getF32Type()), isKey(i), /*withElse=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(inside.thenBlock());
    b.create<scf::YieldOp>(loc, scoreOf(i));
    b.setInsertionPointToStart(inside.elseBlock());
    b.create<scf::YieldOp>(loc, lowest());
    return inside.getResult(0);
  });
  b.create<scf::YieldOp>(loc, scores);
  return llvm::to_vector(ValueRange(branch.getResults()));
}

/// Where the maximum is -inf nothing has been seen of the row, and all that there is of it is 0.
SmallVector<Value> OnlineSoftmax::raiseMaxima(ArrayRef<Value> scores, State &state) {
  size_t slots = rowsAt.size();
  SmallVector<Value> largest(slots, lowest()), scales;
  for (auto [slot, score] : llvm::zip(scorePlaces.slots, scores))
    largest[slot] = combiner.joinScalars(b, loc, largest[slot], score);
  for (size_t slot = 0; slot < slots; ++slot) {
    Value next = largest[slot];
    for (int64_t distance : distances)
      next = combiner.joinScalars(b, loc, next, exchange(b, loc, next, distance));
    next = combiner.joinScalars(b, loc, state.maxima[slot], next);
    scales.push_back(exp(b.create<arith::SubFOp>(loc, state.maxima[slot], shiftOfRow(b, loc, next))));
    state.maxima[slot] = next;
    state.totals[slot] = b.create<arith::MulFOp>(loc, state.totals[slot], scales.back());
  }
  return scales;
}

void OnlineSoftmax::scaleSums(State &state, ArrayRef<Value> scales) {
  for (auto [slot, sum] : llvm::zip(valuePlaces.slots, state.sums))
    sum = b.create<arith::MulFOp>(loc, sum, scales[slot]);
}

SmallVector<Value> OnlineSoftmax::weigh(ArrayRef<Value> scores, State &state) {
  SmallVector<Value> shifts, weights;
  for (Value maximum : state.maxima)
    shifts.push_back(shiftOfRow(b, loc, maximum));
  for (auto [slot, score] : llvm::zip(scorePlaces.slots, scores)) {
    weights.push_back(exp(b.create<arith::SubFOp>(loc, score, shifts[slot])));
    state.totals[slot] = b.create<arith::AddFOp>(loc, state.totals[slot], weights.back());
  }
  return weights;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void OnlineSoftmax::joinTotals(State &state) {
  for (Value &total : state.totals)
    for (int64_t distance : distances)
      total = b.create<arith::AddFOp>(loc, total, exchange(b, loc, total, distance));
}

void OnlineSoftmax::finish(State &state, function_ref<Value(size_t)> isThere) {
  SmallVector<Value> factors;
  for (auto [maximum, total] : llvm::zip(state.maxima, state.totals))
    factors.push_back(weightOfRow(b, loc, a, maximum, total));
  bool wholeWidth = isWhole(all.widthLoop, tileWidth);
  Value width = product(all.widthLoop);
  for (size_t slot = 0; slot < rowsAt.size(); ++slot) {
    OpBuilder::InsertionGuard guard(b);
    if (Value there = isThere(slot))
      b.setInsertionPointToStart(b.create<scf::IfOp>(loc, there).thenBlock());
    // A row that counts nothing is 0, whatever V is.
    Value none = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, factors[slot], single(0));
    for (auto [i, sum] : llvm::enumerate(state.sums)) {
      if (valuePlaces.slots[i] != static_cast<int64_t>(slot))
        continue;
      OpBuilder::InsertionGuard guard(b);
      SmallVector<Value> at = rowsAt[slot];
      at[all.widthLoop] = index.add(valueColumn, valuePlaces.columns[i]);
      if (!wholeWidth)
        b.setInsertionPointToStart(b.create<scf::IfOp>(loc, index.less(at[all.widthLoop], width)).thenBlock());
      Value result = b.create<arith::MulFOp>(loc, sum, factors[slot]);
      result = b.create<arith::SelectOp>(loc, none, single(0), result);
      if (all.finish)
        result = stages.evaluate(*all.finish, at, result, {Value()})[0];
      stages.store(all.last(), 0, result, at);
    }
  }
}
