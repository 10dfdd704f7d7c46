//===- WarpgroupPlan.cpp - products by warpgroups, from bulk copies -------===//
//
// The loops of a product are sorted by which operands they walk; a tile goes along
// those of both sides, and a stage along one of the reduction.
//
//===----------------------------------------------------------------------===//
#include "WarpgroupPlan.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace strata;

std::optional<WarpgroupInstruction> strata::matchWarpgroupInstruction(const ProductSum &product, bool tf32) {
  using Types = NVVM::WGMMATypes;
  Type element = product.elements[0], sum = product.sum;
  if (element != product.elements[1])
    return std::nullopt;
  if (sum.isF32() && element.isF16())
    return WarpgroupInstruction{Types::f16, Types::f16, Types::f32, sum, 2};
  if (sum.isF32() && element.isBF16())
    return WarpgroupInstruction{Types::bf16, Types::bf16, Types::f32, sum, 2};
  if (sum.isF32() && element.isF32() && tf32)
    return WarpgroupInstruction{Types::tf32, Types::tf32, Types::f32, sum, 4};
  if (sum.isInteger(32) && element.isInteger(8))
    return WarpgroupInstruction{product.isUnsigned[0] ? Types::u8 : Types::s8,
                                product.isUnsigned[1] ? Types::u8 : Types::s8, Types::s32, sum, 1};
  return std::nullopt;
}

/// The loop of a nest that counts neighbours in memory, or -1.
static int neighboursOf(const Access &access) {
  auto *unit = llvm::find_if(access.strides, [](const Extent &stride) { return stride.is(1); });
  return unit == access.strides.end() ? -1 : unit - access.strides.begin();
}

/// Makes two loops of one: the inner one, of `size` iterations, is the last of the nest.
static void splitLoop(LoopNest &nest, int loop, int64_t size) {
  nest.loops.push_back({nest.loops[loop].reduction, {size, {}}});
  nest.loops[loop].size.known /= size;
  nest.forEachAccess([&](Access &access) {
    Extent stride = access.strides[loop];
    access.strides.push_back(stride);
    access.strides[loop] = {stride.known * size, {}};
  });
}

/// Whether an operand's dimensions of these loops are one: it is contiguous, and the inner one follows the outer one.
static bool isContinued(Stage &stage, OpOperand &operand, const Access &access, int outer, int inner) {
  const Extent &far = access.strides[outer], &near = access.strides[inner];
  if (!access.base || (far.is(0) && near.is(0)))
    return true;
  auto metadata = far.value ? far.value.getDefiningOp<memref::ExtractStridedMetadataOp>() : nullptr;
  auto type = metadata ? dyn_cast<MemRefType>(metadata.getSource().getType()) : MemRefType();
  if (!type || !type.getLayout().isIdentity() || access.blockedLoop >= 0)
    return false;
  AffineMap map = stage.op.getMatchingIndexingMap(&operand);
  auto isOf = [&](unsigned dimension, int loop) {
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(dimension));
    return dim && stage.loopOf[dim.getPosition()] == loop;
  };
  auto [strides, offset] = getStridesAndOffset(type);
  for (unsigned i = 0; i + 1 < map.getNumResults(); ++i)
    if (metadata.getStrides()[i] == far.value && isOf(i, outer) && isOf(i + 1, inner))
      return ShapedType::isDynamic(strides[i + 1]) ? near.value == metadata.getStrides()[i + 1]
                                                   : near.is(strides[i + 1]);
  return false;
}

