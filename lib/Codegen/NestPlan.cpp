//===- NestPlan.cpp - which loops are lanes and rows ----------------------===//
#include "NestPlan.h"
#include "BodyLoads.h"
#include "CacheBlocks.h"
#include "RegisterTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata;

static bool isVectorizable(Operation &op) {
  if (isa<arith::ConstantOp, linalg::IndexOp, linalg::YieldOp>(op))
    return true;
  if (op.getNumRegions() || !(isa<memref::LoadOp>(op) || OpTrait::hasElementwiseMappableTraits(&op)))
    return false;
  return llvm::all_of(op.getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
}

bool strata::isVectorizable(linalg::GenericOp op) {
  return llvm::all_of(*op.getBody(), [](Operation &inner) { return ::isVectorizable(inner); });
}

bool strata::isVectorizable(std::optional<Stage> &stage) { return !stage || isVectorizable(stage->op); }

bool strata::isVectorizable(LoopNest &nest) {
  bool all = true;
  nest.forEachStage([&](Stage &stage) { all &= isVectorizable(stage.op); });
  return all;
}

Extent strata::stride(const Access &access, int loop) {
  if (loop < 0)
    return {};
  if (access.blockedLoop == loop)
    return {access.withinStride, {}};
  return access.scalar || !access.base ? Extent{} : access.strides[loop];
}

/// Of the widest elements that are vectors: an input that is one number for all lanes is none.
static int64_t elementBits(LoopNest &nest, int lane) {
  int64_t bits = 8;
  auto count = [&](Access &access) {
    if (!access.scalar)
      bits = std::max<int64_t>(bits, access.element.isIndex() ? 64 : access.element.getIntOrFloatBitWidth());
  };
  nest.forEachStage([&](Stage &stage) {
    for (Access &input : stage.inputs)
      if (!input.base || !stride(input, lane).is(0))
        count(input);
    llvm::for_each(stage.outputs, count);
  });
  return bits;
}

/// No vector is longer than the loop.
static int64_t fitWidth(int64_t width, const Extent &size) {
  while (size.isKnown() && width > size.known)
    width /= 2;
  return width;
}

bool strata::dividesIntegers(Operation &op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp,
             arith::RemUIOp>(op);
}

bool strata::canComputeMore(LoopNest &nest) {
  bool can = true;
  nest.forEachStage([&](Stage &stage) {
    for (Operation &op : *stage.op.getBody())
      can &= !isa<memref::LoadOp>(op) && !dividesIntegers(op);
  });
  return can;
}

bool strata::mayDiscardLanes(LoopNest &nest, const NestPlan &plan) {
  if (!nest.reduce || plan.laneIsReduction || (plan.dots && plan.dots->other) || plan.matrix || plan.transposes ||
      plan.interleaves || !nest.tails.empty())
    return false;
  for (Access &access : nest.last().outputs)
    if (!stride(access, plan.lane).is(1))
      return false;
  return canComputeMore(nest);
}

bool strata::hasMasks(Type element, const TargetFacts &target) {
  constexpr unsigned leastBits = 32; // but of the longest vectors
  return target.partLoads && element.isIntOrFloat() &&
         (element.getIntOrFloatBitWidth() >= leastBits || (element.isInteger() && target.vectorBits == 512));
}

bool strata::canLoadParts(LoopNest &nest, const NestPlan &plan, const TargetFacts &target, int64_t width) {
  if (!target.partLoads || plan.blocks || !mayDiscardLanes(nest, plan))
    return false;
  bool can = true;
  auto check = [&](Access &access, int64_t within) {
    Extent lanes = stride(access, plan.lane);
    if (access.blockedLoop >= 0)
      can &= access.blockedLoop == plan.lane && access.withinStride == within && access.block % width == 0;
    else
      can &= access.scalar || !access.base || lanes.is(0) || (lanes.is(1) && hasMasks(access.element, target));
  };
  nest.forEachStage([&](Stage &stage) {
    for (auto [i, access] : llvm::enumerate(stage.inputs)) {
      bool isGroups = plan.dots && &stage == &*nest.reduce && i == plan.dots->weights;
      check(access, isGroups ? plan.dots->groupSize : 1);
    }
    for (auto [access, init] : llvm::zip(stage.outputs, stage.op.getDpsInitsMutable()))
      if (stage.op.payloadUsesValueFromOperand(&init)) // else it is only stored
        check(access, 1);
  });
  return can;
}

bool strata::canMaskLanes(LoopNest &nest, const NestPlan &plan, const NestOptions &options) {
  bool can = plan.width > 1 && !options.isReadAtOnce && !plan.laneBlock && !plan.blocks && !plan.scaled && !plan.dots &&
             !plan.matrix && !plan.transposes && !plan.interleaves && nest.tails.empty() && canComputeMore(nest);
  nest.forEachAccess([&](Access &access) {
    Extent lanes = stride(access, plan.lane);
    can &= access.scalar || !access.base || lanes.is(0) ||
           (access.blockedLoop < 0 && hasMasks(access.element, options) &&
            (lanes.is(1) || (isNear(lanes) && lanes.known <= plan.width / 2)));
  });
  for (Access &access : nest.last().outputs)
    can &= stride(access, plan.lane).is(1);
  return can;
}

/// Whether all lanes of a loop of less than a vector are one whose last lanes are not loaded and not stored, where that
/// takes one pass over the reduction instead of several.
static bool fillsPartOfVector(LoopNest &nest, const NestOptions &options, const NestPlan &plan, const Extent &size) {
  return size.isKnown() && size.known < plan.width && !llvm::isPowerOf2_64(size.known) &&
         canLoadParts(nest, plan, options, llvm::PowerOf2Ceil(size.known));
}

/// A parallel loop along which all results lie contiguously, unless the inputs
/// of a reduction lie better along one of its own loops.
static int chooseLane(LoopNest &nest, const NestOptions &options, NestPlan &plan) {
  if (!isVectorizable(nest))
    return -1;
  auto fits = [&](const Access &access, int loop) {
    Extent s = stride(access, loop);
    return s.is(0) || s.is(1);
  };
  auto misfits = [&](int loop) {
    int64_t count = 0;
    nest.forEachAccess([&](Access &access) {
      if (access.base && !fits(access, loop))
        count += isNear(stride(access, loop)) ? 1 : 2;
    });
    return count;
  };
  int best = -1;
  int64_t bestScore = 0;
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    if (info.reduction || info.size.is(1))
      continue;
    bool fit = bodyLoadsFit(nest, loop), contiguous = fit || canGatherLoads(nest, loop, options);
    for (Access &access : nest.last().outputs)
      contiguous &= stride(access, loop).is(1);
    if (!contiguous)
      continue;
    int64_t score = (fit ? 1000 : 500) - misfits(loop);
    if (score > bestScore) {
      best = loop;
      bestScore = score;
    }
  }
  if (!nest.reduce)
    return best;
  int64_t misfitInputs = 0;
  if (best >= 0)
    for (Access &access : nest.reduce->inputs)
      misfitInputs += !fits(access, best) && !isNear(stride(access, best));
  if (best >= 0 && !misfitInputs)
    return best;
  plan.combiner = matchCombiner(nest.reduce->op);
  if (plan.combiner)
    for (auto [loop, info] : llvm::enumerate(nest.loops)) {
      if (!info.reduction || (info.size.isKnown() && info.size.known < 4))
        continue;
      int64_t worse = !bodyLoadsFit(nest, loop);
      for (Access &access : nest.reduce->inputs)
        worse += !fits(access, loop);
      if (!worse) {
        plan.laneIsReduction = true;
        return loop;
      }
    }
  return best;
}

