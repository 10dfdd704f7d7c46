//===- TileFetch.cpp - the order in which a tile's data is asked for ------===//
//
// How many steps of the reduction, or parts of it, go together, and what is
// asked for before its turn comes.
//
//===----------------------------------------------------------------------===//
#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;
using namespace strata;

/// Elements of a block of packed weights in one step of the reduction: one for each lane, or a group.
static int64_t blockStep(const Access &access) { return access.block * std::max<int64_t>(1, access.withinStride); }

/// What a tile's vectors read of an access in one step, if it lies along the lanes.
static int64_t vectorElements(const Access &access, const Tile &tile) {
  return tile.vectors * tile.lanes * (access.blockedLoop >= 0 ? std::max<int64_t>(1, access.withinStride) : 1);
}

/// Weights that come from memory, each once in a run, lie in order: of one place after another, hardware fetches ahead
/// to the end of a page. So several parts of the reduction, as far apart as they are long, go side by side: how many.
int64_t TileEmitter::partsAtOnce(const Tile &tile) {
  constexpr int64_t parts = 4;
  SmallVector<int> order = reductionOrder();
  if (order.size() != 1 || depth.first || tile.steps > 1 || plan.copied >= 0 || !nest.padded.empty())
    return 1;
  int depthLoop = order.front();
  const Extent &size = nest.loops[depthLoop].size;
  if (!size.isKnown() || size.known % parts)
    return 1;
  for (auto [number, info] : llvm::enumerate(nest.loops)) {
    // Equal tiles have at least half of the most rows, unless one is all there is.
    int loop = number;
    bool areAllRows =
        loop == plan.row && (info.size.isKnown() ? info.size.is(tile.rows) : rowNumber && 2 * tile.rows < plan.rowTile);
    if (!info.reduction && loop != plan.lane && !info.size.is(1) && !areAllRows)
      return 1;
  }
  auto comesFromMemory = [&](const Access &access) {
    if (!access.base || access.blockedLoop != plan.lane || !isa<FloatType>(access.element) ||
        !access.strides[depthLoop].is(blockStep(access)))
      return false;
    auto bytes = [&](int64_t elements) { return elements * access.element.getIntOrFloatBitWidth() / 8; };
    std::optional<int64_t> elements = elementsOf(nest, access);
    // Of several rows, steps of one line are few beside what is computed of them: prefetches serve them better.
    bool areLong = tile.rows == 1 || bytes(vectorElements(access, tile)) >= 2 * target.lineBytes;
    return areLong && elements && bytes(*elements) > target.cacheBytes &&
           bytes(size.known / parts * blockStep(access)) >= target.pageBytes;
  };
  return llvm::any_of(nest.reduce->inputs, comesFromMemory) ? parts : 1;
}

/// Steps whose weights are a few lines make one iteration together: the instructions of a loop, and those that ask for
/// the lines of the next block, are many beside those of a short step. Of few sums LLVM does so by itself; of so many
/// that they nearly fill the registers, it would keep them in memory to load the weights of the next step early.
int64_t TileEmitter::stepsAtOnce(const Tile &tile) {
  constexpr int64_t mostCycles = 12;
  SmallVector<int> order = reductionOrder();
  auto isTap = [&](const PaddedLoop &padded) { return padded.tap == order.back(); };
  if (order.empty() || depth.first || llvm::any_of(nest.padded, isTap) || !nest.loops[order.back()].size.isKnown())
    return 1;
  const Extent &size = nest.loops[order.back()].size;
  // What the steps read of one word is shifted by numbers that are known.
  constexpr int64_t mostCounted = 8;
  if (size.known <= mostCounted && llvm::any_of(*nest.reduce->op.getBody(), [&](Operation &op) {
        auto number = dyn_cast<linalg::IndexOp>(op);
        return number && nest.reduce->loopOf[number.getDim()] == order.back();
      }))
    return size.known;
  bool crossed = plan.dots && plan.dots->other; // with as many vectors again
  int64_t sums = tile.rows * tile.vectors, lines = crossed ? 8 : 4;
  bool areFew = 2 * sums <= target.registers && !crossed;
  if (areFew || sums > mostCycles * target.fmaPerCycle)
    return 1;
  int64_t bytes = 0;
  for (Access &access : nest.reduce->inputs) {
    if (!access.base || stride(access, plan.lane).is(0))
      continue;
    // What the steps read lies together.
    if (!access.element.isIntOrFloat() ||
        (access.blockedLoop >= 0 && !access.strides[order.back()].is(blockStep(access))))
      return 1;
    bytes += vectorElements(access, tile) * access.element.getIntOrFloatBitWidth() / 8;
  }
  int64_t steps = std::max<int64_t>(1, bytes ? lines * target.lineBytes / bytes : 1);
  // What one row reads and another one reads again some steps later LLVM would keep, too.
  for (Access &access : nest.reduce->inputs) {
    if (!access.base || plan.row < 0 || !stride(access, plan.lane).is(0))
      continue;
    const Extent &row = stride(access, plan.row), &step = stride(access, order.back());
    if (!row.isKnown() || !step.isKnown() || row.known <= 0 || step.known <= 0)
      continue;
    int64_t again = std::lcm(row.known, step.known);
    if (again < tile.rows * row.known)
      steps = std::min(steps, again / step.known);
  }
  while (size.known % steps)
    --steps;
  return steps;
}

