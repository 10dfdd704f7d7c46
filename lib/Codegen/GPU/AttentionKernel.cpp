//===- AttentionKernel.cpp - attention with an online softmax -------------===//
//
// A block has some queries and walks all keys, a tile at a time. Of each row a
// thread knows the largest score so far, the sum of the exponentials of what the
// scores have less than that, and the sums of V weighted with them; both are
// scaled when a larger score comes. Scores are nowhere but in registers.
//
//   K 0, Q |  wait, barrier
//          |  V i starts    scores Q * K i      barrier
//          |  K i+1 starts  softmax of a tile   wait for V i, barrier   sums += weights * V i
//
//===----------------------------------------------------------------------===//
#include "../LoopNest.h"
#include "Attention.h"
#include "Integers.h"
#include "ThreadProduct.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata;
using linalg::GenericOp;

namespace {
/// The nest of all loops, and what the kernel reads and writes.
struct AttentionNest {
  LoopNest nest;
  Stage scores, values;
  std::optional<Stage> score, finish;
  Access weights; ///< where they would be; only in shared memory
  int keyLoop, depthLoop, widthLoop;

  AttentionNest(OpBuilder &b, Attention &a, const AttentionTile &tile);
  Stage &last() { return finish ? *finish : values; }
  const Access &queriesOf(const Attention &a) const { return scores.inputs[a.query]; }
  const Access &keysOf(const Attention &a) const { return scores.inputs[1 - a.query]; }
  const Access &valuesOf(const Attention &a) const { return values.inputs[1 - a.probability]; }
};

/// The sums that a thread has of a tile of results: in which of its rows each is, and which column, beside the thread's
/// first.
struct Places {
  SmallVector<int64_t> slots, columns;
};

class AttentionEmitter {
public:
  AttentionEmitter(OpBuilder &b, gpu::GPUFuncOp function, Attention &a, const AttentionTile &tile)
      : b(b), loc(function.getLoc()), function(function), a(a), tile(tile), all(b, a, tile), stages{b, loc, all.nest},
        index{b, loc, b.getIndexType()}, i32{b, loc, b.getI32Type()}, combiner(*matchCombiner(a.maximum)),
        queries(stages, all.queriesOf(a), a.rows, all.depthLoop, shapeOf(tile.rows, tile.depth, rowLines())),
        keys(stages, all.keysOf(a), all.keyLoop, all.depthLoop, shapeOf(tile.keys, tile.depth, keyLines())),
        values(stages, all.valuesOf(a), all.widthLoop, all.keyLoop, shapeOf(tile.width, tile.keys, valueLines())),
        weights(stages, all.weights, a.rows, all.keyLoop, shapeOf(tile.rows, tile.keys, Lines::numbers)) {}

  void emit();

private:
  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp function;
  Attention &a;
  const AttentionTile &tile;
  AttentionNest all;
  StageEmitter stages;
  Integers index, i32;
  Combiner combiner;
  SharedTile queries, keys, values, weights;

  Value numRows, numKeys, firstRow;
  Value firstKey, endOfKeys; ///< of those that any of the block's rows sees, by tiles
  Value thread;              ///< i32
  SmallVector<Value> batchAt;
  Value queryStage, keyStage, valueStage, weightStage;

  // What a thread has of a tile of scores, and of results.
  std::optional<WarpProduct> warpScores, warpValues;
  std::optional<ThreadProduct> threadScores, threadValues;
  Value warpRow, lane;
  Places scorePlaces, valuePlaces;
  Value scoreColumn, valueColumn;         ///< the thread's first (index)
  SmallVector<Value> rowsOfSlots;         ///< in the tile (i32)
  SmallVector<SmallVector<Value>> rowsAt; ///< of each slot, the numbers of the loops
  SmallVector<int64_t> distances;         ///< to the lanes that share a row