static int64_t chooseTile(const Extent &size, int64_t most) {
  if (!size.isKnown())
    return std::min(kWindowRows, most);
  if (size.known <= most)
    return std::max<int64_t>(1, size.known);
  for (int64_t tile = most; tile >= (most + 1) / 2; --tile)
    if (size.known % tile == 0)
      return tile;
  return most;
}

namespace {
/// A loop whose iterations may be rows.
struct RowLoop {
  int64_t shared = -1, distance = 0; ///< inputs that all rows share; elements of the result from row to row
  bool isKnown = true, areSome = false;

  /// Rows of a known number, if they are some, are better than those of an unknown one, which may be a single one; else
  /// those that lie nearest.
  bool isBetterThan(const RowLoop &other) const {
    if (shared != other.shared)
      return shared > other.shared;
    if (shared > 0 && isKnown != other.isKnown && (areSome || other.areSome))
      return isKnown;
    return distance < other.distance;
  }
};
} // namespace

/// Which dimension of the result the loop walks: those of later ones lie nearer to one another. -1: none.
static int placeInResult(const Stage &stage, int loop) {
  linalg::GenericOp op = stage.op;
  int place = -1;
  for (auto [i, expr] : llvm::enumerate(op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && stage.loopOf[dim.getPosition()] == loop)
      place = i;
  return place;
}

/// Rows share what does not depend on them, the vectors of weights; tells whether there is such a thing.
static bool chooseRow(LoopNest &nest, NestPlan &plan) {
  RowLoop best;
  const Access &result = nest.last().outputs[0];
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    bool isEven = true; // rows lie at equal distances
    nest.forEachAccess([&, loop = static_cast<int>(loop)](Access &access) { isEven &= access.blockedLoop != loop; });
    if (info.reduction || static_cast<int>(loop) == plan.lane || info.size.is(1) || !isEven)
      continue;
    RowLoop rows{0, INT64_MAX, info.size.isKnown(), info.size.isKnown() && info.size.known >= kSomeRows};
    for (Access &access : nest.reduce->inputs)
      rows.shared += access.base && !stride(access, plan.lane).is(0) && stride(access, loop).is(0);
    Extent out = stride(result, loop);
    rows.distance = out.isKnown() ? out.known : INT64_MAX - 2 - placeInResult(nest.last(), loop);
    if (rows.isBetterThan(best)) {
      best = rows;
      plan.row = loop;
    }
  }
  return best.shared > 0;
}

