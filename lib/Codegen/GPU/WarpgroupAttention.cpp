//===- WarpgroupAttention.cpp - attention by warpgroups -------------------===//
//
// One warpgroup copies: Q, and tiles of K and V in turn. Each of the others has 64
// rows. The next tile's scores are multiplied while the last one's weights are, and
// become weights meanwhile.
//
//   scores 0 | weights 0 |  scores i + 1            | weights 0 .. i + 1
//                        |  sums += weights i * V i |
//
//===----------------------------------------------------------------------===//
#include "WarpgroupAttention.h"
#include "OnlineSoftmax.h"
#include "SharedTile.h"
#include "TensorCores.h"
#include "WarpgroupStages.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace strata;

/// Registers of a thread that copies, and of one of one or two warpgroups that multiply: together what 256 threads
/// have, of which there are two times as many on a multiprocessor, or 384.
static constexpr int64_t copyingRegisters = 24, multiplyingRegisters[] = {232, 240};

namespace {
class WarpgroupAttentionEmitter : OnlineSoftmax {
public:
  WarpgroupAttentionEmitter(OpBuilder &b, gpu::GPUFuncOp function, Attention &a, const WarpgroupAttention &plan)
      : OnlineSoftmax(b, function, a, plan.all, plan.tileKeys(), widthOf(plan)), plan(plan),
        scores{b, loc, plan.instruction, plan.tileKeys()}, results{b, loc, plan.instruction, widthOf(plan)} {
    areApproximate = true;
  }

  void emit();

private:
  const WarpgroupAttention &plan;
  WarpgroupProduct scores, results;
  std::optional<StageRing> queries, keys, values;
  SmallVector<Value> maps;
  SmallVector<Value> origin; ///< of the block's tile: the numbers of the loops (index), others null
  Value thread, lane;
  SmallVector<Value> rowsThere; ///< of each slot; null: always

  /// Columns of an instruction.
  static int64_t widthOf(const WarpgroupAttention &plan) {
    return llvm::alignTo(plan.all.nest.loops[plan.all.widthLoop].size.known, 8);
  }
  Value sizeOf(int loop) { return stages.materialize(plan.all.nest.loops[loop].size); }
  Value areKeys() { return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, firstKey, endOfKeys); }

  void findTile();
  void makeBarriers();
  void copyTiles();
  void findThread(Value consumer);
  void computeRows(Value consumer);
  void walkKeys(Value consumer, State &state);
  Value multiplyKeys(TileDescriptor &q, Turn turn);
  Value multiplyValues(ArrayRef<Value> p, ArrayRef<Value> sums, Turn turn);
  struct Weighed {
    SmallVector<Value> weights, scales; ///< of the sums so far
  };
  Weighed weighTile(Value product, Value begin, State &state);
  SmallVector<Value> asLeft(ArrayRef<Value> weights);
};
} // namespace

/// Of one matrix the last queries come first where they see more keys than others: blocks that take longer start
/// earlier.
void WarpgroupAttentionEmitter::findTile() {
  int query = a.rows.front();
  bool growing = llvm::any_of(findKeyBounds(a), [](const KeyBound &bound) { return !bound.isLower; });
  Value number = b.create<gpu::BlockIdOp>(loc, gpu::Dimension::x);
  origin.resize(all.nest.loops.size());
  for (auto [loop, box] : llvm::zip(plan.queries.loops, plan.queries.boxes)) {
    Value tiles = b.create<arith::CeilDivUIOp>(loc, sizeOf(loop), index.number(box)), tile = index.rem(number, tiles);
    if (growing && loop == query)
      tile = b.create<arith::SubIOp>(loc, index.add(tiles, -1), tile);
    origin[loop] = index.mul(tile, box);
    number = index.div(number, tiles);
  }
  delinearize(b, loc, number, all.nest, a.batch, origin);
  numKeys = product(a.key);
  int64_t box = plan.queries.boxes[llvm::find(plan.queries.loops, query) - plan.queries.loops.begin()];
  Value first = origin[query], last = index.add(first, box - 1);
  last = b.create<arith::MinUIOp>(loc, last, b.create<arith::SubIOp>(loc, sizeOf(query), index.number(1)));
  findKeys(first, last);
}

void WarpgroupAttentionEmitter::makeBarriers() {
  Value shared = dynamicSharedMemory(b, loc, function);
  int64_t at = 0;
  auto take = [&](int64_t bytes) {
    at += bytes;
    return addressAt(b, loc, shared, at - bytes);
  };
  Value q = take(plan.queries.bytes()), k = take(plan.stages * plan.keys.bytes()),
        v = take(plan.stages * plan.values.bytes());
  queries.emplace(b, loc, q, take(StageRing::barrierBytes), plan.queries.bytes(), 1);
  keys.emplace(b, loc, k, take(plan.stages * StageRing::barrierBytes), plan.keys.bytes(), plan.stages);
  values.emplace(b, loc, v, take(plan.stages * StageRing::barrierBytes), plan.values.bytes(), plan.stages);
  strata::makeBarriers(b, loc, thread, {&*queries, &*keys, &*values}, 4 * plan.consumers, maps);
}

