//===- TiledContraction.cpp - matrix products and convolutions ------------===//
//
// What the loops of a contraction walk says where an element lies: rows and
// columns of the tile are numbers of several loops, as are the steps of the
// reduction. So a convolution is a matrix product whose left side is gathered
// while it is copied to shared memory.
//
//===----------------------------------------------------------------------===//
#include "TiledContraction.h"
#include "../LinalgQueries.h"
#include "Integers.h"
#include "ThreadProduct.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace strata;

namespace {
class ContractionEmitter {
public:
  ContractionEmitter(OpBuilder &b, gpu::GPUFuncOp function, LoopNest &nest, const ContractionTile &tile)
      : b(b), loc(function.getLoc()), function(function), nest(nest), tile(tile), stages{b, loc, nest},
        index{b, loc, b.getIndexType()}, i32{b, loc, b.getI32Type()}, loops(contractionLoops(nest)),
        combiner(*matchCombiner(nest.reduce->op)),
        left(stages, nest.reduce->inputs[0], loops.rows, loops.depth, tile.shapeOf(tile.rows)),
        right(stages, nest.reduce->inputs[1], loops.columns, loops.depth, tile.shapeOf(tile.columns)) {}

  void emit();

private:
  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp function;
  LoopNest &nest;
  const ContractionTile &tile;
  StageEmitter stages;
  Integers index, i32;
  ContractionLoops loops;
  Combiner combiner;
  SharedTile left, right;
  Value thread, rows, columns, depth, firstRow, firstColumn;
  SmallVector<Value> batchAt;

  Value product(ArrayRef<int> which) {
    Value result = index.number(1);
    for (int loop : which)
      result = index.mul(result, stages.materialize(nest.loops[loop].size));
    return result;
  }
  /// Whether all tiles along these loops are full.
  bool isWhole(ArrayRef<int> which, int64_t size) {
    return llvm::all_of(which, [&](int loop) { return nest.loops[loop].size.isKnown(); }) &&
           sizeOfLoops(nest, which, 1) % size == 0;
  }

  /// Runs `step` for the sums of each tile of the reduction, while the copies of the next ones are under way. It is
  /// given the addresses of both sides and the first step.
  SmallVector<Value> pipeline(SmallVector<Value> sums,
                              function_ref<void(Value left, Value right, Value begin, MutableArrayRef<Value>)> step);
  void copy(Value begin, Value stage);
  Value sharedMemory();

  /// The body for one pair of elements.
  Value accumulate(Value left, Value right, Value accumulator) {
    return addProduct(b, nest.reduce->op, left, right, accumulator);
  }

  Value initial(ArrayRef<Value> at) {
    return nest.init ? stages.evaluate(*nest.init, at, {}, {})[0] : stages.load(*nest.reduce, 2, at);
  }

  SmallVector<Value> results(ArrayRef<Value> at, Value sum) {
    Value value = combiner.joinScalars(b, loc, initial(at), sum);
    if (!nest.finish)
      return {value};
    return stages.evaluate(nest.last(), at, value, SmallVector<Value>(nest.last().outputs.size()));
  }

  /// Stores the results of consecutive columns: all is read before anything is written, so that neighbours travel
  /// together.
  void finish(Value row, Value column, ArrayRef<Value> sums);
};
} // namespace

Value ContractionEmitter::sharedMemory() {
  if (tile.dynamicBytes())
    return dynamicSharedMemory(b, loc, function);
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({tile.sharedBytes()}, b.getI8Type(), MemRefLayoutAttrInterface(), space);
  Value buffer = function.addWorkgroupAttribution(type, loc);
  function.setWorkgroupAttributionAttr(function.getNumWorkgroupAttributions() - 1,
                                       LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(128));
  return pointerTo(b, loc, buffer, NVVM::kSharedMemorySpace);
}

void ContractionEmitter::copy(Value begin, Value stage) {
  Value end = isWhole(loops.depth, tile.depth) ? Value() : depth;
  left.copy(begin, end, stage);
  right.copy(begin, end, addressAt(b, loc, stage, left.bytes()));
}