  /// Of the rows of a thread.
  struct State {
    SmallVector<Value> sums, maxima, totals;
    SmallVector<Value> flat() const {
      SmallVector<Value> list(sums);
      llvm::append_range(list, maxima);
      llvm::append_range(list, totals);
      return list;
    }
    void assign(ValueRange list) {
      for (SmallVector<Value> *part : {&sums, &maxima, &totals}) {
        ValueRange own = list.take_front(part->size());
        part->assign(own.begin(), own.end());
        list = list.drop_front(part->size());
      }
    }
  };

  using Lines = TileShape::Lines;
  TileShape shapeOf(int64_t numbers, int64_t depth, Lines lines) {
    return {numbers, depth, tile.threads(), tile.matrix.has_value(), tile.async, lines};
  }
  /// Without tensor cores the rows of a thread are the same for both products.
  Lines rowLines() const { return tile.matrix ? Lines::asInMemory : Lines::numbers; }
  Lines keyLines() const { return roundsHere() ? Lines::numbers : Lines::asInMemory; }
  Lines valueLines() const { return roundsHere() ? Lines::pairsOfSteps : Lines::asInMemory; }
  bool roundsHere() const { return tile.matrix && tile.matrix->element.isF32(); }
  Value single(double number) { return b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(number)); }
  Value lowest() { return single(-std::numeric_limits<double>::infinity()); }
  Value exp(Value value) { return b.create<math::ExpOp>(loc, value); }
  Value wide(Value value) {
    return value.getType().isF32() ? value : b.create<arith::ExtFOp>(loc, b.getF32Type(), value).getResult();
  }
  Value narrow(Value value, Type type) {
    return type.isF32() ? value : b.create<arith::TruncFOp>(loc, type, value).getResult();
  }

  Value product(ArrayRef<int> loops);
  bool isWhole(ArrayRef<int> loops, int64_t size) const;
  Value applyWide(GenericOp op, ArrayRef<Value> arguments);
  Value exchange(Value value, int64_t distance);

  void findBlock();
  Value numberOf(Value bound, Value query);
  void findKeys();
  void findThread();
  void commit();
  void wait(int64_t groups);
  void copyKeys(Value begin);
  SmallVector<Value> multiplyKeys();
  void multiplyValues(ArrayRef<Value> p, SmallVectorImpl<Value> &sums);
  SmallVector<Value> finishScores(ArrayRef<Value> sums, Value begin);
  SmallVector<Value> softmax(ArrayRef<Value> x, State &state);
  void keepWeights(ArrayRef<Value> p);
  void finish(State &state);
};
} // namespace

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

Value AttentionEmitter::product(ArrayRef<int> loops) {
  Value result = index.number(1);
  for (int loop : loops)
    result = b.createOrFold<arith::MulIOp>(loc, result, stages.materialize(all.nest.loops[loop].size));
  return result;
}

/// Whether all tiles along these loops are full.
bool AttentionEmitter::isWhole(ArrayRef<int> loops, int64_t size) const {
  int64_t product = 1;
  for (int loop : loops) {
    const Extent &extent = all.nest.loops[loop].size;
    if (!extent.isKnown())
      return false;
    product = llvm::SaturatingMultiply<uint64_t>(product, extent.known % size);
  }
  return product % size == 0;
}

/// The body's result for values of f32, nothing of which is rounded to a narrower type.
Value AttentionEmitter::applyWide(GenericOp op, ArrayRef<Value> arguments) {
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
        known.map(operand, wide(value));
    Value result = b.clone(inner, known)->getResult(0);
    if (isa<FloatType>(result.getType()))
      result.setType(b.getF32Type());
  }
  return known.lookupOrDefault(body->getTerminator()->getOperand(0));
}

/// The value of the lane whose number differs by this bit.
Value AttentionEmitter::exchange(Value value, int64_t distance) {
  constexpr int64_t lanes = 32;
  Value word = b.create<arith::BitcastOp>(loc, b.getI32Type(), value);
  word = b.create<gpu::ShuffleOp>(loc, word, i32.number(distance), i32.number(lanes), gpu::ShuffleMode::XOR)
             .getShuffleResult();
  return b.create<arith::BitcastOp>(loc, value.getType(), word);
}

