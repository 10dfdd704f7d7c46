//===- BlockTiles.cpp - sums of blocks on a matrix unit -------------------===//
//
// The integers of BlockDots.h for 16 rows and 16 lanes at once. The codes of these
// lanes are spread to bytes once, for all rows. While the sums of one block are scaled,
// the unit adds those of the next one: what it stores has to be in the cache before
// vectors read it.
//
//===----------------------------------------------------------------------===//
#include "BlockDots.h"
#include "MatrixUnit.h"
#include "NestEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace strata;

static constexpr int64_t columns = MatrixUnit::columns;
/// Bytes of a row of a tile.
static constexpr int64_t rowBytes = 4 * columns;

bool strata::foldsZeroPoint(const BlockDots &dots) {
  int64_t most = dots.bits == 4 ? 15 : 255;
  return dots.sums >= 0 && dots.zero < 0 && -dots.zeroPoint >= INT8_MIN && most - dots.zeroPoint <= INT8_MAX;
}

void strata::planBlockTiles(LoopNest &nest, const NestOptions &options, int64_t block, NestPlan &plan) {
  BlockPlan &blocks = *plan.blocks;
  const Access &data = nest.reduce->inputs[blocks.dots.data];
  const int64_t inWord = 32 / blocks.dots.bits;
  const Extent words = blocks.word < 0 ? Extent{1, {}} : nest.loops[blocks.word].size,
               &lanes = nest.loops[plan.lane].size;
  if (!options.int8Tiles || plan.row < 0 || plan.width != columns || block % columns != 0 || !lanes.isKnown() ||
      lanes.known % columns != 0 || !words.isKnown() || (blocks.word >= 0 && !stride(data, blocks.word).is(inWord)) ||
      blocks.outer.empty() || !llvm::all_of(blocks.outer, [&](int loop) { return nest.loops[loop].size.isKnown(); }))
    return;
  const Extent &rows = nest.loops[plan.row].size;
  int64_t bytes = words.known * inWord;
  if ((rows.isKnown() && rows.known <= kFewRowsOfBlocks) || (bytes > rowBytes && bytes % rowBytes != 0))
    return;
  blocks.unitBytes = bytes;
  plan.vectorTile = 1;
  plan.rowTile = MatrixUnit::mostRows;
  if (rows.isKnown())
    plan.rowTile = llvm::divideCeil(rows.known, llvm::divideCeil(rows.known, plan.rowTile));
  plan.leastRows = kFewRowsOfBlocks + 1;
  plan.evenRows = !rows.isKnown() || rows.known % plan.rowTile != 0;
}

double strata::emitBlocks(OpBuilder &b, Location loc, LoopNest &nest, const NestOptions &options) {
  bool areKnown = llvm::all_of(nest.loops, [](const Loop &loop) { return loop.size.isKnown(); });
  if (areKnown || !options.int8Tiles || !nest.reduce || !matchBlockDots(nest.reduce->op))
    return emitLoopNest(b, loc, nest, options);
  LoopNest few = nest;
  NestPlan plan = planNest(few, options);
  if (!plan.hasBlocksOnUnit() || nest.loops[plan.row].size.isKnown())
    return emitLoopNest(b, loc, nest, options);
  NestOptions ofFew = options;
  ofFew.int8Tiles = false;
  ofFew.mostRows = kFewRowsOfBlocks;
  return emitFewOrMany(
      b, loc, nest.loops[plan.row].size.value, kFewRowsOfBlocks, [&] { emitLoopNest(b, loc, few, ofFew); },
      [&] { return emitLoopNest(b, loc, nest, options); });
}

Value TileEmitter::prepareBlocks() {
  if (!plan.hasBlocksOnUnit())
    return {};
  // A tile has a row at least, even where it is only configured.
  const Extent &size = nest.loops[plan.row].size;
  unitRows = index(std::min(MatrixUnit::mostRows, size.isKnown() ? size.known : MatrixUnit::mostRows));
  if (!size.isKnown())
    unitRows = b.create<arith::MaxUIOp>(loc, b.create<arith::MinUIOp>(loc, size.value, unitRows), index(1));
  unitRows16 = b.create<arith::IndexCastOp>(loc, b.getI16Type(), unitRows);
  auto buffer = [&](int64_t words) { return MemRefType::get({words}, b.getI32Type()); };
  IntegerAttr line = b.getI64IntegerAttr(rowBytes);
  unitSums = b.create<memref::AllocaOp>(loc, buffer(2 * MatrixUnit::mostRows * columns), line);
  int64_t blocks = 1;
  for (int loop : plan.blocks->outer)
    blocks *= nest.loops[loop].size.known;
  return unitCodes = b.create<memref::AllocOp>(loc, buffer(blocks * plan.blocks->unitBytes / 4 * columns), line);
}

/// Where the codes of a block begin.
Value TileEmitter::codesOf(const Tile &block) {
  Value at;
  int64_t distance = plan.blocks->unitBytes / 4 * columns;
  for (int loop : llvm::reverse(plan.blocks->outer)) {
    at = add(at, times(block.at[loop], {distance, {}}));
    distance *= nest.loops[loop].size.known;
  }
  return at;
}

