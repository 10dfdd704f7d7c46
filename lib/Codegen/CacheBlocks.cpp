//===- CacheBlocks.cpp - what of a nest's data stays in the cache ---------===//
#include "CacheBlocks.h"

using namespace mlir;

namespace strata {

bool choosesWeights(const LoopNest &nest, const NestPlan &plan, int loop) {
  return llvm::any_of(nest.reduce->inputs, [&](const Access &access) {
    return !stride(access, plan.lane).is(0) && !stride(access, loop).is(0);
  });
}

bool hasLargeWeights(const LoopNest &nest, const NestPlan &plan, int64_t bits, int64_t cacheBytes) {
  int64_t elements = 1;
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (info.reduction || static_cast<int>(loop) == plan.lane) {
      if (!info.size.isKnown())
        return true;
      elements *= std::max<int64_t>(1, info.size.known);
    }
  // The data needs the rest.
  return elements * bits / 8 > cacheBytes / 4;
}

/// Whether the cache has room for all that lanes read, whichever loops choose it.
static bool keepsAllWeights(const LoopNest &nest, const NestPlan &plan, int64_t bits, int64_t cacheBytes) {
  return llvm::all_of(nest.reduce->inputs, [&](const Access &access) {
    if (!access.base || stride(access, plan.lane).is(0))
      return true;
    std::optional<int64_t> elements = elementsOf(nest, access);
    return elements && *elements <= cacheBytes * 2 / bits;
  });
}

/// Where the data of all rows is too much for the cache, and weights are walked block by block: as many rows as leave
/// room for what else is there. What is gained are reads of the data, for more of the weights; of few rows nothing.
/// Vectors that are copied would be copied again for each block of rows, which costs more than the data.
static void chooseRowBlock(const LoopNest &nest, const NestOptions &options, int64_t bits, NestPlan &plan) {
  if (!plan.laneOutermost || plan.row < 0)
    return;
  int64_t rowBytes = bits / 8;
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    bool isRow = static_cast<int>(loop) == plan.row;
    if (!info.size.isKnown() && !isRow)
      return;
    if (info.reduction)
      rowBytes *= info.size.known;
    else if (static_cast<int>(loop) != plan.lane && !isRow)
      return;
  }
  const Extent &rows = nest.loops[plan.row].size;
  if (rows.isKnown() && rows.known * rowBytes <= options.cacheBytes / 4)
    return;
  for (int64_t bytes : {options.cacheBytes / 4, options.cacheBytes / 2}) {
    int64_t most = bytes / rowBytes / plan.rowTile;
    if (most * plan.rowTile < 2 * plan.vectorTile * plan.width)
      continue;
    int64_t tiles = llvm::divideCeil(rows.known, plan.rowTile), blocks = llvm::divideCeil(tiles, most);
    if (plan.copied >= 0)
      plan.rowsComeFromFar = true;
    else if (!rows.isKnown()) // of any number
      plan.rowBlock = most * plan.rowTile;
    else if (blocks > 1)
      plan.rowBlock = llvm::divideCeil(tiles, blocks) * plan.rowTile;
    return;
  }
}

/// The same where rows are those of an image, and a block is lines of it, or images: the data is then read for a block
/// of weights within them.
static void chooseOuterBlock(const LoopNest &nest, const NestOptions &options, NestPlan &plan) {
  if (!plan.laneOutermost || plan.row < 0 || plan.copied >= 0 || plan.matrix || !nest.loops[plan.row].size.isKnown())
    return;
  const Access *data = nullptr;
  for (const Access &access : nest.reduce->inputs)
    if (access.base && access.element.isIntOrFloat() && stride(access, plan.lane).is(0) && !data)
      data = &access;
  std::optional<int64_t> elements = data ? elementsOf(nest, *data) : std::nullopt;
  int64_t elementBits = data ? std::max(8u, data->element.getIntOrFloatBitWidth()) : 0;
  if (!elements || *elements * elementBits / 8 <= options.cacheBytes / 2)
    return;
  SmallVector<int> around; // the largest parts of the data first
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (!info.reduction && static_cast<int>(loop) != plan.lane && static_cast<int>(loop) != plan.row &&
        !info.size.is(1) && !choosesWeights(nest, plan, loop))
      around.push_back(loop);
  auto bytesOf = [&](int loop) { return stride(*data, loop).known * elementBits / 8; };
  if (!llvm::all_of(around, [&](int loop) { return nest.loops[loop].size.isKnown() && stride(*data, loop).isKnown(); }))
    return;
  llvm::stable_sort(around, [&](int a, int b) { return bytesOf(a) > bytesOf(b); });
  for (auto [number, loop] : llvm::enumerate(around)) {
    int64_t size = nest.loops[loop].size.known, most = options.cacheBytes / 4 / std::max<int64_t>(1, bytesOf(loop));
    if (most == 0)
      continue;
    int64_t block = llvm::divideCeil(size, llvm::divideCeil(size, most));
    // What is gained are reads of the data, for more of the weights: of few rows nothing.
    int64_t rows = block * nest.loops[plan.row].size.known;
    for (int inner : llvm::drop_begin(around, number + 1))
      rows *= nest.loops[inner].size.known;
    if (rows < 2 * plan.vectorTile * plan.width)
      return;
    plan.outerBlock = {loop, block};
    plan.aroundBlocks.assign(around.begin(), around.begin() + number);
    return;
  }
}

/// Whether one tile of lanes is all that reads the data of a tile of rows, and that comes from behind the second level.
static bool readsFarRowsOnce(const LoopNest &nest, const NestOptions &options, const NestPlan &plan) {
  if (plan.row < 0 || plan.lane < 0 || plan.laneIsReduction)
    return false;
  const Extent &lanes = nest.loops[plan.lane].size;
  if (!lanes.isKnown() || lanes.known > plan.vectorTile * plan.width)
    return false;
  return llvm::any_of(nest.reduce->inputs, [&](const Access &access) {
    if (!access.base || !access.element.isIntOrFloat() || !stride(access, plan.lane).is(0))
      return false;
    std::optional<int64_t> elements = elementsOf(nest, access);
    return elements && *elements * access.element.getIntOrFloatBitWidth() / 8 > 2 * options.cacheBytes;
  });
}

void planCacheBlocks(const LoopNest &nest, const NestOptions &options, int64_t bits, int64_t dataBits, NestPlan &plan) {
  plan.weightsStay = !plan.laneOutermost && keepsAllWeights(nest, plan, bits, options.cacheBytes);
  chooseRowBlock(nest, options, dataBits, plan);
  chooseOuterBlock(nest, options, plan);
  plan.rowsComeFromFar |= readsFarRowsOnce(nest, options, plan);
}

} // namespace strata
