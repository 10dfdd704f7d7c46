//===- MatrixTiles.cpp - tiles of a nest on a matrix unit -----------------===//
#include "MatrixTiles.h"
#include "ApproximateMath.h"
#include "BodyLoads.h"
#include "ProductSums.h"
#include "RowLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata;

static constexpr int64_t tileRows = MatrixUnit::mostRows, tileColumns = MatrixUnit::columns;

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

static StringRef instructionFor(const ProductSum &sum, unsigned data, const NestOptions &options) {
  if (options.bf16Tiles && sum.sum.isF32() && sum.elements[0].isBF16() && sum.elements[1].isBF16())
    return "amx.tdpbf16ps";
  if (!options.int8Tiles || !sum.sum.isInteger(32) || !sum.elements[0].isInteger(8) || !sum.elements[1].isInteger(8))
    return {};
  static constexpr StringRef names[2][2] = {{"amx.tdpbssd", "amx.tdpbsud"}, {"amx.tdpbusd", "amx.tdpbuud"}};
  return names[sum.isUnsigned[data]][sum.isUnsigned[1 - data]];
}

/// The loop of the reduction in groups: of data that lies group after group.
static bool findDepth(LoopNest &nest, MatrixPlan &matrix, const Access &data, const Access &weights,
                      const std::optional<TileShape> &shape) {
  int64_t group = 32 / data.element.getIntOrFloatBitWidth();
  matrix.group = matrix.depth = -1;
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (info.reduction && stride(data, loop).is(1) && stride(weights, loop).is(1) && info.size.is(group))
      matrix.group = loop;
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (info.reduction && stride(data, loop).is(group) && stride(weights, loop).isKnown() && info.size.isKnown())
      matrix.depth = loop;
  if (matrix.group < 0 || matrix.depth < 0)
    return false;
  int64_t groups = nest.loops[matrix.depth].size.known;
  matrix.depthStep = shape ? shape->depth : MatrixUnit::groupsOfStep(groups);
  return groups % matrix.depthStep == 0;
}

/// Whether tiles may take iterations of this loop as rows: all multiply the same weights.
static bool canBeRows(const LoopNest &nest, const NestPlan &plan, const Access &data, const Access &weights, int loop) {
  return !nest.loops[loop].reduction && loop != plan.lane && loop != data.blockedLoop && stride(weights, loop).is(0);
}

/// The rows: the longest loop that the weights do not depend on; where it fills one tile only, or a few and one, the
/// second one's are iterations of the next longest. A loop of an unknown size may be a batch of one: only few rows are
/// worse.
static void findRows(LoopNest &nest, NestPlan &plan, const Access &data, const Access &weights,
                     const std::optional<TileShape> &shape) {
  MatrixPlan &matrix = *plan.matrix;
  SmallVector<int> candidates;
  for (int loop = 0, loops = nest.loops.size(); loop < loops; ++loop)
    if (canBeRows(nest, plan, data, weights, loop) && !stride(data, loop).is(0))
      candidates.push_back(loop);
  auto sizeOf = [&](int loop) {
    const Extent &size = nest.loops[loop].size;
    return size.isKnown() ? size.known : kSomeRows - 1;
  };
  // Of equally long ones the inner one, whose rows lie closer.
  llvm::stable_sort(candidates, [&](int a, int b) {
    int64_t x = std::min(tileRows, sizeOf(a)), y = std::min(tileRows, sizeOf(b));
    return x != y ? x > y : a > b;
  });
  matrix.rows = {1, {}};
  matrix.rowTiles = 1;
  if (candidates.empty())
    return;
  plan.row = candidates[0];
  const Extent &size = nest.loops[plan.row].size;
  matrix.rows = {tileRows, size.value};
  matrix.rowTiles = 2;
  if (!size.isKnown()) {
    plan.rowTile = 2 * tileRows;
    return;
  }
  // Of one size: the fewest.
  int64_t tiles = llvm::divideCeil(size.known, tileRows);
  matrix.rows.known = tiles > 1 && shape && shape->rows ? shape->rows : llvm::divideCeil(size.known, tiles);
  tiles = llvm::divideCeil(size.known, matrix.rows.known);
  plan.rowTile = 2 * matrix.rows.known;
  // The last one of a few has no second in its line, but in the next.
  constexpr int64_t few = 7;
  if (tiles % 2 == 0 || tiles > few)
    return;
  for (int loop : ArrayRef(candidates).drop_front())
    if (nest.loops[loop].size.isKnown() && nest.loops[loop].size.known > (tiles == 1 ? 1 : few)) {
      matrix.second = loop;
      plan.rowTile = matrix.rows.known;
      return;
    }
  if (tiles == 1) {
    matrix.rowTiles = 1;
    plan.rowTile = matrix.rows.known;
  }
}