/// Where an input does not lie along the lanes but along another loop, that one gives rows for squares of
/// them.
static bool chooseRowToTranspose(LoopNest &nest, const NestOptions &options, NestPlan &plan) {
  for (Access &access : nest.finish->inputs) {
    Extent lanes = stride(access, plan.lane);
    if (!access.base || lanes.is(0) || lanes.is(1) || plan.width < 4)
      continue;
    for (auto [loop, info] : llvm::enumerate(nest.loops)) {
      if (static_cast<int>(loop) == plan.lane || !stride(access, loop).is(1) ||
          (info.size.isKnown() && info.size.known < 4))
        continue;
      // Larger squares would be much code for little.
      plan.width = std::min<int64_t>(plan.width, 32);
      plan.row = loop;
      plan.rowTile = std::min<int64_t>(plan.width, 16);
      if (info.size.isKnown())
        while (plan.rowTile > info.size.known)
          plan.rowTile /= 2;
      // Rows of the result lie far apart: whole lines of each are written at once, where that takes a few squares.
      Type element = nest.finish->outputs[0].element;
      int64_t bits = element.isIntOrFloat() ? std::max(8u, element.getIntOrFloatBitWidth()) : 64;
      int64_t line = 8 * options.lineBytes / bits;
      const Extent &size = nest.loops[plan.lane].size;
      if (size.isKnown() && size.known >= line && plan.width <= plan.rowTile)
        plan.vectorTile = std::max<int64_t>(1, line / plan.width);
      plan.transposes = true;
      return true;
    }
  }
  return false;
}