SmallVector<Value> ContractionEmitter::pipeline(SmallVector<Value> sums,
                                                function_ref<void(Value, Value, Value, MutableArrayRef<Value>)> step) {
  int64_t stageBytes = left.bytes() + right.bytes(), allBytes = tile.sharedBytes();
  Value shared = sharedMemory();
  // A group of copies for each stage, though it may be empty: groups are counted.
  auto start = [&](Value begin, Value stage) {
    auto guarded = b.create<scf::IfOp>(loc, index.less(begin, depth));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(guarded.thenBlock());
    copy(begin, addressAt(b, loc, shared, stage));
    b.setInsertionPointAfter(guarded);
    if (tile.async)
      b.create<NVVM::CpAsyncCommitGroupOp>(loc);
  };
  for (int64_t stage = 0; stage + 1 < tile.stages; ++stage)
    start(index.number(stage * tile.depth), i32.number(stage * stageBytes));
  SmallVector<Value> carried{i32.number(0), i32.number((tile.stages - 1) * stageBytes)};
  llvm::append_range(carried, sums);
  auto loop = b.create<scf::ForOp>(loc, index.number(0), depth, index.number(tile.depth), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value begin = loop.getInductionVar(), read = loop.getRegionIterArg(0), write = loop.getRegionIterArg(1);
    if (tile.async)
      b.create<NVVM::CpAsyncWaitGroupOp>(loc, tile.stages - 2);
    // Everybody's copies have arrived, and everybody has read the stage that is written next.
    b.create<gpu::BarrierOp>(loc);
    start(index.add(begin, (tile.stages - 1) * tile.depth), write);
    Value stage = addressAt(b, loc, shared, read);
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = loop.getRegionIterArg(2 + i);
    step(stage, addressAt(b, loc, stage, left.bytes()), begin, sums);
    auto advance = [&](Value stage) -> Value {
      Value next = i32.add(stage, stageBytes);
      Value wraps = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, next, i32.number(allBytes));
      return b.create<arith::SelectOp>(loc, wraps, i32.number(0), next);
    };
    SmallVector<Value> next{advance(read), advance(write)};
    llvm::append_range(next, sums);
    b.create<scf::YieldOp>(loc, next);
  }
  if (tile.async)
    b.create<NVVM::CpAsyncWaitGroupOp>(loc, 0);
  return SmallVector<Value>(loop.getResults().drop_front(2));
}

void ContractionEmitter::finish(Value row, Value column, ArrayRef<Value> sums) {
  bool wholeRows = isWhole(loops.rows, tile.rows), wholeRuns = isWhole(loops.columns, sums.size());
  int64_t together = wholeRuns ? sums.size() : 1;
  for (int64_t first = 0; first < static_cast<int64_t>(sums.size()); first += together) {
    OpBuilder::InsertionGuard guard(b);
    Value inside = both(b, loc, wholeRows ? Value() : index.less(row, rows),
                        isWhole(loops.columns, tile.columns) ? Value() : index.less(index.add(column, first), columns));
    if (inside)
      b.setInsertionPointToStart(b.create<scf::IfOp>(loc, inside).thenBlock());
    SmallVector<SmallVector<Value>> places, values;
    for (int64_t i = first; i < first + together; ++i) {
      SmallVector<Value> at = batchAt;
      delinearize(b, loc, row, nest, loops.rows, at);
      delinearize(b, loc, index.add(column, i), nest, loops.columns, at);
      values.push_back(results(at, sums[i]));
      places.push_back(std::move(at));
    }
    for (auto [at, results] : llvm::zip(places, values))
      for (auto [i, value] : llvm::enumerate(results))
        stages.store(nest.last(), i, value, at);
  }
}