/// Tiles of `rows` pixels altogether, of any line; those of one line begin `pitch` behind those of the line before.
static void runAcross(NestPlan &plan, int pixel, int line, const Extent &pitch, const Extent &rows) {
  MatrixPlan &matrix = *plan.matrix;
  plan.row = pixel;
  plan.rowTile = 2 * tileRows;
  matrix.second = line;
  matrix.pitch = pitch;
  matrix.rowsAcross = rows;
  matrix.rows = {tileRows, rows.value};
  matrix.rowTiles = 2;
}

/// The lines of an image with a border lie `pitch` pixels apart. Where that is clearly cheaper, rows are all pixels
/// from the first to the last, those between the lines among them, whose sums nobody wants. Without a border there are
/// none, and what it takes to find the line of each row, some two steps for a tile, is little beside many steps.
static void runAcrossBorders(LoopNest &nest, NestPlan &plan, const Access &data, const Access &weights) {
  int64_t steps = reductionPoints(nest) / (nest.loops[plan.matrix->group].size.known * plan.matrix->depthStep);
  auto isKnown = [&](int loop) {
    return canBeRows(nest, plan, data, weights, loop) && nest.loops[loop].size.isKnown() &&
           stride(data, loop).isKnown() && stride(data, loop).known > 0;
  };
  for (int pixel = 0, loops = nest.loops.size(); pixel < loops; ++pixel)
    for (int line = 0; line < loops; ++line) {
      if (line == pixel || !isKnown(pixel) || !isKnown(line))
        continue;
      int64_t step = stride(data, pixel).known, far = stride(data, line).known, pitch = far / step;
      int64_t pixels = nest.loops[pixel].size.known, lines = nest.loops[line].size.known;
      int64_t rows = (lines - 1) * pitch + pixels, most = std::max(pixels, lines);
      if (far % step || pitch < pixels || rows <= tileRows)
        continue;
      // Otherwise it is tiles of the longer loop. The unit takes as long for one that is not full.
      int64_t apart = std::min(pixels, lines) * llvm::divideCeil(most, tileRows);
      int64_t across = llvm::divideCeil(rows, tileRows);
      if (10 * across > 8 * apart && (pitch > pixels || across * (2 * steps + 5) >= apart * 2 * steps))
        continue;
      return runAcross(plan, pixel, line, {pitch, {}}, {rows, {}});
    }
}

/// The product of two sizes, behind what gives them; null: there is no such place.
static Value multiplyBehind(const Extent &x, const Extent &y) {
  Operation *last = nullptr;
  Value any;
  for (Value size : {x.value, y.value}) {
    if (!size)
      continue;
    any = size;
    Operation *maker = size.getDefiningOp();
    bool isArgument = !maker && isa<func::FuncOp>(size.getParentBlock()->getParentOp());
    if (!isArgument && (!maker || (last && maker->getBlock() != last->getBlock())))
      return {};
    if (maker && (!last || last->isBeforeInBlock(maker)))
      last = maker;
  }
  OpBuilder b(any.getContext());
  if (last)
    b.setInsertionPointAfter(last);
  else
    b.setInsertionPointToStart(any.getParentBlock());
  auto value = [&](const Extent &extent) -> Value {
    return extent.value ? extent.value : b.create<arith::ConstantIndexOp>(any.getLoc(), extent.known);
  };
  return b.create<arith::MulIOp>(any.getLoc(), value(x), value(y));
}

/// Lines of which a size is only known in the run, but that their data follow each other without a border: rows are all
/// pixels. What is written may have one.
static void runAcrossLines(LoopNest &nest, NestPlan &plan, const Access &data, const Access &weights) {
  auto fits = [&](int loop) { return canBeRows(nest, plan, data, weights, loop); };
  for (int line = 0, loops = nest.loops.size(); line < loops; ++line) {
    int pixel = data.inside[line];
    if (pixel < 0 || !fits(line) || !fits(pixel) || !stride(data, pixel).isKnown())
      continue;
    const Extent &lines = nest.loops[line].size, &pixels = nest.loops[pixel].size;
    if (lines.isKnown() && pixels.isKnown())
      continue;
    if (Value rows = multiplyBehind(lines, pixels))
      return runAcross(plan, pixel, line, pixels, {0, rows});
  }
}