void WarpgroupAttentionEmitter::copyTiles() {
  b.create<NVVM::SetMaxRegisterOp>(loc, copyingRegisters, NVVM::SetMaxRegisterAction::decrease);
  Value isFirst = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, thread, i32.number(0));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(b.create<scf::IfOp>(loc, both(b, loc, isFirst, areKeys())).thenBlock());
  Turn first = queries->firstEmpty();
  auto copy = [&](StageRing &ring, Turn turn, const BulkOperand &operand, Value map, ArrayRef<Value> at) {
    Value barrier = ring.expect(turn, operand.arrivingBytes());
    copyTile(b, loc, operand, map, at, ring.at(turn.stage), barrier);
  };
  copy(*queries, first, plan.queries, maps[0], origin);
  auto loop =
      b.create<scf::ForOp>(loc, firstKey, endOfKeys, index.number(tileKeys), ValueRange{first.stage, first.parity});
  b.setInsertionPointToStart(loop.getBody());
  Turn turn{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
  SmallVector<Value> at(origin);
  at[all.keyLoop] = loop.getInductionVar();
  copy(*keys, turn, plan.keys, maps[1], at);
  copy(*values, turn, plan.values, maps[2], at);
  Turn after = keys->next(turn);
  b.create<scf::YieldOp>(loc, ValueRange{after.stage, after.parity});
}

/// Of 64 rows, a warp has 16: a lane two of them, eight from each other, and of each eight columns two neighbours.
void WarpgroupAttentionEmitter::findThread(Value consumer) {
  lane = i32.rem(thread, 32);
  for (auto [places, columns] : {std::pair(&scorePlaces, tileKeys), std::pair(&valuePlaces, tileWidth)})
    for (int64_t i = 0; i < columns / 2; ++i)
      places->add(i / 2 % 2, i / 4 * 8 + i % 2);
  scoreColumn = valueColumn = index.of(WarpProduct::columnOf(b, loc, lane));
  distances = {1, 2};
  Value warp = i32.rem(i32.div(thread, 32), 4);
  Value first = i32.add(i32.add(i32.mul(consumer, 64), i32.mul(warp, 16)), WarpProduct::rowOf(b, loc, lane));
  const BulkOperand &q = plan.queries;
  for (int64_t slot = 0; slot < 2; ++slot) {
    Value number = i32.add(first, slot * 8);
    // There may be room for more rows than a tile has.
    Value there = q.tile() == q.numbers ? Value() : i32.less(number, i32.number(q.tile()));
    SmallVector<Value> at(origin);
    for (auto [loop, box] : llvm::zip(q.loops, q.boxes)) {
      bool isLast = loop == q.loops.back();
      at[loop] = index.add(at[loop], index.of(isLast ? number : i32.rem(number, box)));
      if (!isLast)
        number = i32.div(number, box);
      // What is beyond the last row repeats it, and is not stored.
      if (!isWhole(loop, box))
        there = both(b, loc, there, index.less(at[loop], sizeOf(loop)));
      if (!isWhole(loop, box) || (isLast && q.tile() != q.numbers))
        at[loop] = b.create<arith::MinUIOp>(loc, at[loop], b.create<arith::SubIOp>(loc, sizeOf(loop), index.number(1)));
    }
    rowsAt.push_back(std::move(at));
    rowsThere.push_back(there);
  }
}

/// Begins when the keys of a stage have arrived; a group of products.
Value WarpgroupAttentionEmitter::multiplyKeys(TileDescriptor &q, Turn turn) {
  keys->waitForCopies(turn);
  TileDescriptor k(b, loc, plan.keys, keys->at(turn.stage));
  Value sums;
  b.create<NVVM::WgmmaFenceAlignedOp>(loc);
  for (int64_t step = 0; step < plan.keys.depth; step += plan.instruction.steps())
    sums = scores.multiply(sums, q, 0, k, step);
  b.create<NVVM::WgmmaGroupSyncAlignedOp>(loc);
  return sums;
}

Value WarpgroupAttentionEmitter::multiplyValues(ArrayRef<Value> p, ArrayRef<Value> sums, Turn turn) {
  values->waitForCopies(turn);
  TileDescriptor v(b, loc, plan.values, values->at(turn.stage));
  Value all = results.pack(sums);
  b.create<NVVM::WgmmaFenceAlignedOp>(loc);
  for (int64_t i = 0; i < tileKeys / plan.instruction.steps(); ++i)
    all = results.multiply(all, p.slice(i * 4, 4), v, i * plan.instruction.steps());
  b.create<NVVM::WgmmaGroupSyncAlignedOp>(loc);
  return all;
}

