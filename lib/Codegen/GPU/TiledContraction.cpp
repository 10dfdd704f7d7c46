//===- TiledContraction.cpp - matrix products and convolutions ------------===//
//
// What the loops of a contraction walk says where an element lies: rows and
// columns of the tile are numbers of several loops, as are the steps of the
// reduction. So a convolution is a matrix product whose left side is gathered
// while it is copied to shared memory.
//
//===----------------------------------------------------------------------===//
#include "TiledContraction.h"
#include "StageEmitter.h"
#include "ThreadNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata;

static ContractionLoops loopsOf(const LoopNest &nest) {
  ContractionLoops loops;
  const Access &left = nest.reduce->inputs[0], &right = nest.reduce->inputs[1];
  for (auto [i, loop] : llvm::enumerate(nest.loops)) {
    bool inLeft = !left.strides[i].is(0), inRight = !right.strides[i].is(0);
    SmallVector<int> &list = loop.reduction      ? loops.depth
                             : inLeft == inRight ? loops.batch
                             : inLeft            ? loops.rows
                                                 : loops.columns;
    list.push_back(i);
  }
  return loops;
}

static int64_t knownProduct(const LoopNest &nest, ArrayRef<int> loops, int64_t ifUnknown) {
  int64_t product = 1;
  for (int loop : loops)
    product = llvm::SaturatingMultiply<uint64_t>(product, nest.loops[loop].size.isKnown() ? nest.loops[loop].size.known
                                                                                          : ifUnknown);
  return product;
}

std::optional<ContractionTile> strata::chooseTile(LoopNest &nest) {
  if (!nest.reduce || nest.reduce->inputs.size() != 2)
    return std::nullopt;
  linalg::GenericOp op = nest.reduce->op;
  std::optional<Combiner> combiner = matchCombiner(op);
  if (!combiner || !isa<arith::AddFOp, arith::AddIOp>(combiner->op) || op.hasIndexSemantics())
    return std::nullopt;
  for (Access &access : nest.reduce->inputs)
    if (!access.base || access.blockedLoop >= 0 || access.element.isInteger(1))
      return std::nullopt;
  for (Operation &inner : *op.getBody())
    if (inner.getNumRegions() || isa<memref::LoadOp>(inner))
      return std::nullopt;
  ContractionLoops loops = loopsOf(nest);
  // Whether it is a product at all: a sum over one input reads nothing twice.
  int64_t rows = knownProduct(nest, loops.rows, 128), columns = knownProduct(nest, loops.columns, 128);
  if (rows < 16 || columns < 16 || knownProduct(nest, loops.depth, 128) < 8)
    return std::nullopt;
  ContractionTile tile;
  bool wide = combiner->neutral.getType().getIntOrFloatBitWidth() <= 32 && rows >= 1024 && columns >= 1024;
  if (wide)
    tile = {128, 128, 8, 8, 8};
  return tile;
}

namespace {
class ContractionEmitter {
public:
  ContractionEmitter(OpBuilder &b, gpu::GPUFuncOp function, LoopNest &nest, const ContractionTile &tile)
      : b(b), loc(function.getLoc()), function(function), nest(nest), tile(tile), stages{b, loc, nest},
        loops(loopsOf(nest)), combiner(*matchCombiner(nest.reduce->op)) {}

  void emit();

private:
  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp function;
  LoopNest &nest;
  const ContractionTile &tile;
  StageEmitter stages;
  ContractionLoops loops;
  Combiner combiner;
  Value thread, rows, columns, depth;
  SmallVector<Value> batchAt;

  Value index(int64_t number) { return stages.index(number); }
  Value add(Value x, Value y) { return b.create<arith::AddIOp>(loc, x, y); }
  Value mul(Value x, int64_t y) { return b.create<arith::MulIOp>(loc, x, index(y)); }
  Value div(Value x, Value y) { return b.create<arith::DivUIOp>(loc, x, y); }
  Value rem(Value x, Value y) { return b.create<arith::RemUIOp>(loc, x, y); }
  Value less(Value x, Value y) { return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, x, y); }

  Value product(ArrayRef<int> which) {
    Value result = index(1);
    for (int loop : which)
      result = b.create<arith::MulIOp>(loc, result, stages.materialize(nest.loops[loop].size));
    return result;
  }