//===----------------------------------------------------------------------===//
// Where a thread is
//===----------------------------------------------------------------------===//

void AttentionEmitter::findBlock() {
  Value block = b.create<gpu::BlockIdOp>(loc, gpu::Dimension::x);
  numRows = product(a.rows);
  numKeys = product(a.key);
  Value rowBlocks = b.create<arith::CeilDivUIOp>(loc, numRows, index.number(tile.rows));
  firstRow = index.mul(index.rem(block, rowBlocks), tile.rows);
  batchAt.resize(all.nest.loops.size());
  delinearize(b, loc, index.div(block, rowBlocks), all.nest, a.batch, batchAt);

  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  Value buffer = function.addWorkgroupAttribution(
      MemRefType::get({tile.bytes()}, b.getI8Type(), MemRefLayoutAttrInterface(), space), loc);
  function.setWorkgroupAttributionAttr(function.getNumWorkgroupAttributions() - 1,
                                       LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(128));
  queryStage = pointerTo(b, loc, buffer, NVVM::kSharedMemorySpace);
  keyStage = addressAt(b, loc, queryStage, tile.queryBytes);
  valueStage = addressAt(b, loc, keyStage, tile.keyBytes);
  weightStage = addressAt(b, loc, valueStage, tile.valueBytes);
}

/// A bound as it is for one query.
Value AttentionEmitter::numberOf(Value bound, Value query) {
  if (bound.getParentBlock() != a.score.getBody())
    return bound;
  Operation *maker = bound.getDefiningOp();
  if (isa<linalg::IndexOp>(maker))
    return query;
  IRMapping operands;
  for (Value operand : maker->getOperands())
    operands.map(operand, numberOf(operand, query));
  return b.clone(*maker, operands)->getResult(0);
}

/// Tiles of keys that are hidden from all rows of the block are not read.
void AttentionEmitter::findKeys() {
  Value zero = index.number(0), last = b.createOrFold<arith::SubIOp>(loc, numKeys, index.number(1));
  firstKey = zero;
  endOfKeys = numKeys;
  SmallVector<KeyBound> bounds = findKeyBounds(a);
  if (bounds.empty())
    return;
  Value together = product(ArrayRef(a.rows).drop_front());
  Value lastRow = index.add(firstRow, tile.rows - 1);
  lastRow = b.create<arith::MinUIOp>(loc, lastRow, b.create<arith::SubIOp>(loc, numRows, index.number(1)));
  for (const KeyBound &bound : bounds) {
    Value query = index.div(bound.isLower ? firstRow : lastRow, together);
    Value key = index.add(numberOf(bound.number, query), bound.offset);
    if (bound.isLower)
      firstKey = b.create<arith::MaxSIOp>(loc, firstKey, b.create<arith::MinSIOp>(loc, key, last));
    else
      endOfKeys = b.create<arith::MinSIOp>(loc, endOfKeys, b.create<arith::MaxSIOp>(loc, key, zero));
  }
  firstKey = index.mul(index.div(firstKey, tile.keys), tile.keys);
}

