//===- AttentionKernel.cpp - attention with an online softmax -------------===//
//
// A block has some queries and walks all keys, a tile at a time. Scores are nowhere
// but in registers.
//
//   K 0, Q |  wait, barrier
//          |  V i starts    scores Q * K i      barrier
//          |  K i+1 starts  softmax of a tile   wait for V i, barrier   sums += weights * V i
//
// Where a block is a warp or two, V 0 starts with K 0, and V i+1 behind a barrier at the end.
//
//===----------------------------------------------------------------------===//
#include "AttentionParts.h"
#include "OnlineSoftmax.h"
#include "ThreadProduct.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace strata;
using linalg::GenericOp;

namespace {
class AttentionEmitter : OnlineSoftmax {
public:
  AttentionEmitter(OpBuilder &b, gpu::GPUFuncOp function, Attention &a, const AttentionTile &tile,
                   const PartBuffers *buffers)
      : OnlineSoftmax(b, function, a, AttentionNest(b, a, tile), tile.keys, tile.width), tile(tile), buffers(buffers),
        queries(stages, all.queriesOf(a), a.rows, all.depthLoop, shapeOf(tile.rows, tile.depth, rowLines())),
        keys(stages, all.keysOf(a), all.keyLoop, all.depthLoop, shapeOf(tile.keys, tile.depth, keyLines())),
        values(stages, all.valuesOf(a), all.widthLoop, all.keyLoop, shapeOf(tile.width, tile.keys, valueLines())),
        weights(stages, all.weights, a.rows, all.keyLoop, shapeOf(tile.rows, tile.keys, Lines::numbers)) {}

  void emit();

private:
  const AttentionTile &tile;
  const PartBuffers *buffers; ///< null where a block has all keys of its rows
  SharedTile queries, keys, values, weights;

  Value numRows, firstRow;
  Value thread;      ///< i32
  Value batch, part; ///< numbers of the block's; the latter null where keys are not divided
  KeyParts parts;
  SmallVector<Value> batchAt;
  Value queryStage, keyStage, valueStage, weightStage;

  std::optional<WarpProduct> warpScores, warpValues;
  std::optional<ThreadProduct> threadScores, threadValues;
  Value warpRow, lane;
  SmallVector<Value> rowsOfSlots; ///< in the tile (i32)

  using Lines = TileShape::Lines;
  TileShape shapeOf(int64_t numbers, int64_t depth, Lines lines) {
    return {numbers, depth, tile.threads(), tile.matrix.has_value(), tile.async, lines};
  }
  /// Without tensor cores the rows of a thread are the same for both products.
  Lines rowLines() const { return tile.matrix ? Lines::asInMemory : Lines::numbers; }
  Lines keyLines() const { return roundsHere() ? Lines::numbers : Lines::asInMemory; }
  Lines valueLines() const { return roundsHere() ? Lines::pairsOfSteps : Lines::asInMemory; }
  bool roundsHere() const { return tile.matrix && tile.matrix->element.isF32(); }
  Value narrow(Value value, Type type) {
    return type.isF32() ? value : b.create<arith::TruncFOp>(loc, type, value).getResult();
  }

  void findBlock();
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
  void keepWeights(ArrayRef<Value> p);
  void leave(State &state);
  Value isThere(size_t slot);
};
} // namespace

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

/// Tiles of keys that are hidden from all rows of the block are not read; what is left is divided.
void AttentionEmitter::findKeys() {
  Value together = product(ArrayRef(a.rows).drop_front());
  Value lastRow = index.add(firstRow, tile.rows - 1);
  lastRow = b.create<arith::MinUIOp>(loc, lastRow, b.create<arith::SubIOp>(loc, numRows, index.number(1)));
  bool areHidden = OnlineSoftmax::findKeys(index.div(firstRow, together), index.div(lastRow, together));
  if (!part)
    return;
  if (!areHidden)
    return takePart(parts.length);
  // Not less than 0, where no key is seen.
  Value seen = b.create<arith::SubIOp>(loc, b.create<arith::MaxSIOp>(loc, endOfKeys, firstKey), firstKey);
  Value length = b.create<arith::CeilDivUIOp>(loc, seen, index.mul(parts.count, tile.keys));
  takePart(index.mul(length, tile.keys));
}

/// Of the block's keys so many, behind those of the parts before.
void AttentionEmitter::takePart(Value length) {
  firstKey = index.add(firstKey, index.mul(part, length));
  endOfKeys = b.create<arith::MinSIOp>(loc, endOfKeys, index.add(firstKey, length));
}

void AttentionEmitter::findThread() {
  if (tile.matrix) {
    lane = i32.rem(thread, 32);
    warpRow = i32.mul(i32.div(thread, 32), tile.partRows);
    warpScores.emplace(b, loc, *tile.matrix, &queries, keys, tile.partRows, tile.keys);
    warpValues.emplace(b, loc, *tile.matrix, nullptr, values, tile.partRows, tile.width);
    for (auto [product, places] : {std::pair(&*warpScores, &scorePlaces), std::pair(&*warpValues, &valuePlaces)}) {
      product->prepare(lane, warpRow, i32.number(0));
      for (int64_t i = 0; i < product->numSums(); ++i) {
        auto [down, right] = product->placeOf(i);
        places->add(down / 8, right);
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
          places->add(i, product->right().placeOf(j));
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

/// Whether the row of a slot is one of the attention's; null if all are.
Value AttentionEmitter::isThere(size_t slot) {
  return isWhole(a.rows, tile.rows) ? Value() : index.less(index.add(firstRow, index.of(rowsOfSlots[slot])), numRows);
}

/// Writes what the block has of its rows, for the kernel that joins the parts.
void AttentionEmitter::leave(State &state) {
  int64_t width = all.nest.loops[all.widthLoop].size.known;
  bool wholeWidth = width == tile.width;
  Value sharers = i32.rem(thread, tile.matrix ? 4 : AttentionTile::threadsOfRow);
  Value isFirst = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, sharers, i32.number(0));
  for (size_t slot = 0; slot < rowsOfSlots.size(); ++slot) {
    OpBuilder::InsertionGuard guard(b);
    if (Value there = isThere(slot))
      b.setInsertionPointToStart(b.create<scf::IfOp>(loc, there).thenBlock());
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

void AttentionEmitter::emit() {
  OpBuilder::InsertionGuard guard(b);
  thread = i32.of(b.create<gpu::ThreadIdOp>(loc, gpu::Dimension::x));
  findBlock();
  findKeys();
  findThread();
  values.prepare(index.of(thread), index.number(0),
                 isWhole(all.widthLoop, tile.width) ? Value() : product(all.widthLoop), batchAt);
  copyFirst();

  State state = firstState();
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
    scores = finishScores(scores, begin);
    scaleSums(state, raiseMaxima(scores, state));
    SmallVector<Value> p = weigh(scores, state);
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
  joinTotals(state);
  if (part)
    leave(state);
  else
    finish(state, [&](size_t slot) { return isThere(slot); });
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
