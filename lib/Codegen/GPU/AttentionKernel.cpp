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
// Where a block is a warp or two, V 0 starts with K 0, and V i+1 behind a barrier at the end.
//
//===----------------------------------------------------------------------===//
#include "AttentionNest.h"
#include "AttentionParts.h"
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
/// The sums that a thread has of a tile of results: in which of its rows each is, and which column, beside the thread's
/// first.
struct Places {
  SmallVector<int64_t> slots, columns;
};

class AttentionEmitter {
public:
  AttentionEmitter(OpBuilder &b, gpu::GPUFuncOp function, Attention &a, const AttentionTile &tile,
                   const PartBuffers *buffers)
      : b(b), loc(function.getLoc()), function(function), a(a), tile(tile), buffers(buffers), all(b, a, tile),
        stages{b, loc, all.nest}, index{b, loc, b.getIndexType()}, i32{b, loc, b.getI32Type()},
        combiner(*matchCombiner(a.maximum)),
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
  const PartBuffers *buffers; ///< null where a block has all keys of its rows
  AttentionNest all;
  StageEmitter stages;
  Integers index, i32;
  Combiner combiner;
  SharedTile queries, keys, values, weights;

  Value numRows, numKeys, firstRow;
  Value firstKey, endOfKeys; ///< of those that any of the block's rows sees, by tiles
  Value thread;              ///< i32
  Value batch, part;         ///< numbers of the block's; the latter null where keys are not divided
  KeyParts parts;
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

  Value product(ArrayRef<int> loops) { return all.product(b, loc, loops); }
  bool isWhole(ArrayRef<int> loops, int64_t size) const;

  void findBlock();
  Value numberOf(Value bound, Value query);
  void findKeys();
  void takePart(Value length);
  void findThread();
  void commit();
  void wait(int64_t groups);
  void copyFirst();
  void copyKeys(Value begin);
  void copyValues(Value begin);
  void copyIfSeen(Value begin, void (AttentionEmitter::*copy)(Value));
  SmallVector<Value> multiplyKeys();
  void multiplyValues(ArrayRef<Value> p, SmallVectorImpl<Value> &sums);
  SmallVector<Value> finishScores(ArrayRef<Value> sums, Value begin);
  SmallVector<Value> softmax(ArrayRef<Value> x, State &state);
  void keepWeights(ArrayRef<Value> p);
  void finish(State &state);
  void leave(State &state);
  void enterRow(size_t slot);
};
} // namespace

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

//===----------------------------------------------------------------------===//
// Where a thread is
//===----------------------------------------------------------------------===//

void AttentionEmitter::findBlock() {
  Value block = b.create<gpu::BlockIdOp>(loc, gpu::Dimension::x);
  numRows = product(a.rows);
  numKeys = product(a.key);
  Value rowBlocks = b.create<arith::CeilDivUIOp>(loc, numRows, index.number(tile.rows));
  firstRow = index.mul(index.rem(block, rowBlocks), tile.rows);
  batch = index.div(block, rowBlocks);
  if (buffers) {
    Value blocks = b.createOrFold<arith::MulIOp>(loc, rowBlocks, product(a.batch));
    parts = divideKeys(b, loc, tile, blocks, numKeys);
    part = index.rem(batch, parts.count);
    batch = index.div(batch, parts.count);
  }
  batchAt.resize(all.nest.loops.size());
  delinearize(b, loc, batch, all.nest, a.batch, batchAt);

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
  if (auto number = dyn_cast<linalg::IndexOp>(maker))
    return a.scoreLoops[number.getDim()] == a.rows.front() ? query : index.number(0);
  IRMapping operands;
  for (Value operand : maker->getOperands())
    operands.map(operand, numberOf(operand, query));
  return b.clone(*maker, operands)->getResult(0);
}

/// Tiles of keys that are hidden from all rows of the block are not read; what is left is divided.
void AttentionEmitter::findKeys() {
  Value zero = index.number(0), last = b.createOrFold<arith::SubIOp>(loc, numKeys, index.number(1));
  firstKey = zero;
  endOfKeys = numKeys;
  SmallVector<KeyBound> bounds = findKeyBounds(a);
  if (bounds.empty())
    return takePart(parts.length);
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
  if (!part)
    return;
  // Not less than 0, where no key is seen.
  Value seen = b.create<arith::SubIOp>(loc, b.create<arith::MaxSIOp>(loc, endOfKeys, firstKey), firstKey);
  Value length = b.create<arith::CeilDivUIOp>(loc, seen, index.mul(parts.count, tile.keys));
  takePart(index.mul(length, tile.keys));
}