Extent strata::rowsOf(const LoopNest &nest, const NestPlan &plan, int loop) {
  bool isAcross = plan.matrix && plan.matrix->runsAcross() && loop == plan.row;
  return isAcross ? plan.matrix->rowsAcross : nest.loops[loop].size;
}

/// Weights that are too many for the cache are read once for as many rows as have their data there.
static void chooseBlocks(LoopNest &nest, NestPlan &plan, const Access &data, const TargetFacts &target) {
  int64_t cacheBytes = target.cacheBytes / 4;
  int64_t rowBytes = data.element.getIntOrFloatBitWidth() / 8;
  for (const Loop &loop : nest.loops)
    if (loop.reduction)
      rowBytes *= loop.size.isKnown() ? loop.size.known : 64;
  const Extent &lanes = nest.loops[plan.lane].size;
  plan.laneOutermost = !lanes.isKnown() || rowBytes * lanes.known > cacheBytes;
  // Tiles of two lines, or across the borders of lines, are of few rows.
  bool isOfLines = plan.matrix->second >= 0 && !(plan.matrix->pitch == nest.loops[plan.row].size);
  if (!plan.laneOutermost || plan.row < 0 || isOfLines)
    return;
  const Extent rows = rowsOf(nest, plan, plan.row);
  int64_t block = cacheBytes / (rowBytes * plan.rowTile) * plan.rowTile;
  if (block > 0 && (!rows.isKnown() || rows.known > 3 * block / 2))
    plan.matrix->rowBlock = block;
}

static TileShape shapeOf(const MatrixPlan &matrix) {
  return {matrix.rows.value ? 0 : matrix.rows.known, matrix.depthStep};
}

bool strata::planMatrixTiles(LoopNest &nest, const NestOptions &options, NestPlan &plan) {
  if (!nest.reduce || nest.reduce->outputs.size() != 1 || !isVectorizable(nest.init) || !isVectorizable(nest.finish))
    return false;
  std::optional<ProductSum> sum = matchProductSum(nest.reduce->op);
  if (!sum)
    return false;
  MatrixPlan matrix;
  for (unsigned input : {0u, 1u}) {
    const Access &weights = nest.reduce->inputs[input], &data = nest.reduce->inputs[1 - input];
    int lane = weights.blockedLoop;
    matrix.multiply = instructionFor(*sum, 1 - input, options);
    if (lane < 0 || !data.base || weights.withinStride == 1 || matrix.multiply.empty() || !stride(data, lane).is(0) ||
        isOfGroups(data, lane) || !bodyLoadsFit(nest, lane) || !findDepth(nest, matrix, data, weights, options.tiles))
      continue;
    matrix.weights = input;
    matrix.data = 1 - input;
    plan.lane = lane;
    plan.width = tileColumns;
    plan.vectorTile = weights.block / tileColumns;
    plan.matrix = matrix;
    findRows(nest, plan, data, weights, options.tiles);
    if (!options.tiles || options.tiles->rows == tileRows)
      runAcrossBorders(nest, plan, data, weights);
    if (!options.tiles && !plan.matrix->runsAcross())
      runAcrossLines(nest, plan, data, weights);
    if (options.tiles && !(shapeOf(*plan.matrix) == *options.tiles)) {
      plan = {};
      continue;
    }
    chooseBlocks(nest, plan, data, options);
    return true;
  }
  return false;
}