void AttentionEmitter::findThread() {
  auto place = [](Places &places, int64_t slot, int64_t column) {
    places.slots.push_back(slot);
    places.columns.push_back(column);
  };
  if (tile.matrix) {
    lane = i32.rem(thread, 32);
    warpRow = i32.mul(i32.div(thread, 32), tile.partRows);
    warpScores.emplace(b, loc, *tile.matrix, &queries, keys, tile.partRows, tile.keys);
    warpValues.emplace(b, loc, *tile.matrix, nullptr, values, tile.partRows, tile.width);
    for (auto [product, places] : {std::pair(&*warpScores, &scorePlaces), std::pair(&*warpValues, &valuePlaces)}) {
      product->prepare(lane, warpRow, i32.number(0));
      for (int64_t i = 0; i < product->numSums(); ++i) {
        auto [down, right] = product->placeOf(i);
        place(*places, down / 8, right);
      }
    }
    Value row = i32.add(warpRow, WarpProduct::rowOf(b, loc, lane));
    rowsOfSlots = {row, i32.add(row, 8)};
    scoreColumn = valueColumn = index.of(WarpProduct::columnOf(b, loc, lane));
    distances = {1, 2};
  } else {
    constexpr int64_t across = AttentionTile::threadsOfRow;
    int64_t down = tile.rows / tile.partRows;
    auto elementOf = [](const Access &access) { return access.element; };
    threadScores.emplace(b, loc, ThreadProduct::Side{queries, elementOf(all.queriesOf(a)), tile.partRows, down},
                         ThreadProduct::Side{keys, elementOf(all.keysOf(a)), tile.keys / across, across});
    threadValues.emplace(b, loc, ThreadProduct::Side{weights, tile.weightType, tile.partRows, down},
                         ThreadProduct::Side{values, elementOf(all.valuesOf(a)), tile.width / across, across});
    for (auto [product, places] : {std::pair(&*threadScores, &scorePlaces), std::pair(&*threadValues, &valuePlaces)}) {
      product->prepare(thread);
      for (int64_t i = 0; i < tile.partRows; ++i)
        for (int64_t j = 0; j < product->right().count; ++j)
          place(*places, i, product->right().placeOf(j));
    }
    for (int64_t i = 0; i < tile.partRows; ++i)
      rowsOfSlots.push_back(i32.add(threadScores->left().first(b, loc), threadScores->left().placeOf(i)));
    scoreColumn = index.of(threadScores->right().first(b, loc));
    valueColumn = index.of(threadValues->right().first(b, loc));
    for (int64_t distance = 1; distance < across; distance *= 2)
      distances.push_back(distance);
  }
  // What is beyond the last row repeats it, and is not stored.
  for (Value slot : rowsOfSlots) {
    Value row = index.add(firstRow, index.of(slot));
    if (!isWhole(a.rows, tile.rows))
      row = b.create<arith::MinUIOp>(loc, row, b.create<arith::SubIOp>(loc, numRows, index.number(1)));
    rowsAt.push_back(batchAt);
    delinearize(b, loc, row, all.nest, a.rows, rowsAt.back());
  }
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void AttentionEmitter::commit() {
  if (tile.async)
    b.create<NVVM::CpAsyncCommitGroupOp>(loc);
}

/// Until all but the last `groups` copies of this thread have arrived; then everybody else's have, too.
void AttentionEmitter::wait(int64_t groups) {
  if (tile.async)
    b.create<NVVM::CpAsyncWaitGroupOp>(loc, groups);
  b.create<gpu::BarrierOp>(loc);
}

void AttentionEmitter::copyKeys(Value begin) {
  Value depth = all.nest.loops[all.depthLoop].size.is(tile.depth) ? Value() : product(all.depthLoop);
  keys.prepare(index.of(thread), begin, isWhole(a.key, tile.keys) ? Value() : numKeys, batchAt);
  keys.copy(index.number(0), depth, keyStage);
}

//===----------------------------------------------------------------------===//
// A tile of keys
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionEmitter::multiplyKeys() {
  SmallVector<Value> sums(scorePlaces.slots.size(), single(0));
  if (warpScores) {
    int64_t depth = all.nest.loops[all.depthLoop].size.known, steps = WarpProduct::stepsOf(tile.matrix->element);
    for (int64_t step = 0; step * steps < depth; ++step)
      warpScores->accumulate(warpScores->loadLeft(queryStage, step), keyStage, step, sums);
    return sums;
  }
  threadScores->accumulate(queryStage, keyStage, tile.depth, sums, [&](Value, Value x, Value y, Value sum) {
    return a.query == 0 ? addProduct(b, a.scores, x, y, sum) : addProduct(b, a.scores, y, x, sum);
  });
  return sums;
}

/// The scores with their scale, bias and mask; keys that there are not have none.
SmallVector<Value> AttentionEmitter::finishScores(ArrayRef<Value> sums, Value begin) {
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
  if (isWhole(a.key, tile.keys)) {
    ofAll(scoreOf);
    return scores;
  }
  Value left =
      i32.of(b.create<arith::MinUIOp>(loc, b.create<arith::SubIOp>(loc, numKeys, begin), index.number(tile.keys)));
  Value column = i32.of(scoreColumn);
  auto isKey = [&](size_t i) { return i32.less(i32.add(column, scorePlaces.columns[i]), left); };
  bool reads = all.score && llvm::any_of(all.score->inputs, [&](const Access &input) {
                 return input.base && !input.strides[all.keyLoop].is(0);
               });
  if (!reads) {
    ofAll([&](size_t i) { return b.create<arith::SelectOp>(loc, isKey(i), scoreOf(i), lowest()); });
    return scores;
  }
  // What is read for keys that there are not is not there either.
  SmallVector<Type> types(sums.size(), b.getF32Type());
  Value full = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, left, i32.number(tile.keys));
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

/// Exponentials of the scores, with the state brought to the maximum that is known now. Where that is -inf nothing has
/// been seen of the row, and all that there is of it is 0.
SmallVector<Value> AttentionEmitter::softmax(ArrayRef<Value> x, State &state) {
  size_t slots = rowsOfSlots.size();
  SmallVector<Value> largest(slots, lowest()), shifts, scales;
  for (auto [slot, score] : llvm::zip(scorePlaces.slots, x))
    largest[slot] = combiner.joinScalars(b, loc, largest[slot], score);
  for (size_t slot = 0; slot < slots; ++slot) {
    Value next = largest[slot];
    for (int64_t distance : distances)
      next = combiner.joinScalars(b, loc, next, exchange(next, distance));
    next = combiner.joinScalars(b, loc, state.maxima[slot], next);
    Value none = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, next, lowest());
    shifts.push_back(b.create<arith::SelectOp>(loc, none, single(0), next));
    scales.push_back(exp(b.create<arith::SubFOp>(loc, state.maxima[slot], shifts.back())));
    state.maxima[slot] = next;
    state.totals[slot] = b.create<arith::MulFOp>(loc, state.totals[slot], scales.back());
  }
  for (auto [slot, sum] : llvm::zip(valuePlaces.slots, state.sums))
    sum = b.create<arith::MulFOp>(loc, sum, scales[slot]);
  SmallVector<Value> p;
  for (auto [slot, score] : llvm::zip(scorePlaces.slots, x)) {
    p.push_back(exp(b.create<arith::SubFOp>(loc, score, shifts[slot])));
    state.totals[slot] = b.create<arith::AddFOp>(loc, state.totals[slot], p.back());
  }
  return p;
}

