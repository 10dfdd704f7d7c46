//===- WarpgroupContraction.cpp - code of products by warpgroups ----------===//
//
// A stage holds steps of both operands. A warp multiplies the next stage before it
// waits for the last one.
//
//===----------------------------------------------------------------------===//
#include "WarpgroupContraction.h"
#include "SharedTile.h"
#include "StageEmitter.h"
#include "WarpgroupStages.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace strata;

/// Registers of a thread that copies, and of one that multiplies: together what 384 threads have.
static constexpr int64_t copyingRegisters = 40, multiplyingRegisters = 232;

namespace {
class WarpgroupEmitter {
public:
  WarpgroupEmitter(OpBuilder &b, gpu::GPUFuncOp function, WarpgroupPlan &plan)
      : b(b), loc(function.getLoc()), function(function), plan(plan), stages{b, loc, plan.nest},
        index{b, loc, b.getIndexType()}, i32{b, loc, b.getI32Type()}, combiner(*matchCombiner(plan.nest.reduce->op)),
        product{b, loc, plan.instruction, plan.columns()} {}

  void emit();

private:
  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp function;
  WarpgroupPlan &plan;
  StageEmitter stages;
  Integers index, i32;
  Combiner combiner;
  WarpgroupProduct product;
  std::optional<StageRing> ring;
  SmallVector<Value> maps;
  Value thread, steps, tiles;
  SmallVector<Value> rowTiles, columnTiles; ///< along each loop of a side

  Value sizeOf(int loop) { return i32.of(stages.materialize(plan.nest.loops[loop].size)); }
  Value equal(Value x, Value y) { return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x, y); }
  Value divideUp(Value value, int64_t by) { return i32.div(i32.add(value, by - 1), by); }

  void makeBarriers();
  void countTiles();

  /// Where a tile begins: the numbers of the loops of both sides and of the batch (index), others null.
  SmallVector<Value> originOf(Value tile);
  /// For each tile of the block; `body` is given what it carries and gives the next.
  void forEachTile(ValueRange carried, function_ref<SmallVector<Value>(Value tile, ValueRange carried)> body);

  void copyTiles();
  void multiplyTiles(Value consumer);
  SmallVector<Value> multiplyTile(Turn &turn, Value consumer, Value lane);
  void multiplyStage(Value stage, Value consumer, MutableArrayRef<Value> sums);

  void finishTile(ArrayRef<Value> origin, Value consumer, Value warp, Value lane, ArrayRef<Value> sums);
  void finishPair(ArrayRef<Value> rowAt, Value column, Value x, Value y);
  SmallVector<Value> results(ArrayRef<Value> at, Value sum);
  /// Adds to where the tile begins where its row `number` is; whether there is one (null: always).
  Value placeOf(const BulkOperand &operand, Value number, MutableArrayRef<Value> at);
};
} // namespace

void WarpgroupEmitter::makeBarriers() {
  Value shared = dynamicSharedMemory(b, loc, function);
  ring.emplace(b, loc, shared, addressAt(b, loc, shared, plan.stages * plan.stageBytes()), plan.stageBytes(),
               plan.stages);
  strata::makeBarriers(b, loc, thread, &*ring, 4 * plan.consumers, maps);
}

void WarpgroupEmitter::countTiles() {
  auto count = [&](const BulkOperand &operand, SmallVector<Value> &along) {
    Value all = i32.number(1);
    for (auto [loop, box] : llvm::zip(operand.loops, operand.boxes)) {
      along.push_back(divideUp(sizeOf(loop), box));
      all = i32.mul(all, along.back());
    }
    return all;
  };
  tiles = i32.mul(count(plan.left, rowTiles), count(plan.right, columnTiles));
  for (int loop : plan.batch)
    tiles = i32.mul(tiles, sizeOf(loop));
  steps = divideUp(sizeOf(plan.depthLoop), plan.depth);
  for (int loop : plan.outerDepth)
    steps = i32.mul(steps, sizeOf(loop));
}