std::optional<TileShape> strata::chooseTileShape(func::FuncOp kernel, const NestOptions &options) {
  if (!options.bf16Tiles && !options.int8Tiles)
    return std::nullopt;
  // Roughly how much longer vectors take.
  constexpr double byVectors = 8;
  auto isProduct = [&](linalg::GenericOp op) {
    std::optional<ProductSum> sum = op.getNumDpsInputs() == 2 ? matchProductSum(op) : std::nullopt;
    return sum && !instructionFor(*sum, 0, options).empty();
  };
  int64_t products = 0;
  kernel.walk([&](linalg::GenericOp op) { products += isProduct(op); });
  if (products < 2)
    return std::nullopt;
  KernelNests view = viewNests(kernel, options);
  SmallVector<std::pair<LoopNest *, double>> nests;
  SmallVector<TileShape> shapes;
  for (KernelNests::Nest &each : view.nests) {
    NestPlan plan;
    if (!planMatrixTiles(each.nest, options, plan))
      continue;
    double work = 1;
    for (const Loop &loop : each.nest.loops)
      work *= loop.size.isKnown() ? static_cast<double>(loop.size.known) : tileRows;
    if (TileShape shape = shapeOf(*plan.matrix); !llvm::is_contained(shapes, shape))
      shapes.push_back(shape);
    nests.push_back({&each.nest, work});
  }
  if (shapes.size() < 2)
    return shapes.empty() ? std::nullopt : std::optional(shapes.front());
  SmallVector<TileShape> candidates;
  for (const TileShape &shape : shapes)
    for (int64_t depth = tileRows; depth > 0; --depth)
      candidates.push_back({shape.rows, depth});
  std::optional<TileShape> best;
  double least = 0;
  for (const TileShape &candidate : candidates) {
    NestOptions with = options;
    with.tiles = candidate;
    double cost = 0;
    for (auto &[nest, work] : nests) {
      NestPlan plan;
      int64_t rows = candidate.rows ? candidate.rows : tileRows;
      cost += planMatrixTiles(*nest, with, plan) ? work / static_cast<double>(rows * candidate.depth)
                                                 : work * byVectors / (tileRows * tileRows);
    }
    if (!best || cost < least) {
      best = candidate;
      least = cost;
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// The code
//===----------------------------------------------------------------------===//

MatrixTiles::MatrixTiles(OpBuilder &b, Location loc, LoopNest &nest, const NestPlan &plan, const TargetFacts &target,
                         TileEmitter &tileEmitter)
    : MatrixUnit{{b, loc}}, nest(nest), plan(plan), target(target), tileEmitter(tileEmitter) {}

void MatrixTiles::prepare() {
  if (!plan.matrix)
    return;
  const MatrixPlan &matrix = *plan.matrix;
  columnTiles = plan.vectorTile;
  element = nest.reduce->outputs[0].element;
  rows = index(matrix.rows.known);
  // A tile has a row at least, even where it is only configured.
  if (matrix.rows.value)
    rows = b.create<arith::MaxUIOp>(loc, b.create<arith::MinUIOp>(loc, matrix.rows.value, rows), index(1));
  rows16 = constant(matrix.rows.known, 16);
  if (matrix.rows.value)
    rows16 = b.create<arith::IndexCastOp>(loc, b.getI16Type(), rows);
  sums.clear();
  Value one = b.create<LLVM::ConstantOp>(loc, b.getI64Type(), b.getI64IntegerAttr(1));
  auto tile = VectorType::get({tileRows * tileColumns}, b.getI32Type());
  for (int64_t i = 0; i < matrix.rowTiles * columnTiles; ++i)
    sums.push_back(b.create<LLVM::AllocaOp>(loc, LLVM::LLVMPointerType::get(b.getContext()), tile, one));
  rowsAwake = rowsUntilAsleep();
  spare = matrix.rowTiles * tileRows * columnTiles * tileColumns;
  auto type = MemRefType::get({spare + (rowsAwake ? tileRows * tileColumns : 0)}, element);
  scratch = b.create<memref::AllocaOp>(loc, type, b.getI64IntegerAttr(64));
  tileEmitter.product = [this](const Tile &tile, int64_t i, int64_t j) -> Value {
    Value within = b.create<arith::SubIOp>(loc, tile.at[plan.lane], scratchColumn);
    Value at = add(add(scratchRow, within), index(i * columnTiles * tileColumns + j * tile.lanes));
    if (tile.lanes == 1)
      return b.create<memref::LoadOp>(loc, scratch, at);
    return b.create<vector::LoadOp>(loc, VectorType::get({tile.lanes}, element), scratch, at);
  };
}

/// Where tile `number` of rows lies: at the end it is moved back to be whole, and begins with rows of the one before.
MatrixTiles::Place MatrixTiles::placeRows(const Tile &tile, int64_t number) {
  const MatrixPlan &matrix = *plan.matrix;
  Place place{tile, index(0)};
  if (plan.row < 0)
    return place;
  const Extent size = rowsOf(nest, plan, plan.row);
  bool together = matrix.inARow();
  Value wanted = tile.at[plan.row];
  if (together && number)
    wanted = add(wanted, times(rows, {number, {}}));
  if (size.isKnown() && size.known % plan.rowTile == 0) {
    place.tile.at[plan.row] = wanted;
  } else {
    Value last = b.create<arith::SubIOp>(loc, materialize(size), rows);
    place.tile.at[plan.row] = b.create<arith::MinUIOp>(loc, wanted, last);
    Value first = b.create<arith::SubIOp>(loc, wanted, place.tile.at[plan.row]);
    place.first = number ? b.create<arith::MinUIOp>(loc, first, rows) : first;
  }
  if (together || !number)
    return place;
  const Extent &other = nest.loops[matrix.second].size;
  wanted = add(tile.at[matrix.second], index(number));
  place.tile.at[matrix.second] = wanted;
  if (other.isKnown() && other.known % matrix.rowTiles == 0)
    return place;
  Value last = b.create<arith::SubIOp>(loc, materialize(other), index(1));
  place.tile.at[matrix.second] = b.create<arith::MinUIOp>(loc, wanted, last);
  Value isOver = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ugt, wanted, last);
  place.first = b.create<arith::SelectOp>(loc, isOver, rows, place.first);
  return place;
}

/// What the rows of the tiles write, and what they read beside the products, is asked for while the sums are made, a
/// share of the rows in each step: to write a line takes as long as to read it.
void MatrixTiles::prefetchRows(ArrayRef<Place> places, int64_t columns, const Tile &at) {
  const MatrixPlan &matrix = *plan.matrix;
  // To find the line of each row takes a division, which costs more where the run tells by what.
  if (plan.row < 0 || matrix.pitch.value)
    return;
  int64_t steps = 1;
  Value number = index(0);
  for (int loop : reductionOrder()) {
    int64_t step = loop == matrix.depth ? matrix.depthStep : 1;
    const Extent &size = nest.loops[loop].size;
    if (!size.isKnown())
      return;
    Value here = step == 1 ? at.at[loop] : b.create<arith::DivUIOp>(loc, at.at[loop], index(step)).getResult();
    number = add(times(number, {size.known / step, {}}), here);
    steps *= size.known / step;
  }
  int64_t share = llvm::divideCeil(matrix.rows.known, steps);
  Value last = b.createOrFold<arith::SubIOp>(loc, rows, index(1));
  for (int64_t i = 0; i < share; ++i) {
    Value row = add(times(number, {share, {}}), index(i));
    if (matrix.rows.value || steps * share > matrix.rows.known)
      row = b.create<arith::MinUIOp>(loc, row, last);
    for (const Place &place : places) {
      Tile tile = place.tile;
      Value pixel = add(tile.at[plan.row], row);
      tile.at[plan.row] = pixel;
      if (matrix.runsAcross()) {
        Value pitch = materialize(matrix.pitch);
        tile.at[matrix.second] = b.create<arith::DivUIOp>(loc, pixel, pitch);
        tile.at[plan.row] = b.create<arith::RemUIOp>(loc, pixel, pitch);
      }
      tileEmitter.prefetchResults(tile, columns * tileColumns);
    }
  }
}

/// Of the weights, lines that one step reads; 0 where they are not known.
int64_t MatrixTiles::linesOfStep() const {
  const Access &weights = nest.reduce->inputs[plan.matrix->weights];
  const Extent &apart = stride(weights, plan.matrix->depth);
  return apart.isKnown() ? plan.matrix->depthStep * apart.known / tileEmitter.lineElements(weights) : 0;
}

/// The tiles that use a block of the weights: how many, and which of them is `tile`.
std::pair<Extent, Value> MatrixTiles::tilesOfBlock(const Tile &tile) {
  const MatrixPlan &matrix = *plan.matrix;
  Extent count{1, {}};
  Value number = index(0);
  for (int loop = 0, loops = nest.loops.size(); loop < loops; ++loop) {
    if (!canBeRows(nest, plan, nest.reduce->inputs[matrix.data], nest.reduce->inputs[matrix.weights], loop) ||
        (matrix.runsAcross() && loop == matrix.second))
      continue;
    int64_t step = loop == plan.row ? plan.rowTile : loop == matrix.second ? matrix.rowTiles : 1;
    const Extent size = rowsOf(nest, plan, loop);
    Extent tiles{static_cast<int64_t>(llvm::divideCeil(size.known, step)), {}};
    if (size.value)
      tiles.value = b.create<arith::CeilDivUIOp>(loc, size.value, index(step));
    number = add(times(number, tiles), b.createOrFold<arith::DivUIOp>(loc, tile.at[loop], index(step)));
    if (tiles.value || count.value)
      count.value = b.create<arith::MulIOp>(loc, materialize(count), materialize(tiles));
    count.known *= tiles.known;
  }
  return {count, number};
}

/// Weights that several tiles use, and that the first level has no room for, come there a step ahead.
void MatrixTiles::prefetchNear(Value here, const Extent &tiles) {
  const Access &weights = nest.reduce->inputs[plan.matrix->weights];
  if (tiles.is(1) || tileEmitter.areNear(weights, weights.block * reductionPoints(nest)))
    return;
  int64_t elements = linesOfStep() * tileEmitter.lineElements(weights);
  tileEmitter.prefetchLines(weights, add(here, index(elements)), elements, /*localityHint=*/3);
}

/// Large weights are read once per run: while a block of lanes is used, each of the tiles that use it brings its share
/// of the next one to the cache. A block that only one tile uses, or that is too large to wait there, is asked for a
/// page ahead of its use: what hardware brings by itself ends with the page. A panel is in the cache.
void MatrixTiles::prefetch(Value block, Value within, const Extent &tiles, Value number) {
  const Access &weights = nest.reduce->inputs[plan.matrix->weights];
  if (!plan.laneOutermost || !weights.blockStride.isKnown() || weights.blockStride.is(0))
    return;
  int64_t bytes = weights.element.getIntOrFloatBitWidth() / 8, line = tileEmitter.lineElements(weights),
          lines = linesOfStep();
  Value here = add(block, within), ahead = add(here, index(target.pageBytes / bytes));
  if (tiles.is(1) || weights.blockStride.known * bytes > target.cacheBytes / 2)
    return tileEmitter.prefetchLines(weights, ahead, lines * line, /*localityHint=*/2);
  Value begin = tileEmitter.nextBlock(weights, block);
  if (!begin)
    return;
  if (tiles.isKnown()) {
    int64_t share = llvm::divideCeil(lines, tiles.known) * line;
    Value next = add(add(begin, within), times(number, {share, {}}));
    return tileEmitter.prefetchLines(weights, next, share, /*localityHint=*/2);
  }
  Value isOnly = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, tiles.value, index(1));
  Value share = times(b.create<arith::CeilDivUIOp>(loc, index(lines), tiles.value), {line, {}});
  Value next = add(add(begin, within), b.create<arith::MulIOp>(loc, number, share));
  next = b.create<arith::SelectOp>(loc, isOnly, ahead, next);
  auto each = b.create<scf::ForOp>(loc, index(0), share, index(line));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(each.getBody());
  tileEmitter.prefetchLines(weights, add(next, each.getInductionVar()), line, /*localityHint=*/2);
}

/// One step of the innermost loop of the reduction, for all tiles of sums.
void MatrixTiles::multiply(ArrayRef<Place> places, int64_t columns, const Tile &at) {
  const MatrixPlan &matrix = *plan.matrix;
  const Access &data = nest.reduce->inputs[matrix.data], &weights = nest.reduce->inputs[matrix.weights];
  Value step = constant(matrix.depthStep, 16), stepBytes = constant(4 * matrix.depthStep, 16),
        laneBytes = constant(4 * tileColumns, 16), sumStride = constant(4 * tileColumns, 64);
  SmallVector<Value> dataTiles, weightTiles;
  for (const Place &place : places) {
    Value from = add(tileEmitter.position(data, place.tile, false), tileEmitter.position(data, at, true));
    dataTiles.push_back(
        load(rows16, stepBytes, addressOf(data, from), bytesOf(data, materialize(stride(data, plan.row)))));
  }
  Value block = tileEmitter.position(weights, at, false), within = tileEmitter.position(weights, at, true);
  auto [tiles, number] = tilesOfBlock(at);
  prefetch(block, within, tiles, number);
  Value from = add(block, within);
  for (int64_t column = 0; column < columns; ++column) {
    Value here = add(from, index(column * tileColumns * weights.withinStride));
    weightTiles.push_back(
        load(step, laneBytes, addressOf(weights, here), bytesOf(weights, materialize(stride(weights, matrix.depth)))));
  }
  // Behind what this step waits for.
  prefetchNear(from, tiles);
  prefetchRows(places, columns, at);
  for (auto [row, dataTile] : llvm::enumerate(dataTiles))
    for (auto [column, weightTile] : llvm::enumerate(weightTiles)) {
      Value slot = sums[row * columnTiles + column];
      Value sum = load(rows16, laneBytes, slot, sumStride);
      store(rows16, slot, sumStride, addProducts(matrix.multiply, rows16, stepBytes, sum, dataTile, weightTile));
    }
}

void MatrixTiles::reduce(ArrayRef<int> order, ArrayRef<Place> places, int64_t columns, Tile at) {
  if (order.empty())
    return multiply(places, columns, at);
  int loop = order.front();
  int64_t step = loop == plan.matrix->depth ? plan.matrix->depthStep : 1;
  auto each = b.create<scf::ForOp>(loc, index(0), materialize(nest.loops[loop].size), index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(each.getBody());
  at.at[loop] = each.getInductionVar();
  reduce(order.drop_front(), places, columns, at);
}

/// The loops of the reduction but that over the elements of 32 bits, which a step does; the groups are the innermost.
SmallVector<int> MatrixTiles::reductionOrder() {
  SmallVector<int> order;
  for (int loop : tileEmitter.reductionOrder())
    if (loop != plan.matrix->group && loop != plan.matrix->depth)
      order.push_back(loop);
  order.push_back(plan.matrix->depth);
  return order;
}

/// The sums of products of tiles of rows and so many of lanes, from nothing to the scratch buffer.
void MatrixTiles::sumUp(ArrayRef<Place> places, int64_t columns, const Tile &tile) {
  Value laneBytes = constant(4 * tileColumns, 16), sumStride = constant(4 * tileColumns, 64);
  int64_t lanes = columnTiles * tileColumns;
  auto eachSum = [&](auto visit) {
    for (size_t row = 0; row < places.size(); ++row)
      for (int64_t column = 0; column < columns; ++column)
        visit(sums[row * columnTiles + column], row * tileRows * lanes + column * tileColumns);
  };
  eachSum([&](Value sum, int64_t) { store(rows16, sum, sumStride, zero(rows16)); });
  reduce(reductionOrder(), places, columns, tile);
  eachSum([&](Value sum, int64_t at) {
    store(rows16, addressOf(scratch, index(at), 4), constant(4 * lanes, 64), load(rows16, laneBytes, sum, sumStride));
  });
}

/// Either of two ways.
void MatrixTiles::choose(Value condition, function_ref<void()> emitThen, function_ref<void()> emitElse) {
  auto choice = b.create<scf::IfOp>(loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  emitThen();
  b.setInsertionPointToStart(choice.elseBlock());
  emitElse();
}

/// Whether a tile of rows may be the last one, without a second.
bool MatrixTiles::mayBeOdd() const {
  const MatrixPlan &matrix = *plan.matrix;
  if (matrix.rowTiles < 2)
    return false;
  Extent size = rowsOf(nest, plan, matrix.inARow() ? plan.row : matrix.second);
  return !size.isKnown() || llvm::divideCeil(size.known, matrix.inARow() ? matrix.rows.known : 1) % 2;
}

/// A unit that has had no work for a third of a microsecond falls asleep, and takes as long to wake up. After how many
/// rows of the last stage it needs some; 0: all of them take less.
int64_t MatrixTiles::rowsUntilAsleep() const {
  constexpr int64_t asleepCycles = 900, awakeCycles = 600; // with some to spare
  if (!nest.finish || plan.row < 0)
    return 0;
  int64_t others = 0, polynomials = 0, divisions = 0;
  for (Operation &op : *nest.finish->op.getBody()) {
    bool isLong = becomesPolynomial(op);
    polynomials += isLong;
    divisions += isa<arith::DivFOp>(op);
    others += !isLong && !isa<arith::ConstantOp>(op);
  }
  int64_t cycles = std::max(others / 2 + 10 * polynomials, 16 * divisions) * columnTiles;
  int64_t rows = plan.matrix->rowTiles * plan.matrix->rows.known;
  if (cycles * rows <= asleepCycles)
    return 0;
  return std::clamp<int64_t>(llvm::bit_floor<uint64_t>(awakeCycles / cycles), 2, tileRows);
}

void MatrixTiles::emit(const Tile &tile, Finish finish) {
  const MatrixPlan &matrix = *plan.matrix;
  SmallVector<Place> places;
  for (int64_t number = 0; number < matrix.rowTiles; ++number)
    places.push_back(placeRows(tile, number));
  auto withRows = [&](ArrayRef<Place> places) {
    const Extent &lanes = nest.loops[plan.lane].size;
    int64_t block = columnTiles * tileColumns, over = lanes.isKnown() ? lanes.known % block : 0;
    if (!over || over > tileColumns || columnTiles < 2)
      return sumUp(places, columnTiles, tile);
    Value last = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::uge, tile.at[plan.lane], index(lanes.known - over));
    choose(last, [&] { sumUp(places, 1, tile); }, [&] { sumUp(places, columnTiles, tile); });
  };
  // What a second tile would add may be nothing new.
  if (mayBeOdd()) {
    Value isOver = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, places[1].first, rows);
    choose(isOver, [&] { withRows(ArrayRef(places).take_front()); }, [&] { withRows(places); });
  } else {
    withRows(places);
  }
  scratchColumn = tile.at[plan.lane];
  int64_t columns = columnTiles * tileColumns;
  for (auto [number, place] : llvm::enumerate(places)) {
    scratchRow = times(index(number * tileRows), {columns, {}});
    if (number && rowsAwake == tileRows)
      stayAwake();
    if (matrix.runsAcross())
      finishAcrossBorders(place, finish);
    else
      finishRows(place.tile, place.first, rows, matrix.rows, finish);
  }
}

/// A product of nothing, which goes where no sums are.
void MatrixTiles::stayAwake() {
  const MatrixPlan &matrix = *plan.matrix;
  Value stepBytes = constant(4 * matrix.depthStep, 16), laneBytes = constant(4 * tileColumns, 16);
  Value nothing = addProducts(matrix.multiply, rows16, stepBytes, zero(rows16), zero(rows16, stepBytes),
                              zero(constant(matrix.depthStep, 16), laneBytes));
  store(rows16, addressOf(scratch, index(spare), 4), constant(4 * tileColumns, 64), nothing);
}

/// Rows `first` to `end` of a tile, of which there are `most` where the first one is 0.
void MatrixTiles::finishRows(const Tile &tile, Value first, Value end, const Extent &most, Finish finish) {
  Value scratchTile = scratchRow;
  auto each = [&](Value first, Value end, int64_t together) {
    auto loop = b.create<scf::ForOp>(loc, first, end, index(together));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Tile row = tile;
    row.rows = together;
    if (plan.row >= 0)
      row.at[plan.row] = add(row.at[plan.row], loop.getInductionVar());
    scratchRow = add(scratchTile, times(loop.getInductionVar(), {columnTiles * tileColumns, {}}));
    finish(row);
  };
  auto all = [&](Value first, Value end, const Extent &most) {
    if (plan.row >= 0 && tileEmitter.isLastStageLong()) {
      Value count = b.createOrFold<arith::SubIOp>(loc, end, first);
      Value pairs = b.createOrFold<arith::SubIOp>(loc, count, b.createOrFold<arith::RemUIOp>(loc, count, index(2)));
      Value stop = b.createOrFold<arith::AddIOp>(loc, first, pairs);
      each(first, stop, 2);
      if (most.isKnown() && most.known % 2 == 0)
        return;
      first = stop;
    }
    each(first, end, 1);
  };
  bool fromStart = matchPattern(first, m_Zero());
  if (!rowsAwake || rowsAwake == tileRows) {
    all(first, end, fromStart ? most : Extent{1, {}});
  } else {
    auto parts = b.create<scf::ForOp>(loc, first, end, index(rowsAwake));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(parts.getBody());
    Value part = parts.getInductionVar(), stop = add(part, index(rowsAwake));
    bool isWhole = fromStart && most.isKnown() && most.known % rowsAwake == 0;
    all(part, isWhole ? stop : b.create<arith::MinUIOp>(loc, stop, end), {isWhole ? rowsAwake : 1, {}});
    stayAwake();
  }
  scratchRow = scratchTile;
}

/// The rows of a tile that are pixels of the image, line by line.
void MatrixTiles::finishAcrossBorders(const Place &place, Finish finish) {
  const MatrixPlan &matrix = *plan.matrix;
  Value start = place.tile.at[plan.row], pitch = materialize(matrix.pitch);
  Value first = add(start, place.first), end = add(start, rows);
  Value firstLine = b.create<arith::DivUIOp>(loc, first, pitch);
  Value endLine = b.create<arith::CeilDivUIOp>(loc, end, pitch);
  auto lines = b.create<scf::ForOp>(loc, firstLine, endLine, index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(lines.getBody());
  Value line = lines.getInductionVar(), begin = times(line, matrix.pitch);
  Value from = b.create<arith::MaxUIOp>(loc, first, begin);
  Value to = b.create<arith::MinUIOp>(loc, end, add(begin, materialize(nest.loops[plan.row].size)));
  // A part of the border only: nothing to finish.
  to = b.create<arith::MaxUIOp>(loc, from, to);
  Tile row = place.tile;
  row.at[matrix.second] = line;
  row.at[plan.row] = b.create<arith::SubIOp>(loc, start, begin);
  finishRows(row, b.create<arith::SubIOp>(loc, from, start), b.create<arith::SubIOp>(loc, to, start), {0, to}, finish);
}
