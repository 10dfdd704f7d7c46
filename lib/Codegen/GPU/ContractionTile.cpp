//===- ContractionTile.cpp - the tile of a block of threads ---------------===//
#include "../LinalgQueries.h"
#include "TiledContraction.h"

using namespace mlir;
using namespace strata;

/// Moves the loop that walks memory of the access one by one to the end, where it counts fastest.
static void putUnitLoopLast(SmallVectorImpl<int> &loops, const Access &access) {
  auto *unit = llvm::find_if(loops, [&](int loop) { return access.strides[loop].is(1); });
  if (unit != loops.end())
    std::rotate(unit, unit + 1, loops.end());
}

ContractionLoops strata::contractionLoops(LoopNest &nest) {
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
  for (auto *list : {&loops.rows, &loops.columns})
    if (const Access &result = nest.last().outputs[0]; result.base)
      putUnitLoopLast(*list, result);
  putUnitLoopLast(loops.rows, left);
  putUnitLoopLast(loops.columns, right);
  // The rows of a convolution's left side are gathered: wide copies matter there.
  putUnitLoopLast(loops.depth, right);
  putUnitLoopLast(loops.depth, left);
  return loops;
}

int64_t strata::sizeOfLoops(const LoopNest &nest, ArrayRef<int> loops, int64_t ifUnknown) {
  int64_t product = 1;
  for (int loop : loops)
    product = llvm::SaturatingMultiply<uint64_t>(product, nest.loops[loop].size.isKnown() ? nest.loops[loop].size.known
                                                                                          : ifUnknown);
  return product;
}

namespace {
/// What a tile depends on.
struct Contraction {
  ContractionLoops loops;
  int64_t rows, columns, batch;
  int64_t bytes[2], sumBytes; ///< of an element
  std::optional<MatrixInstruction> matrix;

  int64_t wide() const { return std::max(bytes[0], bytes[1]); }
  int64_t narrow() const { return std::min(bytes[0], bytes[1]); }
  int64_t leastSide() const { return matrix ? 32 : 64; }
};
} // namespace

static std::optional<Contraction> matchContraction(LoopNest &nest, bool nvidia, bool tf32) {
  if (!nest.reduce || nest.reduce->inputs.size() != 2)
    return std::nullopt;
  linalg::GenericOp op = nest.reduce->op;
  std::optional<Combiner> combiner = matchCombiner(op);
  if (!combiner || !isa<arith::AddFOp, arith::AddIOp>(combiner->op) || op.hasIndexSemantics())
    return std::nullopt;
  for (Access &access : nest.reduce->inputs)
    if (!access.base || access.blockedLoop >= 0 || !access.element.isIntOrFloat() || access.element.isInteger(1))
      return std::nullopt;
  for (Operation &inner : *op.getBody())
    if (inner.getNumRegions() || isa<memref::LoadOp>(inner))
      return std::nullopt;
  Contraction found;
  found.loops = contractionLoops(nest);
  // Whether it is a product at all: a sum over one input reads nothing twice.
  found.rows = sizeOfLoops(nest, found.loops.rows, 128);
  found.columns = sizeOfLoops(nest, found.loops.columns, 128);
  if (found.rows < 16 || found.columns < 16 || sizeOfLoops(nest, found.loops.depth, 128) < 8)
    return std::nullopt;
  found.batch = sizeOfLoops(nest, found.loops.batch, 8);
  if (std::optional<ProductSum> product = matchProductSum(op); product && nvidia)
    found.matrix = matchMatrixInstruction(*product, tf32);
  for (unsigned input : {0u, 1u})
    found.bytes[input] = bytesOf(nest.reduce->inputs[input].element);
  found.sumBytes = bytesOf(combiner->neutral.getType());
  return found;
}

/// Tiles are as large as there are rows and columns, up to 128 of each: every element is then read least often. But
/// they shrink to 64 as long as there are fewer blocks than `enoughBlocks`, about one for each multiprocessor.
static void chooseSize(ContractionTile &tile, const Contraction &of, int64_t least, int64_t most) {
  constexpr int64_t enoughBlocks = 128;
  auto cover = [&](int64_t size) { return std::clamp<int64_t>(llvm::PowerOf2Ceil(size), least, most); };
  tile.rows = cover(of.rows);
  tile.columns = cover(of.columns);
  auto blocks = [&] {
    return llvm::SaturatingMultiply<uint64_t>(
        llvm::SaturatingMultiply<uint64_t>(llvm::divideCeil(of.rows, tile.rows),
                                           llvm::divideCeil(of.columns, tile.columns)),
        of.batch);
  };
  while (blocks() < enoughBlocks && std::max(tile.rows, tile.columns) > 64)
    (tile.rows >= tile.columns ? tile.rows : tile.columns) /= 2;
}

/// As many as a kernel may have without asking; two blocks then fit on every GPU.
static int64_t chooseStages(const ContractionTile &tile) {
  return std::min<int64_t>(tile.matrix ? 4 : 2, kStaticSharedBytes / tile.stageBytes);
}

static int64_t stageBytes(const ContractionTile &tile, const Contraction &of) {
  return tile.depth * (tile.rows * of.bytes[0] + tile.columns * of.bytes[1]);
}