/// Loops whose sizes only the run tells are one where all operands continue: tiles then do not end with the inner one.
static void mergeLoops(OpBuilder &b, Location loc, LoopNest &nest) {
  auto stages = [&] {
    SmallVector<Stage *> stages;
    for (std::optional<Stage> *stage : {&nest.init, &nest.reduce, &nest.finish})
      if (*stage)
        stages.push_back(&**stage);
    return stages;
  };
  auto canMerge = [&](int outer, int inner) {
    if (outer == inner || nest.loops[outer].reduction || nest.loops[inner].reduction ||
        nest.loops[inner].size.isKnown())
      return false;
    for (Stage *stage : stages()) {
      auto asksFor = [&](linalg::IndexOp op) {
        int loop = stage->loopOf[op.getDim()];
        return loop == outer || loop == inner ? WalkResult::interrupt() : WalkResult::advance();
      };
      if (stage->op.getRegion().walk(asksFor).wasInterrupted())
        return false;
      for (auto [operand, access] :
           llvm::zip(stage->op->getOpOperands(), llvm::concat<Access>(stage->inputs, stage->outputs)))
        if (!isContinued(*stage, operand, access, outer, inner))
          return false;
    }
    return true;
  };
  for (int outer = nest.loops.size() - 1; outer >= 0; --outer)
    for (int inner = 0; inner < static_cast<int>(nest.loops.size()); ++inner) {
      if (!canMerge(outer, inner))
        continue;
      const Extent &many = nest.loops[outer].size;
      Value size = many.isKnown() ? b.create<arith::ConstantIndexOp>(loc, many.known).getResult() : many.value;
      nest.loops[inner].size.value = b.create<arith::MulIOp>(loc, size, nest.loops[inner].size.value);
      nest.loops.erase(nest.loops.begin() + outer);
      nest.forEachAccess([&](Access &access) {
        access.strides.erase(access.strides.begin() + outer);
        if (access.blockedLoop > outer)
          --access.blockedLoop;
      });
      for (Stage *stage : stages())
        for (int &of : stage->loopOf)
          of = of == outer ? -1 : of > outer ? of - 1 : of;
      break;
    }
}

/// The columns and channels of a window may be one loop: it is divided where pixels begin.
static void divideWindow(LoopNest &nest, unsigned input) {
  const Access &access = nest.reduce->inputs[input];
  int loop = neighboursOf(access);
  if (loop < 0 || !nest.loops[loop].reduction || !nest.loops[loop].size.isKnown())
    return;
  int64_t size = nest.loops[loop].size.known, part = size;
  for (auto [i, stride] : llvm::enumerate(access.strides))
    if (static_cast<int>(i) != loop && stride.isKnown() && stride.known && std::abs(stride.known) < size)
      part = std::gcd(part, stride.known);
  bool allKnown = true;
  nest.forEachAccess([&](Access &each) { allKnown &= each.strides[loop].isKnown(); });
  if (part < size && part > 1 && allKnown)
    splitLoop(nest, loop, part);
}

int64_t strata::likelySize(const LoopNest &nest, ArrayRef<int> loops, int64_t ifUnknown) {
  int64_t product = 1;
  for (int loop : loops) {
    const Extent &size = nest.loops[loop].size;
    product = llvm::SaturatingMultiply<uint64_t>(product, size.isKnown() ? size.known : ifUnknown);
  }
  return product;
}

/// How far a copy may go along a loop of a side.
static int64_t largestBoxOf(const BulkOperand &operand, int loop) {
  if (operand.across)
    return INT64_MAX; // it takes several
  for (const MapDimension &dimension : operand.dimensions)
    for (const MapDimension::Part &part : dimension.parts)
      if (part.loop == loop)
        return part.factor > kLongestStep ? 1 : kLargestBox / part.factor;
  llvm_unreachable("a side's loops are parts of its dimensions");
}

/// The shape of a tile of `size` rows along the operand's loops, powers of two, of which the fewest cover all; how many
/// those are, INT64_MAX where no copy takes such a tile.
static int64_t chooseBoxes(const LoopNest &nest, BulkOperand &operand, int64_t size) {
  SmallVector<int64_t> boxes(operand.loops.size(), 1);
  int64_t fewest = INT64_MAX;
  std::function<void(size_t, int64_t, int64_t)> choose = [&](size_t i, int64_t left, int64_t tiles) {
    bool last = i + 1 == boxes.size();
    for (int64_t box = left; box >= 1 && (!last || box == left); box /= 2) {
      if (box > largestBoxOf(operand, operand.loops[i]))
        continue;
      boxes[i] = box;
      int64_t all =
          llvm::SaturatingMultiply<uint64_t>(tiles, llvm::divideCeil(likelySize(nest, operand.loops[i]), box));
      if (!last)
        choose(i + 1, left / box, all);
      else if (all < fewest)
        fewest = all, operand.boxes = boxes;
    }
  };
  choose(0, size, 1);
  return fewest;
}

