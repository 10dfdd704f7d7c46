//===- AttentionJoin.cpp - what parts of the keys give, as one row --------===//
//
// A block has a row. Each of its warps finds the largest score of all parts and
// the sum of their exponentials; then groups of threads add up the sums of some
// parts each, and the groups' sums meet in shared memory.
//
//===----------------------------------------------------------------------===//
#include "AttentionNest.h"
#include "AttentionParts.h"
#include "Integers.h"
#include "SharedTile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace strata;

static constexpr int64_t lanes = 32, f32Bytes = 4;

namespace {
class JoinEmitter {
public:
  JoinEmitter(OpBuilder &b, gpu::GPUFuncOp function, Attention &a, const AttentionTile &tile,
              const PartBuffers &buffers)
      : b(b), loc(function.getLoc()), function(function), a(a), tile(tile), buffers(buffers), all(b, a, tile),
        stages{b, loc, all.nest}, index{b, loc, b.getIndexType()}, i32{b, loc, b.getI32Type()},
        combiner(*matchCombiner(a.maximum)), width(all.nest.loops[all.widthLoop].size.known),
        together(width % 4 == 0 ? 4 : 1), across(llvm::PowerOf2Ceil(width / together)), groups(kJoinThreads / across),
        turns(std::min<int64_t>(4, llvm::PowerOf2Ceil(llvm::divideCeil(tile.parts, groups)))),
        places(llvm::alignTo(tile.parts, std::max(lanes, groups * turns))) {}

  void emit();

private:
  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp function;
  Attention &a;
  const AttentionTile &tile;
  const PartBuffers &buffers;
  AttentionNest all;
  StageEmitter stages;
  Integers index, i32;
  Combiner combiner;
  int64_t width, together; ///< columns of a row, and of a thread
  int64_t across, groups;  ///< threads for the columns of a part; parts at a time
  int64_t turns;           ///< parts whose sums a thread asks for before it has the first
  int64_t places;          ///< for the weights of parts, and zeros behind them

  Value thread, row, parts; ///< index
  Value weightStage, sumStage;

  Value single(float number) { return b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(number)); }
  Value addressOf(Value stage, Value number) { return addressAt(b, loc, stage, i32.mul(i32.of(number), f32Bytes)); }
  Value elementOf(Value value, int64_t i) {
    return isa<VectorType>(value.getType()) ? b.create<LLVM::ExtractElementOp>(loc, value, i32.number(i)).getResult()
                                            : value;
  }
  Value loadGlobal(Value buffer, Value position, int64_t count);
  Value allocate(int64_t bytes);
  std::pair<Value, Value> weighParts();
  void addParts();
  void finish(Value maximum, Value total);
};
} // namespace

Value JoinEmitter::loadGlobal(Value buffer, Value position, int64_t count) {
  Value base = pointerTo(b, loc, buffer, NVVM::kGlobalMemorySpace);
  Value offset = b.create<arith::IndexCastOp>(loc, b.getI64Type(), position);
  Value from = b.create<LLVM::GEPOp>(loc, base.getType(), b.getF32Type(), base, offset);
  Type type = count == 1 ? Type(b.getF32Type()) : Type(VectorType::get(count, b.getF32Type()));
  return b.create<LLVM::LoadOp>(loc, type, from, count * f32Bytes);
}

Value JoinEmitter::allocate(int64_t bytes) {
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  Value buffer = function.addWorkgroupAttribution(
      MemRefType::get({bytes}, b.getI8Type(), MemRefLayoutAttrInterface(), space), loc);
  function.setWorkgroupAttributionAttr(function.getNumWorkgroupAttributions() - 1,
                                       LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(16));
  return pointerTo(b, loc, buffer, NVVM::kSharedMemorySpace);
}

/// The row's largest score and sum of exponentials, in every lane; what sums of each part count lies in shared memory.
std::pair<Value, Value> JoinEmitter::weighParts() {
  Value lane = index.rem(thread, lanes), first = index.mul(row, tile.parts);
  SmallVector<Value> numbers, maxima, totals;
  Value maximum = single(-std::numeric_limits<float>::infinity());
  for (int64_t part = 0; part < tile.parts; part += lanes) {
    numbers.push_back(index.add(lane, part));
    // What is beyond the last part repeats it, and counts nothing.
    Value inside = index.less(numbers.back(), parts);
    Value number = b.create<arith::MinUIOp>(loc, numbers.back(), b.create<arith::SubIOp>(loc, parts, index.number(1)));
    Value marks = loadGlobal(buffers.marks, index.mul(index.add(first, number), 2), 2);
    maxima.push_back(elementOf(marks, 0));
    totals.push_back(b.create<arith::SelectOp>(loc, inside, elementOf(marks, 1), single(0)));
    maximum = combiner.joinScalars(b, loc, maximum, maxima.back());
  }
  for (int64_t distance = 1; distance < lanes; distance *= 2)
    maximum = combiner.joinScalars(b, loc, maximum, exchange(b, loc, maximum, distance));
  Value shift = shiftOfRow(b, loc, maximum), total = single(0);
  Value isFirst = index.less(thread, index.number(lanes));
  for (int64_t part = 0; part < places; part += lanes) {
    size_t i = part / lanes;
    Value weight = single(0);
    if (i < maxima.size()) {
      weight = b.create<math::ExpOp>(loc, b.create<arith::SubFOp>(loc, maxima[i], shift));
      total = b.create<arith::AddFOp>(loc, total, b.create<arith::MulFOp>(loc, totals[i], weight));
      weight = b.create<arith::SelectOp>(loc, index.less(numbers[i], parts), weight, single(0));
    }
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(b.create<scf::IfOp>(loc, isFirst).thenBlock());
    b.create<LLVM::StoreOp>(loc, weight, addressOf(weightStage, index.add(lane, part)));
  }
  for (int64_t distance = 1; distance < lanes; distance *= 2)
    total = b.create<arith::AddFOp>(loc, total, exchange(b, loc, total, distance));
  return {maximum, total};
}