  /// One input's share of a block: elements [step][row or column] in shared
  /// memory, and which of them this thread copies.
  struct Side {
    Access &access;
    ArrayRef<int> which; ///< the loops of its rows or columns
    int64_t width;       ///< rows or columns of the tile
    Value first, size;   ///< of the block's rows or columns; of all
    Value shared;
    bool stepsAreNeighbours;                           ///< in memory, hence of neighbouring threads
    SmallVector<Value> position, number, inside, step; ///< of each element that it copies
  };

  Side makeSide(Access &access, ArrayRef<int> which, int64_t width, Value first, Value size) {
    auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
    Side side{access, which, width, first, size, {}, false, {}, {}, {}, {}};
    // One element more in each row: the copies of neighbouring steps then go to other banks.
    side.shared = function.addWorkgroupAttribution(
        MemRefType::get({tile.depth, width + 1}, access.element, MemRefLayoutAttrInterface(), space), loc);
    for (int loop : loops.depth)
      side.stepsAreNeighbours |= access.strides[loop].is(1);
    int64_t inner = side.stepsAreNeighbours ? tile.depth : width;
    for (int64_t i = 0; i < tile.depth * width / tile.threads(); ++i) {
      Value element = add(thread, index(i * tile.threads()));
      Value low = rem(element, index(inner)), high = div(element, index(inner));
      Value number = side.stepsAreNeighbours ? high : low, step = side.stepsAreNeighbours ? low : high;
      Value global = add(first, number);
      SmallVector<Value> at = batchAt;
      delinearize(b, loc, global, nest, which, at);
      side.position.push_back(stages.position(access, at));
      side.number.push_back(number);
      side.step.push_back(step);
      side.inside.push_back(less(global, size));
    }
    return side;
  }

  /// Copies the steps from `begin` on to shared memory, zeros where there are no elements.
  void copy(Side &side, Value begin) {
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(side.access.element));
    Access steps = side.access;
    steps.offset = {};
    for (size_t i = 0; i < side.step.size(); ++i) {
      Value step = add(begin, side.step[i]);
      Value inside = b.create<arith::AndIOp>(loc, side.inside[i], less(step, depth));
      auto guarded = b.create<scf::IfOp>(loc, TypeRange(side.access.element), inside, /*withElse=*/true);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(guarded.thenBlock());
        SmallVector<Value> at(nest.loops.size());
        delinearize(b, loc, step, nest, loops.depth, at);
        Value position = add(side.position[i], stages.position(steps, at));
        Value element = b.create<memref::LoadOp>(loc, side.access.base, position);
        b.create<scf::YieldOp>(loc, element);
        b.setInsertionPointToStart(guarded.elseBlock());
        b.create<scf::YieldOp>(loc, zero);
      }
      b.create<memref::StoreOp>(loc, guarded.getResult(0), side.shared, ValueRange{side.step[i], side.number[i]});
    }
  }

  /// The body for one pair of elements.
  Value accumulate(Value left, Value right, Value accumulator) {
    Block *body = nest.reduce->op.getBody();
    IRMapping values;
    values.map(body->getArguments(), ValueRange{left, right, accumulator});
    for (Operation &op : body->without_terminator())
      b.clone(op, values);
    return values.lookupOrDefault(body->getTerminator()->getOperand(0));
  }

  Value initial(ArrayRef<Value> at) {
    return nest.init ? stages.evaluate(*nest.init, at, {}, {})[0] : stages.load(*nest.reduce, 2, at);
  }

  void finish(ArrayRef<Value> at, Value sum) {
    IRMapping operands;
    operands.map(combiner.op->getOperand(0), initial(at));
    operands.map(combiner.op->getOperand(1), sum);
    SmallVector<Value> values = {b.clone(*combiner.op, operands)->getResult(0)};
    Stage &stage = nest.last();
    if (nest.finish)
      values = stages.evaluate(stage, at, values[0], SmallVector<Value>(stage.outputs.size()));
    for (auto [i, value] : llvm::enumerate(values))
      stages.store(stage, i, value, at);
  }
};
} // namespace