static bool isCopiedEvenly(LoopNest &nest, const ContractionTile &tile, const Contraction &of) {
  OpBuilder b(nest.reduce->op.getContext());
  StageEmitter stages{b, nest.reduce->op.getLoc(), nest};
  const Access &left = nest.reduce->inputs[0], &right = nest.reduce->inputs[1];
  return SharedTile(stages, left, of.loops.rows, of.loops.depth, tile.shapeOf(tile.rows)).isCopiedEvenly() &&
         SharedTile(stages, right, of.loops.columns, of.loops.depth, tile.shapeOf(tile.columns)).isCopiedEvenly();
}

std::optional<ContractionTile> strata::chooseTile(LoopNest &nest, bool nvidia, bool tf32) {
  std::optional<Contraction> found = matchContraction(nest, nvidia, tf32);
  if (!found)
    return std::nullopt;
  ContractionTile tile;
  tile.async = nvidia;
  tile.matrix = found->matrix;
  // 64 bytes of a row, and at least a chunk of the narrower side.
  tile.depth = std::max(64 / found->wide(), 16 / found->narrow());
  if (tile.matrix) {
    chooseSize(tile, *found, found->leastSide(), 128);
    tile.partRows = tile.rows % 64 == 0 && tile.rows + tile.columns > 128 ? 64 : 32;
    tile.partColumns = 32;
    // A line of 128 elements that are copied one by one has more threads than two warps.
    if (!isCopiedEvenly(nest, tile, *found))
      tile.partRows = 32;
  } else {
    bool small = found->sumBytes <= 4 && found->wide() <= 4;
    chooseSize(tile, *found, found->leastSide(), small ? 128 : 64);
    tile.partRows = tile.rows / 16;
    tile.partColumns = tile.columns / 16;
  }
  tile.stageBytes = stageBytes(tile, *found);
  tile.stages = chooseStages(tile);
  return tile;
}

/// Registers of a thread, about: its sums, the elements that it multiplies at once, and what computes addresses.
static int64_t registersOf(const ContractionTile &tile, const Contraction &of) {
  constexpr int64_t others = 48;
  if (tile.matrix)
    return tile.partRows * tile.partColumns / 32 + (tile.partRows + tile.partColumns) / 4 + others;
  int64_t words = llvm::divideCeil(std::max(of.sumBytes, of.wide()), 4), together = 16 / of.narrow();
  return words *
             (tile.partRows * tile.partColumns + (tile.partRows + tile.partColumns) * std::min<int64_t>(together, 4)) +
         others;
}

/// Whether the instructions, the threads' copies and the memory of a multiprocessor allow it.
static bool isPossible(LoopNest &nest, const ContractionTile &tile, const Contraction &of, int64_t sharedBytes) {
  constexpr int64_t largestSide = 256, mostStages = 8, mostRegisters = 255, allRegisters = 64 << 10, mostThreads = 1024;
  int64_t numbers[] = {tile.rows, tile.columns, tile.partRows, tile.partColumns, tile.depth};
  if (!llvm::all_of(numbers, [](int64_t number) { return number > 0 && llvm::isPowerOf2_64(number); }))
    return false;
  for (auto [side, size] : {std::pair(tile.rows, of.rows), std::pair(tile.columns, of.columns)})
    if (side < (of.matrix ? 32 : 16) || side > largestSide ||
        side > std::max<int64_t>(of.leastSide(), llvm::PowerOf2Ceil(size)))
      return false;
  int64_t leastPart = of.matrix ? 16 : 2;
  if (tile.partRows < leastPart || tile.partColumns < leastPart || tile.partRows > tile.rows ||
      tile.partColumns > tile.columns)
    return false;
  if (tile.depth * of.narrow() < (of.matrix ? 32 : 16) || tile.depth * of.wide() > 128)
    return false;
  int64_t threads = tile.threads();
  if (threads < 32 || threads > mostThreads || registersOf(tile, of) > mostRegisters ||
      registersOf(tile, of) * threads > allRegisters)
    return false;
  if (tile.stages < 2 || tile.stages > mostStages || tile.sharedBytes() > sharedBytes ||
      (tile.dynamicBytes() && !tile.async))
    return false;
  return isCopiedEvenly(nest, tile, of);
}

std::optional<ContractionTile> strata::takeTile(LoopNest &nest, bool nvidia, bool tf32, int64_t sharedBytes,
                                                const TileChoice &choice) {
  std::optional<Contraction> found = matchContraction(nest, nvidia, tf32);
  // Numbers may be whatever a file has.
  std::array<int64_t, 6> numbers = choice.numbers();
  if (!found || choice.by != (found->matrix ? TileChoice::Warps : TileChoice::Threads) ||
      llvm::any_of(numbers, [](int64_t number) { return number < 0 || number > 1 << 16; }) ||
      llvm::is_contained(ArrayRef(numbers).drop_back(), 0))
    return std::nullopt;
  ContractionTile tile;
  tile.async = nvidia;
  tile.matrix = found->matrix;
  tile.rows = choice.rows;
  tile.columns = choice.columns;
  tile.partRows = choice.partRows;
  tile.partColumns = choice.partColumns;
  tile.depth = choice.depth;
  tile.stageBytes = stageBytes(tile, *found);
  tile.stages = choice.stages ? choice.stages : std::max<int64_t>(2, chooseStages(tile));
  if (!isPossible(nest, tile, *found, sharedBytes))
    return std::nullopt;
  return tile;
}