/// The time of a stage, in cycles of a multiprocessor: in each it multiplies 2048 pairs of 16 bits, of 64 steps, and
/// gets 32 bytes of the second cache, of lines of 128.
static int64_t stageCycles(int64_t rows, int64_t columns) {
  return std::max(rows * columns / 32, (rows + columns) * 4);
}

/// The larger a tile, the less often an element is read; but all multiprocessors shall have one. The best is the one
/// whose rounds take the least time. False where no copy takes any.
static bool chooseTile(WarpgroupPlan &plan) {
  constexpr int64_t multiprocessors = 132; // of most GPUs that run sm_90a (H100 SXM, H200)
  int64_t batch = likelySize(plan.nest, plan.batch, 8), least = INT64_MAX;
  WarpgroupTile best = kWarpgroupTiles[0];
  for (const WarpgroupTile &tile : kWarpgroupTiles) {
    int64_t rows = chooseBoxes(plan.nest, plan.left, tile.rows),
            columns = chooseBoxes(plan.nest, plan.right, tile.columns);
    if (rows == INT64_MAX || columns == INT64_MAX)
      continue;
    int64_t count = llvm::SaturatingMultiply<uint64_t>(batch, llvm::SaturatingMultiply<uint64_t>(rows, columns));
    int64_t time = llvm::SaturatingMultiply<uint64_t>(llvm::divideCeil(count, multiprocessors),
                                                      stageCycles(tile.rows, tile.columns));
    if (time < least)
      least = time, best = tile;
  }
  chooseBoxes(plan.nest, plan.left, best.rows);
  chooseBoxes(plan.nest, plan.right, best.columns);
  plan.consumers = best.consumers;
  return least < INT64_MAX;
}

/// Stages of 128 bytes of steps, or of 64 where two thirds of those would not be used; false where not even of these.
static bool chooseDepth(WarpgroupPlan &plan) {
  int64_t size = likelySize(plan.nest, plan.depthLoop);
  for (int64_t bytes : {kLongestLine, kLongestLine / 2}) {
    plan.depth = bytes / plan.instruction.elementBytes;
    if (static_cast<int64_t>(llvm::divideCeil(size, plan.depth)) * plan.depth * 2 <= size * 3)
      return true;
  }
  return false;
}

/// The tile and the depth that somebody has chosen; false where there is no such tile, or no copy takes it.
static bool takeTile(WarpgroupPlan &plan, const TileChoice &choice) {
  const WarpgroupTile *tile = llvm::find_if(kWarpgroupTiles, [&](const WarpgroupTile &tile) {
    return tile.rows == choice.rows && tile.columns == choice.columns;
  });
  if (tile == std::end(kWarpgroupTiles) || choice.partRows != tile->partRows() || choice.partColumns != tile->columns ||
      chooseBoxes(plan.nest, plan.left, tile->rows) == INT64_MAX ||
      chooseBoxes(plan.nest, plan.right, tile->columns) == INT64_MAX)
    return false;
  plan.consumers = tile->consumers;
  plan.depth = choice.depth;
  int64_t bytes = choice.depth * plan.instruction.elementBytes;
  return bytes == kLongestLine || bytes == kLongestLine / 2;
}

/// Whether at least half of what the smallest tile computes is asked for.
static bool fillsTiles(const WarpgroupPlan &plan) {
  return likelySize(plan.nest, plan.left.loops) > 32 && likelySize(plan.nest, plan.right.loops) > 32;
}