/// Tiles that are computed at the same time shall share what they read: of 16 tiles of rows, one column of tiles after
/// the other.
SmallVector<Value> WarpgroupEmitter::originOf(Value tile) {
  constexpr int64_t together = 16;
  auto product = [&](ArrayRef<Value> numbers) {
    Value all = numbers[0];
    for (Value number : numbers.drop_front())
      all = i32.mul(all, number);
    return all;
  };
  Value rows = product(rowTiles), columns = product(columnTiles), perBatch = i32.mul(rows, columns);
  Value batch = b.create<arith::DivUIOp>(loc, tile, perBatch), inBatch = i32.rem(tile, perBatch);
  Value perGroup = i32.mul(columns, together), group = i32.div(inBatch, perGroup), inGroup = i32.rem(inBatch, perGroup);
  Value firstRow = i32.mul(group, together);
  Value groupRows = b.create<arith::MinUIOp>(loc, b.create<arith::SubIOp>(loc, rows, firstRow), i32.number(together));
  Value row = i32.add(firstRow, i32.rem(inGroup, groupRows)), column = i32.div(inGroup, groupRows);

  SmallVector<Value> at(plan.nest.loops.size());
  auto place = [&](const BulkOperand &operand, Value number, ArrayRef<Value> along) {
    for (auto [i, loop] : llvm::enumerate(operand.loops)) {
      bool last = i + 1 == operand.loops.size();
      at[loop] = index.of(i32.mul(last ? number : i32.rem(number, along[i]), operand.boxes[i]));
      if (!last)
        number = i32.div(number, along[i]);
    }
  };
  place(plan.left, row, rowTiles);
  place(plan.right, column, columnTiles);
  for (auto [i, loop] : llvm::enumerate(llvm::reverse(plan.batch))) {
    bool last = i + 1 == plan.batch.size();
    at[loop] = index.of(last ? batch : i32.rem(batch, sizeOf(loop)));
    if (!last)
      batch = i32.div(batch, sizeOf(loop));
  }
  return at;
}