void TileEmitter::fillCodes(const Tile &place) {
  const BlockPlan &blocks = *plan.blocks;
  const Access &words = nest.reduce->inputs[blocks.dots.words];
  Tile tile = place;
  tile.rows = tile.vectors = 1;
  tile.lanes = columns;
  Value base = position(words, tile, false);
  auto bytes = VectorType::get({rowBytes}, b.getI8Type());
  auto asWords = VectorType::get({columns}, b.getI32Type());
  reduceLoops(tile, blocks.outer, {}, [&](const Tile &block, Values) {
    Value to = codesOf(block);
    int64_t row = 0, size = blocks.word < 0 ? 1 : nest.loops[blocks.word].size.known;
    for (int64_t word = 0; word < size; ++word) {
      Tile step = block;
      if (blocks.word >= 0)
        step.at[blocks.word] = index(word);
      for (Value codes : bytesOfWords(b, loc, vectorAt(words, base, step, 0), blocks.dots.bits)) {
        if (foldsZeroPoint(blocks.dots)) {
          auto zero = DenseElementsAttr::get(bytes, static_cast<int8_t>(blocks.dots.zeroPoint));
          Value left = b.create<vector::BitCastOp>(loc, bytes, codes);
          left = b.create<arith::SubIOp>(loc, left, b.create<arith::ConstantOp>(loc, zero));
          codes = b.create<vector::BitCastOp>(loc, asWords, left);
        }
        b.create<vector::StoreOp>(loc, codes, unitCodes, add(to, index(row++ * columns)));
      }
    }
    return Values();
  });
}

TileEmitter::Values TileEmitter::reduceBlocksOnUnit(const Tile &tile, Values sums) {
  const BlockPlan &blocks = *plan.blocks;
  const BlockDots &dots = blocks.dots;
  const Access &data = nest.reduce->inputs[dots.data];
  const int64_t bytes = blocks.unitBytes, step = std::min(bytes, rowBytes);
  MatrixUnit unit{{b, loc}};
  Values bases = basesOf(*nest.reduce, tile);
  // At the end of the rows a tile is moved back to be whole.
  Tile whole = tile;
  Value &first = whole.at[plan.row], wanted = tile.at[plan.row];
  const Extent &size = nest.loops[plan.row].size;
  if (!size.isKnown() || size.known % plan.rowTile != 0)
    first = b.create<arith::MinUIOp>(loc, wanted, b.create<arith::SubIOp>(loc, materialize(size), unitRows));
  Value base = position(data, whole, false), pitch = unit.bytesOf(data, materialize(stride(data, plan.row)));
  Value skipped = times(b.createOrFold<arith::SubIOp>(loc, wanted, first), {columns, {}});
  Value stepBytes = unit.constant(step, 16), lineBytes = unit.constant(rowBytes, 64);
  const int64_t sumsOfTile = MatrixUnit::mostRows * columns;

  // The words that other lanes need come to the cache meanwhile.
  auto prefetchWords = [&](const Tile &block) {
    const Access &words = nest.reduce->inputs[dots.words];
    for (int64_t word = 0; word < bytes / (32 / dots.bits) && words.blockStride.isKnown(); ++word) {
      Tile step = block;
      if (blocks.word >= 0)
        step.at[blocks.word] = index(word);
      (void)prefetchNext(words, bases[dots.words], step);
    }
  };
  const int innermost = blocks.outer.back();
  auto multiply = [&](const Tile &block, int64_t buffer) {
    prefetchWords(block);
    Value from = add(base, position(data, block, true)), codes = codesOf(block), sum = unit.zero(unitRows16);
    for (int64_t byte = 0; byte < bytes; byte += step) {
      Value x = unit.load(unitRows16, stepBytes, unit.addressOf(data, add(from, index(byte))), pitch);
      Value w = unit.load(unit.constant(step / 4, 16), unit.constant(rowBytes, 16),
                          unit.addressOf(unitCodes, add(codes, index(byte / 4 * columns)), 4), lineBytes);
      sum = unit.addProducts(foldsZeroPoint(dots) ? "amx.tdpbssd" : "amx.tdpbsud", unitRows16, stepBytes, sum, x, w);
    }
    unit.store(unitRows16, unit.addressOf(unitSums, index(buffer * sumsOfTile), 4), lineBytes, sum);
  };
  auto scale = [&](const Tile &block, int64_t buffer, Values sums) {
    Values integers, starts;
    if (!foldsZeroPoint(dots))
      starts = startOfBlock(block, bases, /*moved=*/0);
    for (int64_t i = 0; i < tile.rows; ++i) {
      auto type = VectorType::get({columns}, b.getI32Type());
      Value sum = b.create<vector::LoadOp>(loc, type, unitSums, add(skipped, index(buffer * sumsOfTile + i * columns)));
      integers.push_back(starts.empty() ? sum : b.createOrFold<arith::AddIOp>(loc, sum, starts[i]));
    }
    return addBlock(block, bases, integers, sums, /*moved=*/0);
  };
  return reduceLoops(tile, ArrayRef(blocks.outer).drop_back(), sums, [&](const Tile &outer, Values sums) {
    auto number = [&](Value at) {
      Tile block = outer;
      block.at[innermost] = at;
      return block;
    };
    // By two, so that the buffers' places are known.
    int64_t count = nest.loops[innermost].size.known, pairs = (count - 1) / 2 * 2;
    multiply(number(index(0)), 0);
    auto loop = b.create<scf::ForOp>(loc, index(0), index(pairs), index(2), sums);
    sums = Values(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value first = loop.getInductionVar(), second = add(first, index(1));
      multiply(number(second), 1);
      sums = scale(number(first), 0, sums);
      multiply(number(add(first, index(2))), 0);
      b.create<scf::YieldOp>(loc, scale(number(second), 1, sums));
    }
    sums = Values(loop.getResults().begin(), loop.getResults().end());
    if (count % 2 == 0)
      multiply(number(index(count - 1)), 1);
    for (int64_t rest = pairs; rest < count; ++rest)
      sums = scale(number(index(rest)), rest - pairs, sums);
    return sums;
  });
}