/// Where results lie in groups, of one element of each of a few rows (the channels of an image), but inputs along the
/// rows: vectors of all rows are read and mixed.
static bool chooseRowsToInterleave(LoopNest &nest, const NestOptions &options, NestPlan &plan) {
  constexpr int64_t mostRows = 4;
  Stage &stage = *nest.finish;
  if (stage.outputs.size() != 1 || !isVectorizable(nest))
    return false;
  Access &output = stage.outputs[0];
  if (!output.base || output.blockedLoop >= 0 || !output.element.isIntOrFloat() || output.element.isInteger(1))
    return false;
  for (auto [row, rows] : llvm::enumerate(nest.loops)) {
    if (!rows.size.isKnown() || rows.size.known < 2 || rows.size.known > mostRows || !stride(output, row).is(1))
      continue;
    for (auto [lane, lanes] : llvm::enumerate(nest.loops)) {
      auto lies = [&, lane = lane](Access &access) {
        return !access.base || (stride(access, lane).is(1) && access.blockedLoop != static_cast<int>(lane));
      };
      if (lane == row || !stride(output, lane).is(rows.size.known) || !llvm::all_of(stage.inputs, lies) ||
          !bodyLoadsFit(nest, lane) || (lanes.size.isKnown() && lanes.size.known < 4))
        continue;
      plan.lane = lane;
      plan.row = row;
      plan.rowTile = rows.size.known;
      plan.width = fitWidth(std::max<int64_t>(2, options.vectorBits / elementBits(nest, lane)), lanes.size);
      plan.interleaves = true;
      return true;
    }
  }
  return false;
}

/// A product of what is one number for all lanes and what is a vector for all rows.
static bool isProduct(LoopNest &nest, const NestPlan &plan) {
  bool numbers = false, vectors = false;
  for (Access &access : nest.reduce->inputs) {
    bool lanes = access.base && !stride(access, plan.lane).is(0), rows = !stride(access, plan.row).is(0);
    if (lanes && rows)
      return false;
    vectors |= lanes;
    numbers |= access.base && rows;
  }
  return numbers && vectors && plan.row >= 0;
}

static std::optional<int64_t> knownSize(const Extent &size) {
  return size.isKnown() ? std::optional<int64_t>(size.known) : std::nullopt;
}

/// Whether some rows read taps in the padding that others do not.
static bool isPaddedAlongRows(const LoopNest &nest, const NestPlan &plan) {
  return llvm::any_of(nest.padded, [&](const PaddedLoop &padded) { return padded.position == plan.row; });
}

/// Rows and vectors of a product. Packed weights are walked in equal parts of their blocks.
static void chooseProductTile(LoopNest &nest, const TargetFacts &target, int64_t block, NestPlan &plan) {
  std::optional<int64_t> vectors = knownSize(nest.loops[plan.lane].size);
  if (vectors)
    vectors = llvm::divideCeil(*vectors, plan.width);
  // Unpacked rows of more vectors would lie in too many lines of the cache at once.
  int64_t inBlock = std::max<int64_t>(1, block / plan.width);
  int64_t most = block ? inBlock & -inBlock : 4;
  std::optional<int64_t> rows = knownSize(nest.loops[plan.row].size);
  std::optional<int64_t> distance;
  for (const Access &access : nest.reduce->inputs)
    if (const Extent &row = stride(access, plan.row); !row.is(0) && row.isKnown() && access.element.isIntOrFloat())
      distance = row.known * access.element.getIntOrFloatBitWidth() / 8;
  RegisterTile tile = chooseRegisterTile(target, rows, vectors, most, mostRowsInCache(target, distance));
  plan.rowTile = tile.rows;
  plan.vectorTile = tile.vectors;
  plan.evenRows = !rows || (tile.even && !isPaddedAlongRows(nest, plan));
  if (!rows)
    plan.rowTile = std::min(plan.rowTile, kEvenTiles);
}

const Access *strata::windowData(LoopNest &nest, const NestPlan &plan) {
  const Access *data = nullptr;
  for (const Access &access : nest.reduce->inputs)
    if (access.base && !stride(access, plan.row).is(0)) {
      if (data)
        return nullptr;
      data = &access;
    }
  return data && (!stride(*data, plan.lane).is(0) || isOfGroups(*data, plan.lane)) ? data : nullptr;
}