void ContractionEmitter::emit() {
  OpBuilder::InsertionGuard guard(b);
  thread = b.create<gpu::ThreadIdOp>(loc, gpu::Dimension::x);
  Value block = b.create<gpu::BlockIdOp>(loc, gpu::Dimension::x);
  rows = product(loops.rows);
  columns = product(loops.columns);
  depth = product(loops.depth);
  Value columnBlocks = b.create<arith::CeilDivUIOp>(loc, columns, index(tile.columns));
  Value rowBlocks = b.create<arith::CeilDivUIOp>(loc, rows, index(tile.rows));
  Value firstColumn = mul(rem(block, columnBlocks), tile.columns);
  Value rest = div(block, columnBlocks);
  Value firstRow = mul(rem(rest, rowBlocks), tile.rows);
  batchAt.resize(nest.loops.size());
  delinearize(b, loc, div(rest, rowBlocks), nest, loops.batch, batchAt);

  Side left = makeSide(nest.reduce->inputs[0], loops.rows, tile.rows, firstRow, rows);
  Side right = makeSide(nest.reduce->inputs[1], loops.columns, tile.columns, firstColumn, columns);
  int64_t across = tile.columns / tile.threadColumns;
  // A thread's rows and columns are as far apart as there are threads: neighbours then store and read neighbours.
  Value row = div(thread, index(across)), column = rem(thread, index(across));
  int64_t down = tile.rows / tile.threadRows;

  Value neutral = b.create<arith::ConstantOp>(loc, combiner.neutral);
  SmallVector<Value> sums(tile.threadRows * tile.threadColumns, neutral);
  auto outer = b.create<scf::ForOp>(loc, index(0), depth, index(tile.depth), sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(outer.getBody());
    Value begin = outer.getInductionVar();
    copy(left, begin);
    copy(right, begin);
    b.create<gpu::BarrierOp>(loc);
    // The last steps may be fewer: a function of two zeros is not always zero.
    Value rest = b.create<arith::SubIOp>(loc, depth, begin);
    Value end = b.create<arith::MinUIOp>(loc, rest, index(tile.depth));
    auto inner = b.create<scf::ForOp>(loc, index(0), end, index(1), outer.getRegionIterArgs());
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(inner.getBody());
      Value step = inner.getInductionVar();
      auto read = [&](Side &side, Value first, int64_t count, int64_t distance) {
        SmallVector<Value> values;
        for (int64_t i = 0; i < count; ++i)
          values.push_back(
              b.create<memref::LoadOp>(loc, side.shared, ValueRange{step, add(first, index(i * distance))}));
        return values;
      };
      SmallVector<Value> x = read(left, row, tile.threadRows, down),
                         y = read(right, column, tile.threadColumns, across);
      SmallVector<Value> next;
      for (int64_t i = 0; i < tile.threadRows; ++i)
        for (int64_t j = 0; j < tile.threadColumns; ++j)
          next.push_back(accumulate(x[i], y[j], inner.getRegionIterArg(i * tile.threadColumns + j)));
      b.create<scf::YieldOp>(loc, next);
    }
    b.create<gpu::BarrierOp>(loc);
    b.create<scf::YieldOp>(loc, inner.getResults());
  }
  for (int64_t i = 0; i < tile.threadRows; ++i)
    for (int64_t j = 0; j < tile.threadColumns; ++j) {
      Value m = add(add(firstRow, row), index(i * down)), n = add(add(firstColumn, column), index(j * across));
      Value inside = b.create<arith::AndIOp>(loc, less(m, rows), less(n, columns));
      auto guarded = b.create<scf::IfOp>(loc, inside);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(guarded.thenBlock());
      SmallVector<Value> at = batchAt;
      delinearize(b, loc, m, nest, loops.rows, at);
      delinearize(b, loc, n, nest, loops.columns, at);
      finish(at, outer.getResult(i * tile.threadColumns + j));
    }
}

void strata::emitContraction(OpBuilder &b, gpu::GPUFuncOp function, LoopNest &nest, const ContractionTile &tile) {
  StageEmitter::allowFusedMultiplyAdd(nest.reduce->op);
  ContractionEmitter(b, function, nest, tile).emit();
}
