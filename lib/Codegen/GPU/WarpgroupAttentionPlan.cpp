//===- WarpgroupAttentionPlan.cpp - when warpgroups compute attention -----===//
//
// Of Q a block has a box of queries and of the heads that share their keys; of K and
// V boxes of keys. What bulk copies bring of keys that there are not is zero.
//
//===----------------------------------------------------------------------===//
#include "Codegen/GPUPasses.h"
#include "WarpgroupAttention.h"
#include "WarpgroupStages.h"

using namespace mlir;
using namespace strata;

int64_t WarpgroupAttention::sharedBytes() const {
  return queries.bytes() + stages * stageBytes() + (2 * stages + 1) * StageRing::barrierBytes;
}

/// The dimensions of an operand with rows along `numbers` and steps along one loop; false where no copy takes its
/// boxes.
static bool describe(const LoopNest &nest, Access access, ArrayRef<int> numbers, int steps, BulkOperand &operand) {
  operand.elementBytes = 2;
  for (auto [loop, stride] : llvm::zip(nest.loops, access.strides))
    if (loop.size.is(1))
      stride = {};
  std::optional<SmallVector<MapDimension, 5>> dimensions = findDimensions(nest, access, operand.elementBytes);
  if (!dimensions)
    return false;
  operand.dimensions = *dimensions;
  bool hasSteps = false;
  for (const MapDimension &dimension : operand.dimensions) {
    // What is beyond a loop's end is to be beyond its dimension, too.
    if (dimension.parts.size() != 1)
      return false;
    int loop = dimension.parts[0].loop;
    hasSteps |= loop == steps;
    if (llvm::is_contained(numbers, loop))
      operand.loops.push_back(loop);
  }
  auto isThere = [&](int loop) { return nest.loops[loop].size.is(1) || llvm::is_contained(operand.loops, loop); };
  int neighbours = operand.dimensions[0].parts[0].loop;
  operand.across = neighbours != steps;
  return hasSteps && llvm::all_of(numbers, isThere) &&
         (!operand.across || (operand.loops.size() == 1 && operand.loops[0] == neighbours));
}

/// Boxes of up to so many rows, of which the fewest cover all: how many those are, 0 where there are none.
static int64_t chooseRowBoxes(const LoopNest &nest, BulkOperand &queries, int64_t rows) {
  ArrayRef<int> loops = queries.loops;
  queries.numbers = rows;
  if (loops.size() == 1) {
    queries.boxes = {rows};
    return llvm::divideCeil(likelySize(nest, loops[0]), rows);
  }
  if (loops.size() != 2)
    return 0;
  int64_t fewest = INT64_MAX;
  for (int64_t box = rows; box >= 1; --box) {
    int64_t count = llvm::SaturatingMultiply<uint64_t>(llvm::divideCeil(likelySize(nest, loops[0]), box),
                                                       llvm::divideCeil(likelySize(nest, loops[1]), rows / box));
    if (count >= fewest)
      continue;
    fewest = count;
    queries.boxes = {box, rows / box};
  }
  return fewest;
}

/// Two warpgroups share the keys that a block copies, where enough blocks remain.
static bool chooseRows(WarpgroupAttention &plan, ArrayRef<int> rows) {
  constexpr int64_t enoughBlocks = 128;
  const LoopNest &nest = plan.all.nest;
  for (plan.consumers = likelySize(nest, rows) > 64 ? 2 : 1; plan.consumers >= 1; --plan.consumers) {
    int64_t tiles = chooseRowBoxes(nest, plan.queries, plan.rows());
    if (tiles == 0)
      return false;
    if (plan.consumers == 1 ||
        llvm::SaturatingMultiply<uint64_t>(tiles, likelySize(nest, plan.batch, 8)) >= enoughBlocks)
      return true;
  }
  return false;
}

/// Of a tile's keys, scores take half a register each and weights a quarter; columns of V half of one.
static void chooseKeys(WarpgroupAttention &plan, int64_t depth, int64_t width) {
  bool isWide = width > 64 && (plan.consumers == 1 || plan.all.readsForKeys());
  int64_t tileKeys = isWide || likelySize(plan.all.nest, plan.all.keyLoop) <= 64 ? 64 : 128;
  auto set = [&](BulkOperand &operand, int64_t numbers, int64_t steps) {
    operand.numbers = numbers;
    operand.depth = steps;
    operand.lineBytes =
        !operand.across && steps * operand.elementBytes <= kLongestLine / 2 ? kLongestLine / 2 : kLongestLine;
  };
  int64_t lineElements = kLongestLine / plan.values.elementBytes;
  set(plan.queries, plan.rows(), depth);
  set(plan.keys, tileKeys, depth);
  set(plan.values, plan.values.across ? llvm::alignTo(width, lineElements) : width, tileKeys);
  plan.keys.boxes = {plan.keys.numbers};
  plan.values.boxes = {plan.values.numbers};
}

std::optional<WarpgroupAttention> strata::planWarpgroupAttention(OpBuilder &b, Attention &a,
                                                                 const AttentionTile &tile) {
  constexpr int64_t fewRows = 32, fewKeys = 32, mostStages = 4;
  auto chip = a.scores->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(kChip);
  std::optional<WarpgroupInstruction> instruction =
      matchWarpgroupInstruction(*matchProductSum(a.scores), /*tf32=*/false);
  // What has tensor cores has Q, K and V of one type.
  if (!chip || chip.getValue() != "sm_90a" || !tile.matrix || !instruction || instruction->elementBytes != 2)
    return std::nullopt;
  WarpgroupAttention plan{AttentionNest(b, a, tile), *instruction, {}, {}, {}, a.batch};
  const AttentionNest &all = plan.all;
  if (likelySize(all.nest, a.rows) <= fewRows || likelySize(all.nest, all.keyLoop) <= fewKeys)
    return std::nullopt;
  if (!describe(all.nest, all.queriesOf(a), a.rows, all.depthLoop, plan.queries) || plan.queries.across ||
      !describe(all.nest, all.keysOf(a), all.keyLoop, all.depthLoop, plan.keys) ||
      !describe(all.nest, all.valuesOf(a), all.widthLoop, all.keyLoop, plan.values) || !chooseRows(plan, a.rows))
    return std::nullopt;
  int64_t depth = all.nest.loops[all.depthLoop].size.known, width = all.nest.loops[all.widthLoop].size.known;
  chooseKeys(plan, llvm::alignTo(depth, instruction->steps()), llvm::alignTo(width, 8));
  if (!setBoxes(plan.queries, all.depthLoop) || !setBoxes(plan.keys, all.depthLoop) ||
      !setBoxes(plan.values, all.keyLoop))
    return std::nullopt;
  // Of the 228 KiB of a multiprocessor each block takes one for the system.
  plan.together = plan.consumers == 1 ? 2 : 1;
  int64_t bytes = (228 << 10) / plan.together - (1 << 10) - plan.queries.bytes() - StageRing::barrierBytes;
  plan.stages = std::min(mostStages, bytes / (plan.stageBytes() + 2 * StageRing::barrierBytes));
  return plan;
}