/// Each group of threads adds up what some parts have.
void JoinEmitter::addParts() {
  Value group = index.div(thread, across), column = index.mul(index.rem(thread, across), together);
  bool whole = across * together == width;
  OpBuilder::InsertionGuard guard(b);
  if (!whole)
    b.setInsertionPointToStart(b.create<scf::IfOp>(loc, index.less(column, index.number(width))).thenBlock());
  Value last = b.create<arith::SubIOp>(loc, parts, index.number(1));
  auto loop =
      b.create<scf::ForOp>(loc, group, parts, index.number(groups * turns), SmallVector<Value>(together, single(0)));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> loaded, weights;
    for (int64_t turn = 0; turn < turns; ++turn) {
      Value number = index.add(loop.getInductionVar(), turn * groups);
      weights.push_back(b.create<LLVM::LoadOp>(loc, b.getF32Type(), addressOf(weightStage, number)));
      Value part = index.add(index.mul(row, tile.parts), b.create<arith::MinUIOp>(loc, number, last));
      loaded.push_back(loadGlobal(buffers.sums, index.add(index.mul(part, width), column), together));
    }
    SmallVector<Value> sums(loop.getRegionIterArgs());
    for (auto [numbers, weight] : llvm::zip(loaded, weights))
      for (int64_t i = 0; i < together; ++i) {
        auto contract = arith::FastMathFlags::contract;
        Value product = b.create<arith::MulFOp>(loc, elementOf(numbers, i), weight, contract);
        sums[i] = b.create<arith::AddFOp>(loc, sums[i], product, contract);
      }
    b.create<scf::YieldOp>(loc, sums);
  }
  Value place = index.add(index.mul(group, width), column);
  for (auto [i, sum] : llvm::enumerate(loop.getResults()))
    b.create<LLVM::StoreOp>(loc, sum, addressOf(sumStage, index.add(place, i)));
}

/// A thread for each column.
void JoinEmitter::finish(Value maximum, Value total) {
  Value factor = weightOfRow(b, loc, a, maximum, total);
  SmallVector<Value> at(all.nest.loops.size());
  Value numRows = all.product(b, loc, a.rows);
  delinearize(b, loc, index.div(row, numRows), all.nest, a.batch, at);
  delinearize(b, loc, index.rem(row, numRows), all.nest, a.rows, at);
  OpBuilder::InsertionGuard guard(b);
  if (width < kJoinThreads)
    b.setInsertionPointToStart(b.create<scf::IfOp>(loc, index.less(thread, index.number(width))).thenBlock());
  at[all.widthLoop] = thread;
  Value sum = single(0);
  for (int64_t group = 0; group < groups; ++group) {
    Value part = b.create<LLVM::LoadOp>(loc, b.getF32Type(), addressOf(sumStage, index.add(thread, group * width)));
    sum = b.create<arith::AddFOp>(loc, sum, part);
  }
  // A row that counts nothing is 0, whatever V is.
  Value none = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, factor, single(0));
  Value result = b.create<arith::SelectOp>(loc, none, single(0), b.create<arith::MulFOp>(loc, sum, factor));
  if (all.finish)
    result = stages.evaluate(*all.finish, at, result, {Value()})[0];
  stages.store(all.last(), 0, result, at);
}

void JoinEmitter::emit() {
  thread = b.create<gpu::ThreadIdOp>(loc, gpu::Dimension::x);
  row = b.create<gpu::BlockIdOp>(loc, gpu::Dimension::x);
  weightStage = allocate(places * f32Bytes);
  sumStage = allocate(groups * width * f32Bytes);
  Value rowBlocks = b.createOrFold<arith::CeilDivUIOp>(loc, all.product(b, loc, a.rows), index.number(tile.rows));
  Value blocks = b.createOrFold<arith::MulIOp>(loc, rowBlocks, all.product(b, loc, a.batch));
  parts = divideKeys(b, loc, tile, blocks, all.product(b, loc, a.key)).count;
  auto [maximum, total] = weighParts();
  b.create<gpu::BarrierOp>(loc);
  addParts();
  b.create<gpu::BarrierOp>(loc);
  finish(maximum, total);
}

void strata::emitAttentionJoin(OpBuilder &b, gpu::GPUFuncOp function, Attention &attention, const AttentionTile &tile,
                               const PartBuffers &buffers) {
  OpBuilder::InsertionGuard guard(b);
  JoinEmitter(b, function, attention, tile, buffers).emit();
}