void ContractionEmitter::emit() {
  OpBuilder::InsertionGuard guard(b);
  thread = b.create<gpu::ThreadIdOp>(loc, gpu::Dimension::x);
  Value block = b.create<gpu::BlockIdOp>(loc, gpu::Dimension::x);
  rows = product(loops.rows);
  columns = product(loops.columns);
  depth = product(loops.depth);
  Value columnBlocks = b.create<arith::CeilDivUIOp>(loc, columns, index.number(tile.columns));
  Value rowBlocks = b.create<arith::CeilDivUIOp>(loc, rows, index.number(tile.rows));
  firstColumn = index.mul(index.rem(block, columnBlocks), tile.columns);
  Value rest = index.div(block, columnBlocks);
  firstRow = index.mul(index.rem(rest, rowBlocks), tile.rows);
  batchAt.resize(nest.loops.size());
  delinearize(b, loc, index.div(rest, rowBlocks), nest, loops.batch, batchAt);
  left.prepare(thread, firstRow, isWhole(loops.rows, tile.rows) ? Value() : rows, batchAt);
  right.prepare(thread, firstColumn, isWhole(loops.columns, tile.columns) ? Value() : columns, batchAt);

  Value neutral = b.create<arith::ConstantOp>(loc, combiner.neutral);
  if (!tile.matrix) {
    ThreadProduct part(b, loc, {left, nest.reduce->inputs[0].element, tile.partRows, tile.rows / tile.partRows},
                       {right, nest.reduce->inputs[1].element, tile.partColumns, tile.columns / tile.partColumns});
    part.prepare(i32.of(thread));
    SmallVector<Value> sums(tile.partRows * tile.partColumns, neutral);
    // Beyond the last step both sides are zero: not everything adds nothing then.
    bool guarded = !isWhole(loops.depth, tile.depth) && !matchProductSum(nest.reduce->op);
    sums = pipeline(sums, [&](Value left, Value right, Value begin, MutableArrayRef<Value> sums) {
      part.accumulate(left, right, tile.depth, sums, [&](Value step, Value x, Value y, Value sum) -> Value {
        Value more = accumulate(x, y, sum);
        if (!guarded)
          return more;
        return b.create<arith::SelectOp>(loc, index.less(index.add(begin, step), depth), more, sum);
      });
    });
    const ThreadProduct::Side &down = part.left(), &across = part.right();
    Value row = index.add(firstRow, index.of(down.first(b, loc)));
    Value column = index.add(firstColumn, index.of(across.first(b, loc)));
    for (int64_t i = 0; i < tile.partRows; ++i)
      for (int64_t j = 0; j < tile.partColumns; j += across.run())
        finish(index.add(row, down.placeOf(i)), index.add(column, across.placeOf(j)),
               ArrayRef(sums).slice(i * tile.partColumns + j, across.run()));
    return;
  }
  Value lane = i32.rem(i32.of(thread), 32), warp = i32.div(i32.of(thread), 32);
  int64_t across = tile.columns / tile.partColumns;
  Value warpRow = i32.mul(i32.div(warp, across), tile.partRows),
        warpColumn = i32.mul(i32.rem(warp, across), tile.partColumns);
  WarpProduct part(b, loc, *tile.matrix, &left, right, tile.partRows, tile.partColumns);
  part.prepare(lane, warpRow, warpColumn);
  SmallVector<Value> sums(part.numSums(), neutral);
  sums = pipeline(
      sums, [&](Value left, Value right, Value, MutableArrayRef<Value> sums) { part.accumulate(left, right, sums); });
  Value row = index.add(firstRow, index.of(i32.add(warpRow, WarpProduct::rowOf(b, loc, lane))));
  Value column = index.add(firstColumn, index.of(i32.add(warpColumn, WarpProduct::columnOf(b, loc, lane))));
  for (int64_t i = 0; i < part.numSums(); i += 2) {
    auto [down, right] = part.placeOf(i);
    finish(index.add(row, down), index.add(column, right), ArrayRef(sums).slice(i, 2));
  }
}

void strata::emitContraction(OpBuilder &b, gpu::GPUFuncOp function, LoopNest &nest, const ContractionTile &tile) {
  StageEmitter::allowFusedMultiplyAdd(nest.reduce->op);
  ContractionEmitter(b, function, nest, tile).emit();
}