/// Where the data of weighted sums are vectors, and not numbers for all lanes, each is used for all of the rows that
/// read it, at one tap of a window or another: of the loop over these taps, which then has code for each.
static void chooseWindow(LoopNest &nest, NestPlan &plan) {
  constexpr int64_t mostTaps = 7;
  if (plan.row < 0 || nest.reduce->inputs.size() != 2 || nest.reduce->outputs.size() != 1)
    return;
  const Access *data = windowData(nest, plan);
  if (!data || !data->strides[plan.row].isKnown() || data->strides[plan.row].known <= 0)
    return;
  int64_t distance = data->strides[plan.row].known, best = INT64_MAX;
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    const Extent &step = data->strides[loop];
    if (!info.reduction || !info.size.isKnown() || info.size.known > mostTaps || !step.isKnown() || step.known <= 0)
      continue;
    // So far on, the same is read again.
    int64_t again = std::lcm(step.known, distance);
    if (again >= step.known * info.size.known || again >= best)
      continue;
    best = again;
    plan.window = loop;
  }
}

int64_t strata::reductionPoints(const LoopNest &nest) {
  int64_t points = 1;
  for (const Loop &loop : nest.loops)
    points *= loop.reduction && loop.size.isKnown() ? loop.size.known : 1;
  return points;
}

std::optional<int64_t> strata::elementsOf(const LoopNest &nest, const Access &access) {
  int64_t elements = 1;
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (!stride(access, loop).is(0)) {
      if (!info.size.isKnown())
        return std::nullopt;
      elements = llvm::SaturatingMultiply<uint64_t>(elements, std::max<int64_t>(1, info.size.known));
    }
  return elements;
}

/// Vectors that are no packed weights, and lie too far apart for the cache, or across its lines where they are not in
/// the first level: the first rows that use a block of lanes copy it to where it is contiguous, and the others read it
/// there.
static void chooseCopy(LoopNest &nest, const NestOptions &options, NestPlan &plan) {
  const Extent &rows = nest.loops[plan.row].size;
  // The first rows may leave out taps that lie in the padding, which others read.
  if ((rows.isKnown() && rows.known <= plan.rowTile) || isPaddedAlongRows(nest, plan))
    return;
  int64_t tiles = rows.isKnown() ? llvm::divideCeil(rows.known, plan.rowTile) : 0;
  for (auto [input, access] : llvm::enumerate(nest.reduce->inputs)) {
    if (!access.base || access.blockedLoop >= 0 || !stride(access, plan.lane).is(1) || !access.element.isIntOrFloat())
      continue;
    int64_t bytes = access.element.getIntOrFloatBitWidth() / 8;
    if (bytes == 0)
      continue;
    bool knows = true;
    int64_t distance = 0; // the largest from one vector to the next, which all together have if nothing lies between
    for (auto [loop, info] : llvm::enumerate(nest.loops)) {
      if (!info.reduction) {
        // A loop between the lanes and the rows, for each of whose iterations it is made again.
        bool isBetween = static_cast<int>(loop) != plan.lane && static_cast<int>(loop) != plan.row;
        knows &= !isBetween || !stride(access, loop).is(0) || tiles >= kTilesForCopy;
        continue;
      }
      knows &= info.size.isKnown();
      bytes *= info.size.known;
      const Extent &step = stride(access, loop);
      distance = std::max(distance, step.isKnown() ? step.known * info.size.known : INT64_MAX);
    }
    int64_t together = bytes / static_cast<int64_t>(access.element.getIntOrFloatBitWidth() / 8) * plan.vectorTile;
    const Extent &lanes = nest.loops[plan.lane].size;
    auto isMore = [&](int64_t than) { return !lanes.isKnown() || bytes * lanes.known > than; };
    bool areFar = distance > together * plan.width && isMore(options.nearCacheBytes);
    if (knows && distance && (areFar || (access.isGiven && isMore(options.nearCacheBytes / 2))))
      plan.copied = input;
  }
}