/// How many elements a line of the cache has.
int64_t TileEmitter::lineElements(const Access &access) const {
  int64_t bits = access.element.isInteger(1) ? 8 : access.element.getIntOrFloatBitWidth();
  return std::max<int64_t>(1, 8 * target.lineBytes / bits);
}

/// Asks for the lines of `elements` that lie side by side, into the second level (a hint of 2) or the first one (3).
void TileEmitter::prefetchLines(const Access &access, Value at, int64_t elements, int localityHint, bool isWrite) {
  for (int64_t i = 0, line = lineElements(access); i < elements; i += line)
    b.create<memref::PrefetchOp>(loc, access.base, add(at, index(i)), isWrite, localityHint, /*isDataCache=*/true);
}

void TileEmitter::prefetchResults(const Tile &row, int64_t lanes) {
  auto ask = [&](const Access &access, bool isWrite) {
    const Extent &apart = stride(access, plan.row);
    if (!access.base || !access.element.isIntOrFloat() || apart.is(0) || !stride(access, plan.lane).is(1) ||
        access.blockedLoop >= 0)
      return;
    if (nest.loops[plan.row].size.isKnown() && areNear(access, spanOf(access)))
      return;
    Value at = position(access, row, /*reduction=*/false);
    prefetchLines(access, at, lanes, /*localityHint=*/3, isWrite);
    if (!apart.isKnown() || apart.known % lineElements(access)) // the line that the last lane may reach
      prefetchLines(access, add(at, index(lanes - 1)), 1, /*localityHint=*/3, isWrite);
  };
  if (nest.init)
    for (const Access &input : nest.init->inputs)
      ask(input, /*isWrite=*/false);
  if (nest.finish)
    for (const Access &input : nest.finish->inputs)
      ask(input, /*isWrite=*/false);
  if (!plan.streams)
    for (const Access &output : nest.last().outputs)
      ask(output, /*isWrite=*/true);
}

/// The vector `j` of a row, `distance` elements behind `at`, where a line begins with it.
void TileEmitter::prefetchVector(const Access &access, Value at, Value distance, int64_t lanes, int64_t j,
                                 bool isWrite) {
  if (j * lanes % lineElements(access) == 0)
    prefetchLines(access, add(at, distance), lanes, /*localityHint=*/3, isWrite);
}

/// What the next iteration of the loop around the nest will use.
void TileEmitter::prefetchAhead(const Access &access, Value at, int64_t lanes, int64_t j, bool isWrite) {
  if (!access.ahead.is(0) && stride(access, plan.lane).is(1))
    prefetchVector(access, at, materialize(access.ahead), lanes, j, isWrite);
}