WarpgroupAttentionEmitter::Weighed WarpgroupAttentionEmitter::weighTile(Value product, Value begin, State &state) {
  SmallVector<Value> x = finishScores(scores.unpack(product), begin);
  Weighed weighed;
  weighed.scales = raiseMaxima(x, state);
  weighed.weights = weigh(x, state);
  return weighed;
}

/// What a lane has of the scores is what it needs as the left side, two in a register.
SmallVector<Value> WarpgroupAttentionEmitter::asLeft(ArrayRef<Value> weights) {
  Type element = all.keysOf(a).element;
  SmallVector<Value> registers;
  for (int64_t i = 0; i < tileKeys / plan.instruction.steps(); ++i)
    for (Value pair : WarpProduct::pairsAsLeft(b, loc, element, weights, i))
      registers.push_back(b.create<LLVM::BitcastOp>(loc, i32.type, pair));
  return registers;
}

void WarpgroupAttentionEmitter::walkKeys(Value consumer, State &state) {
  Turn turn = queries->firstFull();
  queries->waitForCopies(turn);
  Value rows = addressAt(b, loc, queries->at(turn.stage), i32.mul(consumer, 64 * plan.queries.lineBytes));
  TileDescriptor q(b, loc, plan.queries, rows);
  auto wait = [&](int64_t groups) { b.create<NVVM::WgmmaWaitGroupSyncOp>(loc, groups); };

  Value product = multiplyKeys(q, turn);
  wait(0);
  keys->release(lane, turn.stage);
  SmallVector<Value> p = asLeft(weighTile(product, firstKey, state).weights);

  SmallVector<Value> carried{turn.stage, turn.parity};
  llvm::append_range(carried, p);
  llvm::append_range(carried, state.flat());
  auto take = [&](ValueRange list) {
    turn = {list[0], list[1]};
    p.assign(list.begin() + 2, list.begin() + 2 + p.size());
    state.assign(list.drop_front(2 + p.size()));
  };
  auto loop = b.create<scf::ForOp>(loc, index.add(firstKey, tileKeys), endOfKeys, index.number(tileKeys), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    take(loop.getRegionIterArgs());
    Turn next = keys->next(turn);
    product = multiplyKeys(q, next);
    Value sums = multiplyValues(p, state.sums, turn);
    wait(1);
    keys->release(lane, next.stage);
    auto [weights, scales] = weighTile(product, loop.getInductionVar(), state);
    wait(0);
    values->release(lane, turn.stage);
    state.sums = results.unpack(sums);
    scaleSums(state, scales);
    carried = {next.stage, next.parity};
    llvm::append_range(carried, asLeft(weights));
    llvm::append_range(carried, state.flat());
    b.create<scf::YieldOp>(loc, carried);
  }
  take(loop.getResults());
  Value sums = multiplyValues(p, state.sums, turn);
  wait(0);
  state.sums = results.unpack(sums);
}

void WarpgroupAttentionEmitter::computeRows(Value consumer) {
  b.create<NVVM::SetMaxRegisterOp>(loc, multiplyingRegisters[plan.consumers - 1], NVVM::SetMaxRegisterAction::increase);
  findThread(consumer);
  State state = firstState();
  SmallVector<Type> types(state.flat().size(), b.getF32Type());
  auto branch = b.create<scf::IfOp>(loc, types, areKeys(), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    b.create<scf::YieldOp>(loc, state.flat());
    b.setInsertionPointToStart(branch.thenBlock());
    walkKeys(consumer, state);
    b.create<scf::YieldOp>(loc, state.flat());
  }
  state.assign(branch.getResults());
  joinTotals(state);
  finish(state, [&](size_t slot) { return rowsThere[slot]; });
}

void WarpgroupAttentionEmitter::emit() {
  OpBuilder::InsertionGuard guard(b);
  maps = addTensorMaps(function, 3);
  // So many blocks share a multiprocessor's registers, which warpgroups then give each other.
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(plan.together));
  thread = i32.of(b.create<gpu::ThreadIdOp>(loc, gpu::Dimension::x));
  findTile();
  makeBarriers();
  divideWork(b, loc, thread, [&] { copyTiles(); }, [&](Value consumer) { computeRows(consumer); });
}

void strata::emitWarpgroupAttention(OpBuilder &b, gpu::GPUFuncOp function, Attention &a,
                                    const WarpgroupAttention &plan) {
  WarpgroupAttentionEmitter(b, function, a, plan).emit();
}