/// Whether the elements that one row reads all lie before those of the next one: nothing is gained by reading both at
/// once.
static bool isFar(LoopNest &nest, const NestPlan &plan) {
  return plan.row >= 0 && llvm::all_of(nest.reduce->inputs, [&](Access &access) {
           if (access.scalar)
             return true;
           int64_t elements = 1;
           bool isKnown = true;
           for (auto [loop, info] : llvm::enumerate(nest.loops))
             if ((info.reduction || static_cast<int>(loop) == plan.lane) && !stride(access, loop).is(0)) {
               isKnown &= info.size.isKnown();
               elements *= info.size.isKnown() ? info.size.known : 1;
             }
           // A distance that only the run tells is a multiple of a size that it tells.
           Extent distance = stride(access, plan.row);
           return distance.isKnown() ? isKnown && distance.known >= elements : !isKnown;
         });
}

/// A sum over an outer dimension reads as many neighbours in a row as there are sums in registers, then from far away:
/// memory gives less than half of what it gives in order. So sums of longer pieces of a row wait in the first-level
/// cache, and only some rows are added up in registers before they go back.
static void chooseLaneBlock(LoopNest &nest, const NestOptions &options, NestPlan &plan) {
  const Extent &lanes = nest.loops[plan.lane].size;
  Type element = nest.reduce->outputs[0].element;
  if (plan.row >= 0 || nest.reduce->outputs.size() != 1 || !lanes.isKnown() || element.isInteger(1))
    return;
  int64_t depth = 0, elements = 1, others = 1;
  for (auto [number, loop] : llvm::enumerate(nest.loops)) {
    int64_t size = loop.size.isKnown() ? loop.size.known : 1 << 20;
    if (loop.reduction && depth)
      return;
    if (loop.reduction)
      depth = size;
    else if (static_cast<int>(number) != plan.lane)
      others = std::min<int64_t>(others * size, 1 << 20);
    elements = std::min<int64_t>(elements * size, int64_t(1) << 40);
  }
  int64_t tile = plan.vectorTile * plan.width, bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  if (lanes.known < 2 * tile || depth < 2 * plan.depthBlock || elements * bytes < options.cacheBytes)
    return;
  for (Access &access : nest.reduce->inputs)
    if (access.blockedLoop >= 0 || (!stride(access, plan.lane).is(0) && !stride(access, plan.lane).is(1)))
      return;
  int64_t most = options.nearCacheBytes / 4 / bytes;
  if (options.threads && others < 8)
    most = std::min(most, std::max(options.pageBytes / bytes, lanes.known / 16)); // a page is best read whole
  plan.laneBlock = std::min(most, lanes.known) / tile * tile;
}

/// Whether whole lines are written, more of them than will be found in a cache when they are read: then they need not
/// be fetched before, and leave the caches to what is read.
static bool streamsResults(LoopNest &nest, const NestOptions &options, const NestPlan &plan) {
  int64_t points = 1;
  for (const Loop &loop : nest.loops) {
    if (!loop.size.isKnown())
      return false;
    points *= loop.size.known;
  }
  return llvm::all_of(nest.finish->outputs, [&](Access &access) {
    if (!access.element.isIntOrFloat() || access.blockedLoop >= 0 || !access.base)
      return false;
    int64_t bytes = access.element.getIntOrFloatBitWidth() / 8, line = bytes ? options.lineBytes / bytes : 0;
    IntegerAttr offset;
    if (access.offset && (!line || !matchPattern(access.offset, m_Constant(&offset)) || offset.getInt() % line))
      return false;
    // Buffers begin with a line.
    for (auto [loop, stride] : llvm::enumerate(access.strides))
      if (static_cast<int>(loop) != plan.lane && (!line || !stride.isKnown() || stride.known % line))
        return false;
    return line && plan.vectorTile * plan.width % line == 0 &&
           points * bytes >= std::max(4 * options.cacheBytes, options.streamBytes);
  });
}