std::optional<WarpgroupPlan> strata::planWarpgroups(OpBuilder &b, Location loc, const LoopNest &given, bool tf32,
                                                    const TileChoice *choice) {
  if (!given.reduce || given.reduce->inputs.size() != 2)
    return std::nullopt;
  std::optional<ProductSum> product = matchProductSum(given.reduce->op);
  std::optional<WarpgroupInstruction> instruction =
      product ? matchWarpgroupInstruction(*product, tf32) : std::optional<WarpgroupInstruction>();
  if (!instruction || !matchCombiner(given.reduce->op))
    return std::nullopt;
  WarpgroupPlan plan;
  plan.nest = given;
  plan.instruction = *instruction;
  mergeLoops(b, loc, plan.nest);
  for (unsigned input : {0u, 1u})
    divideWindow(plan.nest, input);

  const Access &left = plan.nest.reduce->inputs[0], &right = plan.nest.reduce->inputs[1];
  SmallVector<int> depth;
  for (auto [i, loop] : llvm::enumerate(plan.nest.loops)) {
    bool inLeft = !left.strides[i].is(0), inRight = !right.strides[i].is(0);
    if (!isKnownToHost(loop.size.value))
      return std::nullopt;
    if (loop.reduction)
      depth.push_back(i);
    else if (inLeft == inRight)
      plan.batch.push_back(i);
  }
  for (BulkOperand *operand : {&plan.left, &plan.right}) {
    const Access &access = operand == &plan.left ? left : right;
    std::optional<SmallVector<MapDimension, 5>> dimensions =
        findDimensions(plan.nest, access, instruction->elementBytes);
    if (!dimensions)
      return std::nullopt;
    operand->dimensions = *dimensions;
    operand->across = !plan.nest.loops[operand->dimensions[0].parts[0].loop].reduction;
    for (const MapDimension &dimension : operand->dimensions)
      for (const MapDimension::Part &part : dimension.parts)
        if (!plan.nest.loops[part.loop].reduction && !llvm::is_contained(plan.batch, part.loop))
          operand->loops.push_back(part.loop);
    // Only elements of 16 bits are transposed, and lines of rows are of one loop.
    bool ofBatch = operand->across && llvm::is_contained(plan.batch, operand->dimensions[0].parts[0].loop);
    if (operand->loops.empty() || ofBatch ||
        (operand->across && (instruction->elementBytes != 2 || operand->loops.size() > 1)))
      return std::nullopt;
  }
  // The loop of the steps: neighbours of a side whose lines are rows; else the longest.
  if (depth.empty())
    return std::nullopt;
  plan.depthLoop = *std::max_element(depth.begin(), depth.end(),
                                     [&](int x, int y) { return likelySize(plan.nest, x) < likelySize(plan.nest, y); });
  for (BulkOperand *operand : {&plan.right, &plan.left})
    if (!operand->across)
      plan.depthLoop = operand->dimensions[0].parts[0].loop;
  for (BulkOperand *operand : {&plan.left, &plan.right})
    for (auto [i, dimension] : llvm::enumerate(operand->dimensions)) {
      bool holds =
          llvm::any_of(dimension.parts, [&](const MapDimension::Part &part) { return part.loop == plan.depthLoop; });
      // Steps beyond the last one are zeros if they are beyond the dimension.
      if ((holds && dimension.parts.size() > 1) || (!operand->across && (i == 0) != holds))
        return std::nullopt;
    }
  llvm::copy_if(depth, std::back_inserter(plan.outerDepth), [&](int loop) { return loop != plan.depthLoop; });
  if (left.strides[plan.depthLoop].is(0) || right.strides[plan.depthLoop].is(0) || !fillsTiles(plan) ||
      !chooseDepth(plan))
    return std::nullopt;
  if (choice ? !takeTile(plan, *choice) : !chooseTile(plan))
    return std::nullopt;
  for (BulkOperand *operand : {&plan.left, &plan.right}) {
    operand->elementBytes = instruction->elementBytes;
    operand->numbers = operand->tile();
    operand->depth = plan.depth;
    operand->lineBytes = operand->across ? kLongestLine : plan.depth * instruction->elementBytes;
    if (!setBoxes(*operand, plan.depthLoop))
      return std::nullopt;
  }
  // Where registers suffice, two blocks: one multiplies while the other stores. As many stages as fit the 228 KiB of a
  // multiprocessor of sm_90, of which each block takes one for the system, up to eight.
  plan.together = plan.consumers == 1 && plan.columns() <= 128 ? 2 : 1;
  int64_t sharedBytes = (228 << 10) / plan.together - (1 << 10);
  plan.stages = std::min<int64_t>(8, sharedBytes / (plan.stageBytes() + 16));
  // One stage is multiplied while another one arrives.
  if (choice && choice->stages != 0) {
    if (choice->stages < 2 || choice->stages > plan.stages)
      return std::nullopt;
    plan.stages = choice->stages;
  }
  return plan;
}