/// Never behind the last block: there may be no memory, and what is asked for there is looked up in the page tables
/// each time, in vain.
Value TileEmitter::nextBlock(const Access &access, Value base) {
  Value last = access.offset ? access.offset : index(0);
  bool isOnly = true;
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    if (info.reduction || stride(access, loop).is(0))
      continue;
    bool inBlocks = access.blockedLoop == static_cast<int>(loop);
    isOnly &= info.size.isKnown() && info.size.known <= (inBlocks ? access.block : 1);
    Value number = b.createOrFold<arith::SubIOp>(loc, materialize(info.size), index(1));
    if (inBlocks)
      number = b.createOrFold<arith::DivUIOp>(loc, number, index(access.block));
    last = add(last, times(number, inBlocks ? access.blockStride : access.strides[loop]));
  }
  return isOnly ? Value() : b.create<arith::MinUIOp>(loc, add(base, index(access.blockStride.known)), last);
}

/// Large weights are read once per run, block after block, and no hardware sees where the next block begins: while one
/// is used, the next one comes to the second-level cache. Each tile that uses the block brings its share, so that
/// memory is busy all the time and not only during the first. Of a block that one tile uses everything is read in
/// order, so nothing is done: false.
bool TileEmitter::prefetchNext(const Access &access, Value base, const Tile &tile) {
  int64_t tiles = 1;
  Value number;
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    if (info.reduction || static_cast<int>(loop) == plan.lane || !stride(access, loop).is(0) ||
        llvm::is_contained(plan.aroundBlocks, loop))
      continue;
    bool isRow = static_cast<int>(loop) == plan.row;
    int64_t step = isRow ? plan.rowTile : 1, size = info.size.known;
    int64_t block = isRow ? plan.rowBlock : 0;
    if (static_cast<int>(loop) == plan.outerBlock.first)
      block = plan.outerBlock.second;
    if (!info.size.isKnown()) {
      // Of unknown rows each full tile brings an eighth; what is left over, which may be all there is, the whole. Equal
      // tiles have at least half of the most rows, unless one is all there is.
      if (!isRow || tile.rows < (rowNumber ? (plan.rowTile + 1) / 2 : plan.rowTile))
        continue;
      block = 8 * plan.rowTile;
    }
    Value at = tile.at[loop];
    if (isRow && rowNumber) {
      at = rowNumber;
      block /= step;
      size = llvm::divideCeil(size, step);
      step = 1;
    }
    if (block) {
      at = b.create<arith::RemUIOp>(loc, at, index(block));
      size = block;
    }
    int64_t trips = llvm::divideCeil(size, step);
    Value here = step == 1 ? at : b.create<arith::DivUIOp>(loc, at, index(step)).getResult();
    number = number ? add(times(number, {trips, {}}), here) : here;
    tiles *= trips;
  }
  if (tiles == 1)
    return false;
  // Elements per iteration of the reduction; the iteration's number is its distance in blocks.
  int64_t block = blockStep(access), share = llvm::divideCeil(block, tiles);
  Value at = nextBlock(access, base);
  if (!at)
    return true;
  if (number)
    at = add(at, times(number, {static_cast<int64_t>(llvm::divideCeil(access.blockStride.known, tiles)), {}}));
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    if (!info.reduction || !tile.at[loop]) // the elements of a group
      continue;
    const Extent &distance = access.strides[loop];
    if (!distance.isKnown() || distance.known % block)
      return true;
    at = add(at, times(tile.at[loop], {distance.known / block * share, {}}));
  }
  if (!tile.step)
    prefetchLines(access, at, share * tile.steps, /*localityHint=*/2);
  return true;
}

/// The data of the next tile of rows, which follows that of this one, comes to the second-level cache, a share in each
/// step: hardware does not look beyond a page.
void TileEmitter::prefetchRows(const Access &access, Value base, const Tile &tile) {
  SmallVector<int> order = reductionOrder();
  const Extent &row = stride(access, plan.row), &depth = nest.loops[order.back()].size;
  if (order.size() > 1 || !access.strides[order.back()].is(1) || !depth.isKnown() || !row.is(depth.known) || tile.step)
    return;
  Value at = times(tile.at[order.back()], {tile.rows, {}});
  at = add(base, add(at, index(plan.rowTile * row.known)));
  prefetchLines(access, at, tile.rows * tile.steps, /*localityHint=*/2);
}