/// Copies of long runs are the C library's, which knows how its machine writes lines without reading them first. So are
/// those of rows that are found by their numbers.
static void chooseRuns(LoopNest &nest, NestPlan &plan) {
  constexpr int64_t shortBytes = 2048, mostBytes = 64 << 10;
  if (nest.init || !nest.tails.empty() || plan.transposes || plan.interleaves || nest.finish->outputs.size() != 1)
    return;
  Access &output = nest.finish->outputs[0];
  auto isRun = [&](Access &access) { return access.base && access.blockedLoop < 0 && stride(access, plan.lane).is(1); };
  Type copied;
  if (nest.finish->inputs.size() == 1 && isCopy(nest.finish->op.getBody()) && isRun(nest.finish->inputs[0]))
    copied = nest.finish->inputs[0].element;
  else if (auto load = getRunOfBody(nest, plan.lane))
    copied = load.getType();
  const Extent &run = nest.loops[plan.lane].size;
  int64_t bytes = bytesOf(output.element);
  if (copied != output.element || !isRun(output) || (run.isKnown() && run.known * bytes < shortBytes))
    return;
  plan.copiesRuns = true;
  plan.streams = false;
  plan.vectorTile = mostBytes / bytes / plan.width;
}

/// Of so few rows that multiplications by the factors are a good part of the work. All rows are computed alike: those
/// of one tile, or of tiles that all have so few.
static void planScaled(LoopNest &nest, const NestOptions &options, NestPlan &plan) {
  std::optional<ComputedWeights> weights = matchComputedWeights(nest.reduce->op);
  auto scaled = weights ? weights->value.getDefiningOp<arith::MulFOp>() : nullptr;
  auto scale = scaled ? dyn_cast<BlockArgument>(scaled.getRhs()) : BlockArgument();
  if (!scale || !scaled.getLhs().getDefiningOp())
    return;
  if (plan.rowTile > kScaledRows && options.mostRows == INT64_MAX)
    return;
  if (!stride(nest.reduce->inputs[weights->data], plan.lane).is(0)) // of a single column: lanes are rows
    return;
  ScaledPlan result{*weights, scaled.getLhs(), scale.getArgNumber(), {}};
  const Access &access = nest.reduce->inputs[result.scale];
  int64_t inner = 0;
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (info.reduction && !stride(access, loop).is(0))
      result.outer.push_back(loop);
    else
      inner += info.reduction;
  if (access.base && inner)
    plan.scaled = result;
}