void WarpgroupEmitter::forEachTile(ValueRange carried, function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  Value first = i32.of(b.create<gpu::BlockIdOp>(loc, gpu::Dimension::x));
  Value blocks = i32.of(b.create<gpu::GridDimOp>(loc, gpu::Dimension::x));
  auto loop = b.create<scf::ForOp>(loc, first, tiles, blocks, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  b.create<scf::YieldOp>(loc, body(loop.getInductionVar(), loop.getRegionIterArgs()));
}

void WarpgroupEmitter::copyTiles() {
  if (plan.consumers > 1)
    b.create<NVVM::SetMaxRegisterOp>(loc, copyingRegisters, NVVM::SetMaxRegisterAction::decrease);
  auto one = b.create<scf::IfOp>(loc, equal(thread, i32.number(0)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(one.thenBlock());
  Turn first = ring->firstEmpty();
  forEachTile(ValueRange{first.stage, first.parity}, [&](Value tile, ValueRange carried) {
    SmallVector<Value> at = originOf(tile);
    Value chunks = divideUp(sizeOf(plan.depthLoop), plan.depth);
    auto loop = b.create<scf::ForOp>(loc, i32.number(0), steps, i32.number(1), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Turn turn{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
    Value barrier = ring->expect(turn, plan.stageBytes()), to = ring->at(turn.stage);
    SmallVector<Value> step(at);
    Value number = loop.getInductionVar();
    if (plan.outerDepth.empty()) {
      step[plan.depthLoop] = i32.mul(number, plan.depth);
    } else {
      step[plan.depthLoop] = i32.mul(i32.rem(number, chunks), plan.depth);
      number = i32.div(number, chunks);
      for (auto [i, outer] : llvm::enumerate(llvm::reverse(plan.outerDepth))) {
        bool last = i + 1 == plan.outerDepth.size();
        step[outer] = last ? number : i32.rem(number, sizeOf(outer));
        if (!last)
          number = i32.div(number, sizeOf(outer));
      }
    }
    copyTile(b, loc, plan.left, maps[0], step, to, barrier);
    copyTile(b, loc, plan.right, maps[1], step, addressAt(b, loc, to, plan.left.bytes()), barrier);
    Turn after = ring->next(turn);
    b.create<scf::YieldOp>(loc, ValueRange{after.stage, after.parity});
    b.setInsertionPointAfter(loop);
    return SmallVector<Value>(loop.getResults());
  });
}

void WarpgroupEmitter::multiplyStage(Value stage, Value consumer, MutableArrayRef<Value> sums) {
  Value left = ring->at(stage), right = addressAt(b, loc, left, plan.left.bytes());
  left = addressAt(b, loc, left, i32.mul(consumer, plan.left.bytes() / plan.consumers));
  TileDescriptor x(b, loc, plan.left, left), y(b, loc, plan.right, right);
  b.create<NVVM::WgmmaFenceAlignedOp>(loc);
  for (int64_t step = 0; step < plan.depth; step += plan.instruction.steps())
    for (auto [group, sum] : llvm::enumerate(sums))
      sum = product.multiply(sum, x, group, y, step);
  b.create<NVVM::WgmmaGroupSyncAlignedOp>(loc);
}

/// The sums of a tile: of each 64 rows of the warpgroup a structure.
SmallVector<Value> WarpgroupEmitter::multiplyTile(Turn &turn, Value consumer, Value lane) {
  int64_t groups = plan.rows() / plan.consumers / 64;
  // A stage is free when the products behind it have begun: `last` is to be freed.
  SmallVector<Value> carried{turn.stage, turn.parity, i32.number(0)};
  carried.append(groups, product.noSums());
  auto loop = b.create<scf::ForOp>(loc, i32.number(0), steps, i32.number(1), carried);
  auto isPositive = [&](Value number) { return i32.less(i32.number(0), number); };
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Turn now{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
    SmallVector<Value> sums(loop.getRegionIterArgs().drop_front(3));
    ring->waitForCopies(now);
    multiplyStage(now.stage, consumer, sums);
    b.create<NVVM::WgmmaWaitGroupSyncOp>(loc, 1);
    ring->release(lane, loop.getRegionIterArg(2), isPositive(loop.getInductionVar()));
    Turn after = ring->next(now);
    SmallVector<Value> yielded{after.stage, after.parity, now.stage};
    llvm::append_range(yielded, sums);
    b.create<scf::YieldOp>(loc, yielded);
  }
  b.create<NVVM::WgmmaWaitGroupSyncOp>(loc, 0);
  ring->release(lane, loop.getResult(2), isPositive(steps));
  turn = {loop.getResult(0), loop.getResult(1)};
  SmallVector<Value> sums;
  for (Value structure : loop.getResults().drop_front(3))
    llvm::append_range(sums, product.unpack(structure));
  return sums;
}

void WarpgroupEmitter::multiplyTiles(Value consumer) {
  if (plan.consumers > 1)
    b.create<NVVM::SetMaxRegisterOp>(loc, multiplyingRegisters, NVVM::SetMaxRegisterAction::increase);
  Value lane = i32.rem(thread, 32), warp = i32.rem(i32.div(thread, 32), 4);
  Turn first = ring->firstFull();
  forEachTile(ValueRange{first.stage, first.parity}, [&](Value tile, ValueRange carried) {
    Turn turn{carried[0], carried[1]};
    SmallVector<Value> sums = multiplyTile(turn, consumer, lane);
    finishTile(originOf(tile), consumer, warp, lane, sums);
    return SmallVector<Value>{turn.stage, turn.parity};
  });
}

Value WarpgroupEmitter::placeOf(const BulkOperand &operand, Value number, MutableArrayRef<Value> at) {
  Value inside;
  for (auto [i, loop] : llvm::enumerate(operand.loops)) {
    int64_t box = operand.boxes[i];
    bool last = i + 1 == operand.loops.size();
    at[loop] = index.add(at[loop], index.of(last ? number : i32.rem(number, box)));
    if (!last)
      number = i32.div(number, box);
    const Extent &size = plan.nest.loops[loop].size;
    if (!size.isKnown() || size.known % box != 0)
      inside = both(b, loc, inside, index.less(at[loop], stages.materialize(size)));
  }
  return inside;
}

SmallVector<Value> WarpgroupEmitter::results(ArrayRef<Value> at, Value sum) {
  LoopNest &nest = plan.nest;
  Value initial = nest.init ? stages.evaluate(*nest.init, at, {}, {})[0] : stages.load(*nest.reduce, 2, at);
  Value value = combiner.joinScalars(b, loc, initial, sum);
  if (!nest.finish)
    return {value};
  return stages.evaluate(nest.last(), at, value, SmallVector<Value>(nest.last().outputs.size()));
}

/// Two neighbouring columns: all is read before anything is written, so that they travel together where both are there.
void WarpgroupEmitter::finishPair(ArrayRef<Value> rowAt, Value column, Value x, Value y) {
  const Extent &size = plan.nest.loops[plan.right.loops[0]].size;
  bool areTogether = plan.right.boxes[0] % 2 == 0 && size.isKnown() && size.known % 2 == 0;
  auto finish = [&](ArrayRef<Value> sums, Value column) {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<SmallVector<Value>> places, values;
    for (size_t i = 0; i < sums.size(); ++i) {
      SmallVector<Value> at(rowAt);
      Value inside = placeOf(plan.right, i32.add(column, i), at);
      if (i == 0 && inside)
        b.setInsertionPointToStart(b.create<scf::IfOp>(loc, inside).thenBlock());
      places.push_back(std::move(at));
    }
    for (auto [at, sum] : llvm::zip(places, sums))
      values.push_back(results(at, sum));
    for (auto [at, results] : llvm::zip(places, values))
      for (auto [i, value] : llvm::enumerate(results))
        stages.store(plan.nest.last(), i, value, at);
  };
  if (areTogether)
    return finish({x, y}, column);
  finish(x, column);
  finish(y, i32.add(column, 1));
}

/// Of each 64 rows, a warp has 16: a lane two of them, eight from each other, and of each eight columns two neighbours.
void WarpgroupEmitter::finishTile(ArrayRef<Value> origin, Value consumer, Value warp, Value lane,
                                  ArrayRef<Value> sums) {
  int64_t rows = plan.rows() / plan.consumers, perGroup = plan.columns() / 2;
  Value row = i32.add(i32.add(i32.mul(consumer, rows), i32.mul(warp, 16)), i32.div(lane, 4));
  Value column = i32.mul(i32.rem(lane, 4), 2);
  for (int64_t group = 0; group < rows / 64; ++group)
    for (int64_t half = 0; half < 2; ++half) {
      OpBuilder::InsertionGuard guard(b);
      SmallVector<Value> at(origin);
      if (Value inside = placeOf(plan.left, i32.add(row, group * 64 + half * 8), at))
        b.setInsertionPointToStart(b.create<scf::IfOp>(loc, inside).thenBlock());
      for (int64_t i = 0; i < plan.columns() / 8; ++i) {
        const Value *pair = &sums[group * perGroup + i * 4 + half * 2];
        finishPair(at, i32.add(column, i * 8), pair[0], pair[1]);
      }
    }
}

void WarpgroupEmitter::emit() {
  OpBuilder::InsertionGuard guard(b);
  maps = addTensorMaps(function, 2);
  // So many blocks share a multiprocessor's registers, which warpgroups then give each other.
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(plan.together));

  thread = i32.of(b.create<gpu::ThreadIdOp>(loc, gpu::Dimension::x));
  countTiles();
  makeBarriers();
  divideWork(b, loc, thread, [&] { copyTiles(); }, [&](Value consumer) { multiplyTiles(consumer); });
}

void strata::emitWarpgroups(OpBuilder &b, gpu::GPUFuncOp function, WarpgroupPlan &plan) {
  WarpgroupEmitter(b, function, plan).emit();
}