/// Of the block's keys so many, behind those of the parts before.
void AttentionEmitter::takePart(Value length) {
  if (!part)
    return;
  firstKey = index.add(firstKey, index.mul(part, length));
  endOfKeys = b.create<arith::MinSIOp>(loc, endOfKeys, index.add(firstKey, length));
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

void AttentionEmitter::copyValues(Value begin) {
  values.copy(begin, isWhole(a.key, tile.keys) ? Value() : numKeys, valueStage);
}

/// A group of copies, though it may be empty: groups are counted.
void AttentionEmitter::copyIfSeen(Value begin, void (AttentionEmitter::*copy)(Value)) {
  {
    auto seen = b.create<scf::IfOp>(loc, index.less(begin, endOfKeys));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(seen.thenBlock());
    (this->*copy)(begin);
  }
  commit();
}

/// Q, and the first keys that the block sees.
void AttentionEmitter::copyFirst() {
  OpBuilder::InsertionGuard guard(b);
  if (part) {
    auto some = b.create<scf::IfOp>(loc, b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, firstKey, endOfKeys));
    b.setInsertionPointToStart(some.thenBlock());
  }
  Value depth = all.nest.loops[all.depthLoop].size.is(tile.depth) ? Value() : product(all.depthLoop);
  queries.prepare(index.of(thread), firstRow, isWhole(a.rows, tile.rows) ? Value() : numRows, batchAt);
  queries.copy(index.number(0), depth, queryStage);
  copyKeys(firstKey);
  commit();
  if (tile.ahead) {
    copyValues(firstKey);
    commit();
  }
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
      next = combiner.joinScalars(b, loc, next, exchange(b, loc, next, distance));
    next = combiner.joinScalars(b, loc, state.maxima[slot], next);
    shifts.push_back(shiftOfRow(b, loc, next));
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

/// Goes on where the row of a slot is one of the attention's.
void AttentionEmitter::enterRow(size_t slot) {
  if (isWhole(a.rows, tile.rows))
    return;
  Value inside = index.less(index.add(firstRow, index.of(rowsOfSlots[slot])), numRows);
  b.setInsertionPointToStart(b.create<scf::IfOp>(loc, inside).thenBlock());
}

/// Writes what the block has of its rows, for the kernel that joins the parts.
void AttentionEmitter::leave(State &state) {
  int64_t width = all.nest.loops[all.widthLoop].size.known;
  bool wholeWidth = width == tile.width;
  Value sharers = i32.rem(thread, tile.matrix ? 4 : AttentionTile::threadsOfRow);
  Value isFirst = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, sharers, i32.number(0));
  for (size_t slot = 0; slot < rowsOfSlots.size(); ++slot) {
    OpBuilder::InsertionGuard guard(b);
    enterRow(slot);
    Value row = index.add(index.add(index.mul(batch, numRows), firstRow), index.of(rowsOfSlots[slot]));
    SmallVector<int64_t> own;
    for (auto [i, of] : llvm::enumerate(valuePlaces.slots))
      if (of == static_cast<int64_t>(slot))
        own.push_back(i);
    for (ArrayRef<int64_t> rest = own; !rest.empty();) {
      // Neighbouring columns at once.
      int64_t first = valuePlaces.columns[rest.front()];
      size_t count = 1;
      while (count < 4 && count < rest.size() && valuePlaces.columns[rest[count]] == first + int64_t(count))
        ++count;
      while (width % count || (count & (count - 1)))
        --count;
      OpBuilder::InsertionGuard guard(b);
      Value column = index.add(valueColumn, first);
      if (!wholeWidth)
        b.setInsertionPointToStart(b.create<scf::IfOp>(loc, index.less(column, index.number(width))).thenBlock());
      SmallVector<Value> sums;
      for (int64_t i : rest.take_front(count))
        sums.push_back(state.sums[i]);
      buffers->storeSums(b, loc, {row, part, column}, sums);
      rest = rest.drop_front(count);
    }
    b.setInsertionPointToStart(b.create<scf::IfOp>(loc, isFirst).thenBlock());
    buffers->storeMarks(b, loc, {row, part}, state.maxima[slot], state.totals[slot]);
  }
}

void AttentionEmitter::finish(State &state) {
  SmallVector<Value> factors;
  for (auto [maximum, total] : llvm::zip(state.maxima, state.totals))
    factors.push_back(weightOfRow(b, loc, a, maximum, total));
  bool wholeWidth = isWhole(all.widthLoop, tile.width);
  Value width = product(all.widthLoop);
  for (size_t slot = 0; slot < rowsOfSlots.size(); ++slot) {
    OpBuilder::InsertionGuard guard(b);
    enterRow(slot);
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
  values.prepare(index.of(thread), index.number(0),
                 isWhole(all.widthLoop, tile.width) ? Value() : product(all.widthLoop), batchAt);
  copyFirst();

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
    wait(tile.ahead ? 1 : 0);
    if (!tile.ahead) {
      copyValues(begin);
      commit();
    }
    SmallVector<Value> scores = multiplyKeys();
    // Everybody has read the keys.
    b.create<gpu::BarrierOp>(loc);
    Value next = index.add(begin, tile.keys);
    copyIfSeen(next, &AttentionEmitter::copyKeys);
    SmallVector<Value> p = softmax(finishScores(scores, begin), state);
    if (!tile.matrix)
      keepWeights(p);
    wait(1);
    multiplyValues(p, state.sums);
    if (tile.ahead) {
      b.create<gpu::BarrierOp>(loc);
      copyIfSeen(next, &AttentionEmitter::copyValues);
    }
    b.create<scf::YieldOp>(loc, state.flat());
  }
  state.assign(loop.getResults());
  if (tile.async)
    b.create<NVVM::CpAsyncWaitGroupOp>(loc, 0);
  for (Value &total : state.totals)
    for (int64_t distance : distances)
      total = b.create<arith::AddFOp>(loc, total, exchange(b, loc, total, distance));
  if (part)
    leave(state);
  else
    finish(state);
}

void strata::emitAttention(OpBuilder &b, gpu::GPUFuncOp function, Attention &attention, const AttentionTile &tile,
                           const PartBuffers *buffers) {
  for (GenericOp op : {attention.scores, attention.values})
    StageEmitter::allowFusedMultiplyAdd(op);
  AttentionEmitter(b, function, attention, tile, buffers).emit();
  // The assembler would rather spill a few registers than have three blocks on a multiprocessor in place of four.
  if (tile.async && !tile.matrix)
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
}