/// What is in the second-level cache, or further away, and read too fast, or in too large steps, for hardware to bring
/// it to the first one: by its distance from one step of the reduction to the next. What comes from memory is asked for
/// pages ahead, since what hardware brings by itself ends with the page.
void TileEmitter::prefetchNear(const Access &access, Value at, const Extent &step, const Tile &tile, bool fromMemory) {
  int64_t cycles = std::max<int64_t>(1, tile.rows * tile.vectors / target.fmaPerCycle);
  int64_t steps = llvm::divideCeil(target.nearLatency, cycles);
  if (fromMemory && step.isKnown()) {
    int64_t bytes = std::max<int64_t>(1, step.known * access.element.getIntOrFloatBitWidth() / 8);
    steps = std::max(steps, std::min(2 * target.pageBytes, target.nearCacheBytes / 4) / bytes);
  }
  prefetchLines(access, add(at, times(index(steps), step)), vectorElements(access, tile), /*localityHint=*/3);
}

/// The bytes that a block of lanes and the next one take of an access in `loops`. Each is a line far from the others.
uint64_t TileEmitter::bytesOfLanes(const Access &access, ArrayRef<int> loops) const {
  uint64_t bytes = 2 * plan.vectorTile * plan.width * access.element.getIntOrFloatBitWidth() / 8;
  for (int loop : loops) {
    const Extent &size = nest.loops[loop].size;
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, size.isKnown() ? size.known : target.cacheBytes);
  }
  return bytes;
}

/// From the first element of an access to the last. A number of images that is not known may be 1.
int64_t TileEmitter::spanOf(const Access &access) const {
  int64_t elements = 1;
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (info.size.isKnown() && stride(access, loop).isKnown())
      elements += (info.size.known - 1) * std::abs(stride(access, loop).known);
  return elements;
}

static int64_t bytesOfElements(const Access &access, int64_t elements) {
  return elements * std::max(8u, access.element.getIntOrFloatBitWidth()) / 8;
}

bool TileEmitter::areFar(const Access &access, int64_t elements) const {
  return bytesOfElements(access, elements) > 4 * target.cacheBytes;
}

bool TileEmitter::areNear(const Access &access, int64_t elements) const {
  return bytesOfElements(access, elements) <= target.nearCacheBytes / 2;
}

/// Whether an access lies behind the second level, if its lanes lie side by side and its rows in order.
bool TileEmitter::comesFromFar(const Access &access) const {
  const Extent &row = stride(access, plan.row);
  return stride(access, plan.lane).is(1) && row.isKnown() && row.known > 0 && access.element.isIntOrFloat() &&
         (!nest.loops[plan.row].size.isKnown() || areFar(access, spanOf(access)));
}

/// Whether a line has so few tiles of rows that there may be no next one: the next line is asked for.
bool TileEmitter::hasShortLines(const Tile &tile) const {
  const Extent &line = nest.loops[plan.row].size;
  return line.isKnown() && line.known < 8 * tile.rows;
}

/// How far the next line is in an access of an image.
std::optional<int64_t> TileEmitter::nextLine(const Access &access) {
  int64_t row = stride(access, plan.row).known * nest.loops[plan.row].size.known;
  std::optional<int64_t> nearest;
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    const Extent &step = stride(access, loop);
    if (!info.reduction && static_cast<int>(loop) != plan.lane && static_cast<int>(loop) != plan.row &&
        step.isKnown() && step.known >= row && (!nearest || step.known < *nearest))
      nearest = step.known;
  }
  return nearest;
}

/// What the next tile of a line reads (and this one does not) or writes, where this tile does `at`. A tile has a stream
/// for each of its rows, with a window for each line of that, too: more than hardware follows where they come from
/// behind the second level.
void TileEmitter::prefetchNextTile(const Access &access, Value at, const Tile &tile, int64_t j, bool isWrite) {
  if (tile.rows < 3 || !comesFromFar(access))
    return;
  int64_t distance = tile.rows * stride(access, plan.row).known;
  if (isWrite && plan.copied >= 0 && bytesOfLanes(access, {plan.row}) <= static_cast<uint64_t>(target.nearCacheBytes)) {
    distance = plan.vectorTile * plan.width;
  } else if (hasShortLines(tile)) {
    std::optional<int64_t> line = isWrite ? nextLine(access) : std::nullopt;
    if (!line)
      return;
    distance = *line;
  }
  prefetchVector(access, at, index(distance), tile.lanes, j, isWrite);
}