/// Writes them where those find them that have the same rows of the results.
void AttentionEmitter::keepWeights(ArrayRef<Value> p) {
  int64_t bytes = weights.elementBytes(), inChunk = 16 / bytes;
  for (auto [i, weight] : llvm::enumerate(p)) {
    Value key = i32.add(i32.of(scoreColumn), scorePlaces.columns[i]);
    Value to = i32.add(weights.offset(rowsOfSlots[scorePlaces.slots[i]], i32.div(key, inChunk)),
                       i32.mul(i32.rem(key, inChunk), bytes));
    b.create<LLVM::StoreOp>(loc, narrow(weight, tile.weightType), addressAt(b, loc, weightStage, to));
  }
}

void AttentionEmitter::multiplyValues(ArrayRef<Value> p, SmallVectorImpl<Value> &sums) {
  if (!warpValues) {
    threadValues->accumulate(weightStage, valueStage, tile.keys, sums, [&](Value, Value x, Value y, Value sum) {
      return a.probability == 0 ? addProduct(b, a.values, x, y, sum) : addProduct(b, a.values, y, x, sum);
    });
    return;
  }
  for (int64_t step = 0; step < tile.keys / WarpProduct::stepsOf(tile.matrix->element); ++step)
    warpValues->accumulate({warpValues->asLeft(p, step)}, valueStage, step, sums);
}

//===----------------------------------------------------------------------===//
// All keys
//===----------------------------------------------------------------------===//