NestPlan strata::planNest(LoopNest &nest, const NestOptions &options) {
  NestPlan plan;
  if (planMatrixTiles(nest, options, plan))
    return plan;
  if (!nest.reduce && chooseRowsToInterleave(nest, options, plan))
    return plan;
  bool dots = planDots(nest, options, plan), blocks = planBlockDots(nest, options, plan);
  if (!dots)
    plan.lane = chooseLane(nest, options, plan);
  if (plan.lane < 0)
    return plan;
  bool crossed = dots && plan.dots->other;
  int64_t bits = dots ? (crossed ? 2 : 1) * 32 / plan.dots->groupSize : elementBits(nest, plan.lane); // of a step
  if (!dots)
    plan.width = std::max<int64_t>(2, options.vectorBits / bits);
  const Extent &size = nest.loops[plan.lane].size;
  plan.width =
      fillsPartOfVector(nest, options, plan, size) ? llvm::PowerOf2Ceil(size.known) : fitWidth(plan.width, size);
  auto atMost = [&](int64_t vectors) {
    return size.isKnown() ? std::min(vectors, std::max<int64_t>(1, size.known / plan.width)) : vectors;
  };
  if (!nest.reduce) {
    if (!chooseRowToTranspose(nest, options, plan))
      plan.vectorTile = bodyLoadsFit(nest, plan.lane) ? atMost(4) : 1; // gathers wait for nothing
    plan.streams = streamsResults(nest, options, plan);
    chooseRuns(nest, plan);
    return plan;
  }
  if (plan.laneIsReduction) {
    plan.vectorTile = atMost(4);
    planRowsOfSums(nest, options, plan);
    return plan;
  }
  bool reuse = chooseRow(nest, plan);
  if (!reuse && isFar(nest, plan))
    plan.row = -1;
  int64_t block = 0;
  for (Access &access : nest.reduce->inputs)
    if (access.blockedLoop == plan.lane)
      block = access.block;
  // Rows of a product that share nothing are read as wide as they are, as far as sums fit.
  int64_t together = plan.row >= 0 ? 2 : nest.reduce->inputs.size() > 1 ? 8 : 4;
  plan.vectorTile = block ? std::max<int64_t>(1, block / plan.width) : atMost(together);
  chooseWindow(nest, plan);
  TargetFacts target = options;
  if (crossed)
    target.registers -= 5; // of two vectors: the other factors' weights and data, and the sums that are multiplied
  if (blocks)
    target.registers = target.registers / 2 - 2; // sums of integers, then of floats; codes
  if (dots && plan.dots->inPairs)
    target.registers -= 2; // pairs, and ones
  if (plan.window >= 0) {  // Weights of all taps stay in registers, too; vectors share no data.
    target.registers -= nest.loops[plan.window].size.known;
    constexpr int64_t fewRows = 8;
    const Extent &rows = nest.loops[plan.row].size;
    plan.vectorTile = rows.isKnown() && rows.known < fewRows && !block ? atMost(2) : 1;
  }
  int64_t accumulators = target.registers - 4;
  if (isProduct(nest, plan)) {
    chooseProductTile(nest, target, block, plan);
    plan.rowTile = std::min(plan.rowTile, options.mostRows);
  } else if (plan.row >= 0) // Without reuse: sums enough that the one need not wait for the other.
    plan.rowTile =
        chooseTile(nest.loops[plan.row].size, std::max<int64_t>(1, reuse ? accumulators / plan.vectorTile
                                                                         : std::max<int64_t>(4, 8 / plan.vectorTile)));
  // Of wide windows twice as many: each sum waits less for its own last product, and more rows share what is read.
  constexpr int64_t manyTaps = 5;
  if (plan.window >= 0 && !nest.loops[plan.row].size.isKnown() && nest.loops[plan.window].size.known >= manyTaps &&
      accumulators >= 2 * kWindowRows)
    plan.rowTile = 2 * kWindowRows;
  if (blocks)
    planBlockTiles(nest, options, block, plan);
  else if (isProduct(nest, plan))
    chooseCopy(nest, options, plan);
  std::optional<PlanChoice> choice = getPlanChoice(nest.reduce->op);
  if (choice && !isPossible(nest, plan, options, *choice)) {
    nest.reduce->op.emitWarning("the plan that was chosen is not possible on this target");
    choice.reset();
  }
  if (choice) {
    plan.evenRows &= plan.rowTile == choice->rows || !nest.loops[plan.row].size.isKnown();
    plan.rowTile = choice->rows;
    plan.vectorTile = choice->vectors;
  }
  if (!blocks && plan.window < 0)
    planScaled(nest, options, plan);
  // The first tile copies, so the others have to be as it is.
  plan.evenRows &= plan.copied < 0;
  plan.laneOutermost =
      plan.copied >= 0 || plan.hasBlocksOnUnit() || (reuse && hasLargeWeights(nest, plan, bits, options.cacheBytes));
  if (choice)
    plan.laneOutermost = choice->lanesOutermost;
  planCacheBlocks(nest, options, bits, blocks ? 8 : bits, plan);
  if (choice)
    plan.rowBlock = choice->rowBlock;
  if (!reuse && !plan.dots && !isProduct(nest, plan))
    chooseLaneBlock(nest, options, plan);
  return plan;
}