/// The lines behind a tile's windows that those of the next line are the first to read, where lines are short.
void TileEmitter::prefetchNextLine(const Access &data, Value base, const Tile &tile) {
  constexpr int64_t mostLines = 2; // the windows' steps
  if (tile.rows < 3 || !hasShortLines(tile) || !comesFromFar(data))
    return;
  std::optional<int64_t> next = nextLine(data);
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    const Extent &pitch = stride(data, loop);
    if (!next || !info.reduction || static_cast<int>(loop) == plan.window || !info.size.isKnown() || info.size.is(1) ||
        !pitch.isKnown() || pitch.known <= 0 || *next % pitch.known || *next / pitch.known > mostLines)
      continue;
    int64_t pixel = stride(data, plan.window).known, steps = std::max<int64_t>(1, stride(data, plan.row).known / pixel);
    for (int64_t line = info.size.known; line < info.size.known + *next / pitch.known; ++line)
      for (int64_t n = 0; n < tile.rows * steps; ++n)
        for (int64_t j = 0; j < tile.vectors; ++j)
          prefetchVector(data, elementAt(data, base, tile, n / steps, j), index(line * pitch.known + n % steps * pixel),
                         tile.lanes, j, /*isWrite=*/false);
    return;
  }
}

/// In one step of a tile that copies what it reads: that of the next block of lanes while this one is computed, and
/// what the first level has no room for, by a later step. A block need not begin with a line; lines that are new in it
/// end with it.
void TileEmitter::askForNextLanes(const Access &access, Value at, const Tile &tile) {
  SmallVector<int> order = reductionOrder();
  uint64_t bytes = bytesOfLanes(access, order);
  bool fits = bytes <= static_cast<uint64_t>(target.nearCacheBytes);
  if (bytes <= static_cast<uint64_t>(target.cacheBytes) / 2) {
    int64_t elements = vectorElements(access, tile), line = lineElements(access);
    int64_t behindFirst = (elements - 1) / line * line;
    prefetchLines(access, add(at, index(plan.vectorTile * plan.width + elements - 1 - behindFirst)), behindFirst + 1,
                  fits ? 3 : 2);
  }
  if (!fits)
    prefetchNear(access, at, access.strides[order.back()], tile);
}

/// Whether the tile reads the lanes of an access alone, each once, where they lie behind the second level.
bool TileEmitter::readsFarLanesOnce(const Access &access, const Tile &tile) const {
  if (plan.copied >= 0 || plan.row < 0 || !stride(access, plan.lane).is(1) || !stride(access, plan.row).is(0))
    return false;
  const Extent &rows = nest.loops[plan.row].size;
  int64_t reads = 1, elements = spanOf(access);
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (info.size.isKnown() && !stride(access, loop).is(0))
      reads *= info.size.known;
  return rows.isKnown() && rows.known <= tile.rows && reads <= elements && areFar(access, elements);
}

/// In one step of the reduction: `base` is where the access begins, `at` what this step reads.
void TileEmitter::prefetch(const Access &access, Value base, Value at, const Tile &tile) {
  if (!access.base || !access.element.isIntOrFloat())
    return;
  if (stride(access, plan.lane).is(0))
    return plan.rowsComeFromFar ? prefetchRows(access, base, tile) : void();
  if (access.blockedLoop != plan.lane) {
    bool isCopied = plan.copied >= 0 && &access == &nest.reduce->inputs[plan.copied];
    if (isCopied || readsFarLanesOnce(access, tile))
      askForNextLanes(access, at, tile);
    return;
  }
  if (!access.blockStride.isKnown() || tile.parts > 1)
    return;
  bool fromMemory = plan.laneOutermost && access.blockStride.known && !prefetchNext(access, base, tile);
  if (tile.rows > 1 && !areNear(access, access.block * reductionPoints(nest)))
    prefetchNear(access, at, {blockStep(access), {}}, tile, fromMemory);
}