void AttentionEmitter::finish(State &state) {
  SmallVector<Value> factors;
  for (auto [maximum, total] : llvm::zip(state.maxima, state.totals)) {
    for (int64_t distance : distances)
      total = b.create<arith::AddFOp>(loc, total, exchange(total, distance));
    // What the model makes of the largest score: 1, but for rows of -inf.
    Value one = applyWide(a.exponential, {maximum, maximum});
    Value sum = b.create<arith::MulFOp>(loc, total, one);
    if (a.inverse)
      sum = applyWide(a.inverse, sum);
    SmallVector<Value> arguments(2);
    unsigned exponential = inputFrom(a.weight, a.exponential)->getOperandNumber();
    arguments[exponential] = one;
    arguments[1 - exponential] = sum;
    factors.push_back(applyWide(a.weight, arguments));
  }
  bool wholeRows = isWhole(a.rows, tile.rows), wholeWidth = isWhole(all.widthLoop, tile.width);
  Value width = product(all.widthLoop);
  for (size_t slot = 0; slot < rowsOfSlots.size(); ++slot) {
    OpBuilder::InsertionGuard guard(b);
    if (!wholeRows) {
      Value inside = index.less(index.add(firstRow, index.of(rowsOfSlots[slot])), numRows);
      b.setInsertionPointToStart(b.create<scf::IfOp>(loc, inside).thenBlock());
    }
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

void AttentionEmitter::emit() {
  OpBuilder::InsertionGuard guard(b);
  thread = i32.of(b.create<gpu::ThreadIdOp>(loc, gpu::Dimension::x));
  findBlock();
  findKeys();
  findThread();
  Value depth = all.nest.loops[all.depthLoop].size.is(tile.depth) ? Value() : product(all.depthLoop);
  queries.prepare(index.of(thread), firstRow, isWhole(a.rows, tile.rows) ? Value() : numRows, batchAt);
  queries.copy(index.number(0), depth, queryStage);
  copyKeys(firstKey);
  commit();
  values.prepare(index.of(thread), index.number(0),
                 isWhole(all.widthLoop, tile.width) ? Value() : product(all.widthLoop), batchAt);

  State state;
  state.sums.assign(valuePlaces.slots.size(), single(0));
  state.maxima.assign(rowsOfSlots.size(), lowest());
  state.totals.assign(rowsOfSlots.size(), single(0));
  auto loop = b.create<scf::ForOp>(loc, firstKey, endOfKeys, index.number(tile.keys), state.flat());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value begin = loop.getInductionVar();
    state.assign(loop.getRegionIterArgs());
    wait(0);
    values.copy(begin, isWhole(a.key, tile.keys) ? Value() : numKeys, valueStage);
    commit();
    SmallVector<Value> scores = multiplyKeys();
    // Everybody has read the keys.
    b.create<gpu::BarrierOp>(loc);
    Value next = index.add(begin, tile.keys);
    {
      auto more = b.create<scf::IfOp>(loc, index.less(next, endOfKeys));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(more.thenBlock());
      copyKeys(next);
    }
    // A group of copies, though it may be empty: groups are counted.
    commit();
    SmallVector<Value> p = softmax(finishScores(scores, begin), state);
    if (!tile.matrix)
      keepWeights(p);
    wait(1);
    multiplyValues(p, state.sums);
    b.create<scf::YieldOp>(loc, state.flat());
  }
  state.assign(loop.getResults());
  if (tile.async)
    b.create<NVVM::CpAsyncWaitGroupOp>(loc, 0);
  finish(state);
}

void strata::emitAttention(OpBuilder &b, gpu::GPUFuncOp function, Attention &attention, const AttentionTile &tile) {
  for (GenericOp op : {attention.scores, attention.values})
    StageEmitter::allowFusedMultiplyAdd(op);
  AttentionEmitter(b, function, attention, tile).emit();
  // The assembler would rather spill a few registers than have three blocks on a multiprocessor in place of four.
  if (tile.async && !tile.matrix)
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
}
