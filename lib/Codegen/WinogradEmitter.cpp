//===- WinogradEmitter.cpp - convolutions of transformed weights ----------===//
//
// The image is cut into tiles of m x m outputs, which overlap in (m + 2) x (m + 2)
// inputs where the window is 3x3. Along a dimension in which it has one tap, tiles have one row or one column, and a
// line is an image of one row. For some rows of tiles at a time, so that what is between stays in the cache:
//   1. the inputs of every tile are transformed: V[point][tile][channel];
//   2. for a block of filters and some tiles: a matrix product per point, V times
//      the block of U, then the transform back, with the kernel's own start and
//      consumer for each pixel.
// A slice of a volume is an image whose inputs are those of some slices, one behind the
// other like channels; those that are padding are left out. The parts of a long window are slices, too.
// Of a window with dilation d there are d x d images, of every d-th row and column, whose tiles lie side by side.
// Of an image whose size only the run tells, bands are not rows, but so many tiles one after the other, in the last one
// as many as are left.
// Bands are the tasks where U stays in the cache or comes to it while a band's products are computed: a thread reads
// the V that it made itself. Else the tasks are parts of one step, so that threads share U.
//
//===----------------------------------------------------------------------===//
#include "WinogradEmitter.h"
#include "NestEmitter.h"
#include "Padding.h"
#include "PairProducts.h"
#include "TileEmitter.h"
#include "WinogradCost.h"
#include "WinogradMatrices.h"
#include "WinogradTransform.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace strata;

/// So many bands, threads share evenly.
static constexpr int64_t bandsToShare = 8;
/// Where there are few bands, their number is a multiple of this.
static constexpr int64_t evenBands = 4;
/// So many tiles at once hide how long a multiply-add takes.
static constexpr int64_t leastTiles = 8;
/// What reading from the cache takes of what reading from behind it does.
static constexpr double cacheShare = 0.2;
/// The share of their peak that multiply-adds of short sums reach.
static constexpr double usualRate = 0.7;

namespace {
/// Rows or columns of the image, and how they are cut.
struct Axis {
  int loop; ///< of the results, or -1 where there is but one row
  Extent size;
  WinogradMatrices matrices;
  int64_t dilation; ///< of the window; 1 where it has one tap
  Extent tiles = {};

  int64_t m() const { return matrices.m; }
  int64_t points() const { return matrices.points(); }
  /// Whether no tile ends beyond the image.
  bool isEven() const { return m() == 1 || (size.isKnown() && size.known % (dilation * m()) == 0); }
  int64_t tilesOf(int64_t length) const { return tilesAlong(length, dilation, m()); }
};

/// An image, or a slice of a volume and from which to which slice of the data its inputs are not padding.
struct Image {
  Value number, slice, first, last;
};

/// The number of the first one of its tiles in the image, how many there are, and how many are a group where only the
/// run tells the image's size.
struct Band {
  Value first;
  Extent tiles;
  Value group = {};
};

class WinogradEmitter : IndexMath {
public:
  WinogradEmitter(OpBuilder &b, Location loc, LoopNest &nest, const NestOptions &options, int64_t m)
      : IndexMath{b, loc}, nest(nest), options(options),
        loops(WinogradLoops::of(nest.reduce->op.getIteratorTypesArray(),
                                isa<IntegerType>(nest.reduce->inputs[0].element))),
        data(nest.reduce->inputs[0]), weights(nest.reduce->inputs.back()), isVolume(loops.d >= 0),
        perLane(loops.pair >= 0 ? 2 : 1), rows(makeAxis(loops.h, loops.kh, m)), columns(makeAxis(loops.w, loops.kw, m)),
        points(rows.points() * columns.points()), lanes(options.vectorBits / 32),
        vector(VectorType::get({lanes * perLane}, data.element)),
        sumVector(VectorType::get({lanes}, nest.reduce->outputs[0].element)), plan(makePlan(loops.f, lanes)),
        tileEmitter(b, loc, nest, plan, options) {}

  LogicalResult emit();

private:
  static constexpr int64_t sumBytes = 4;
  static constexpr int64_t groupStep = 2; ///< between the numbers of tiles of groups that the run chooses
  using Values = SmallVector<Value>;
  using Body = function_ref<void(Value)>;

  LoopNest &nest;
  const NestOptions &options;
  WinogradLoops loops;
  Access &data, &weights;
  bool isVolume;
  int64_t perLane; ///< elements in 32 bits
  Axis rows, columns;
  int64_t points, lanes;        ///< points of a tile
  VectorType vector, sumVector; ///< of elements, and of sums of their products
  NestPlan plan;
  TileEmitter tileEmitter;

  int64_t channels, filters;   ///< of the convolution
  int64_t vectors, panelLanes; ///< of filters, in a panel of weights
  int64_t panels;              ///< the last one may be filled up
  Extent slices{1, {}};        ///< of a volume
  int64_t depth;               ///< channels of all taps
  Extent tiles;                ///< of the image
  Extent bands;                ///< of the image
  bool ownBands;               ///< each task has bands of its own
  int64_t band;                ///< the most tiles whose transformed inputs are there at once
  int64_t groups, group;       ///< of tiles whose products use the same vectors of weights; the most tiles in one
  int64_t steps;               ///< of the sum over the channels, in one iteration
  int64_t together, chunks;    ///< groups whose products are there at once, and how often that is
  int64_t pointV, pointM;      ///< elements from one point to the next

  static NestPlan makePlan(int lane, int64_t lanes) {
    NestPlan plan;
    plan.lane = lane;
    plan.width = lanes;
    return plan;
  }

  Axis makeAxis(int loop, int tap, int64_t m);
  Values transformed(ArrayRef<float> down, ArrayRef<float> across, ArrayRef<Value> values) {
    return strata::transformTile(b, loc, {down, rows.points()}, {across, columns.points()}, values, options.fma);
  }
  int32_t doublings() const { return (rows.m() > 1) + (columns.m() > 1); }
  bool known(int loop, int64_t &size);
  bool measureTaps();
  bool isOpen() const { return !rows.size.isKnown() || !columns.size.isKnown(); }
  void chooseBands(int64_t tiles, int64_t unit, int64_t row);
  bool measure();
  Extent inTiles(const Axis &axis);
  void measureImage(int64_t most);
  void forEach(const Extent &count, Body body);
  void forEach(Value from, Value to, Body body);
  void inTasks(const Extent &count, int64_t grain, Body body);
  Value lineOf(const Axis &axis, Value tile, int64_t i);
  Value linear(ArrayRef<std::pair<Value, int64_t>> terms);
  Value firstTile(const Band &band, Value group);
  Value buffer(int64_t elements, Type element);
  int64_t elementBytes() const { return sumBytes / perLane; }
  Image imageAt(Value number);
  Value numberOfImages() { return times(materialize(nest.loops[loops.n].size), slices); }
  Band bandAt(Value number);
  std::pair<Value, Value> placeOf(Value tile);
  void transformInputs(const Image &image, const Band &band, Value v);
  void forEachTap(const Image &image, function_ref<void(Value, Value)> body);
  void transformTile(const Image &image, const Band &band, Value tile, Value v);
  Value spreadAt(Value v, Value at);
  Value multiplyAdd(Value x, Value y, Value sum);
  void multiply(const Image &image, const Band &band, Value panel, Value firstGroup, Value lastGroup, Value v,
                Value products);
  void multiplyTiles(int64_t height, Value from, Value u, Value ahead, Value count, Value to, Value v, Value products);
  void emitFilters(const Tile &pixel, Value sums);
  void transformOutputs(const Image &image, const Band &band, Value panel, Value from, Value to, Value products);
  void multiplyChunk(const Image &image, const Band &band, Value task, Value v, Value products);
  void bandsAsTasks();
};

/// Of one row where there is no such loop.
Axis WinogradEmitter::makeAxis(int loop, int tap, int64_t m) {
  if (loop < 0)
    return {loop, {1, {}}, getWinogradMatrices(1, 1, false), 1};
  int64_t taps = nest.loops[tap].size.known, dilation = 1;
  linalg::GenericOp op = nest.reduce->op;
  // By how much the place moves from one tap to the next, where it moves by one from a result to the next.
  SmallVector<AffineExpr> unit(nest.loops.size(), b.getAffineConstantExpr(0));
  unit[tap] = b.getAffineConstantExpr(1);
  for (AffineExpr expr : op.getIndexingMapsArray()[0].getResults())
    if (taps > 1 && expr.isFunctionOfDim(loop))
      dilation = cast<AffineConstantExpr>(expr.replaceDims(unit)).getValue();
  return {loop, nest.loops[loop].size, getWinogradMatrices(m, taps, perLane > 1), dilation};
}

bool WinogradEmitter::known(int loop, int64_t &size) {
  size = nest.loops[loop].size.known;
  return nest.loops[loop].size.isKnown();
}

/// What is summed beyond the window of a tile, whose weights lie behind one another: slices, and parts of the window.
bool WinogradEmitter::measureTaps() {
  depth = channels;
  if (isVolume)
    slices = nest.loops[loops.d].size;
  for (int loop : {loops.gw, loops.gh, loops.kd}) {
    if (loop < 0)
      continue;
    int64_t size;
    if (!known(loop, size) || !weights.strides[loop].is(panelLanes * depth))
      return false;
    depth *= size;
  }
  return true;
}

/// How many of the image's tiles are a band, and whether bands are tasks: as those in units of so many, else in rows.
void WinogradEmitter::chooseBands(int64_t tiles, int64_t unit, int64_t row) {
  int64_t perTile = points * depth * elementBytes(), all = tiles * perTile;
  int64_t weightBytes = points * depth * panels * panelLanes * elementBytes();
  auto bandsOf = [&](int64_t size) { return static_cast<int64_t>(llvm::divideCeil(tiles, size)); };
  // What is read from behind the cache. Every band reads U, and every panel of U reads a V that does not stay.
  auto readsOfU = [&](int64_t size) { return static_cast<double>(bandsOf(size) * weightBytes); };
  auto readsOfV = [&](int64_t size) { return size * perTile <= options.cacheBytes / 2 ? 0.0 : panels * all; };
  auto traffic = [&](int64_t size) { return readsOfU(size) + readsOfV(size); };
  // For tasks U should stay in the cache beside V, or come while the products with it are computed; few panels are no
  // work to share otherwise. Next to data and results a small V stays better than a large one.
  auto stays = [&](int64_t size) { return weightBytes + size * perTile <= options.cacheBytes * 3 / 4; };
  double comes = usualRate * options.fmaPerCycle * lanes * sumBytes / options.memoryRate;
  bool few = panels < bandsToShare / 2;
  auto trafficOfTasks = [&](int64_t size) {
    double u = stays(size) ? cacheShare : 1, v = size * perTile <= options.cacheBytes / 8 ? 0 : cacheShare;
    return u * readsOfU(size) + readsOfV(size) + v * all;
  };
  auto best = [&](int64_t step, llvm::function_ref<bool(int64_t)> allowed, llvm::function_ref<double(int64_t)> cost) {
    double least = std::numeric_limits<double>::infinity();
    band = 0;
    for (int64_t size = step; size < tiles + step; size += step)
      if (int64_t number = std::min(size, tiles); allowed(number) && cost(number) < least) {
        least = cost(number);
        band = size;
      }
    return band != 0;
  };
  int64_t images = slices.isKnown() ? slices.known : usualSlices;
  auto shares = [&](int64_t number, bool alone) {
    auto allowed = [&](int64_t size) {
      bool isTask = alone || size == tiles || size >= comes || stays(size);
      return isTask && (size >= leastTiles || size == tiles) && images * bandsOf(size) >= number;
    };
    return best(unit, allowed, trafficOfTasks);
  };
  ownBands = options.threads && (shares(bandsToShare, few) || (few && shares(evenBands, few)) ||
                                 (panels <= 2 && shares(2, /*alone=*/false)));
  // A V larger than U saves little.
  auto isSmall = [&](int64_t size) {
    return size <= row || size * perTile <= std::max(options.cacheBytes / 2, weightBytes);
  };
  if (!ownBands)
    best(row, isSmall, traffic);
}

Extent WinogradEmitter::inTiles(const Axis &axis) {
  if (axis.size.isKnown())
    return {axis.tilesOf(axis.size.known), {}};
  Value each = b.create<arith::CeilDivUIOp>(loc, axis.size.value, index(axis.dilation));
  return {0, times(b.create<arith::CeilDivUIOp>(loc, each, index(axis.m())), {axis.dilation, {}})};
}

/// The tiles of an image and its bands; products are of groups of `most` tiles.
void WinogradEmitter::measureImage(int64_t most) {
  rows.tiles = inTiles(rows);
  columns.tiles = inTiles(columns);
  if (!isOpen()) {
    tiles = {rows.tiles.known * columns.tiles.known, {}};
    chooseBands(tiles.known, 1, rows.loop < 0 ? 1 : columns.tiles.known);
    int64_t number = llvm::divideCeil(tiles.known, band);
    if (ownBands && slices.isKnown() && slices.known * number < 4 * bandsToShare)
      number = std::min<int64_t>(llvm::alignTo(number, std::min(number, evenBands)), tiles.known);
    bands = {number, {}};
    band = llvm::divideCeil(tiles.known, number);
    return;
  }
  tiles = {0, times(materialize(rows.tiles), columns.tiles)};
  int64_t side = usualSide(channels);
  chooseBands(rows.loop < 0 ? columns.tilesOf(side * side) : rows.tilesOf(side) * columns.tilesOf(side), most, most);
  bands = {0, b.create<arith::CeilDivUIOp>(loc, tiles.value, index(band))};
}

/// Whether the kernel can be emitted, and its sizes.
bool WinogradEmitter::measure() {
  if (!known(loops.f, filters) || !known(loops.c, channels))
    return false;
  channels *= perLane;
  panelLanes = weights.block;
  vectors = panelLanes / lanes;
  if (channels % (lanes * perLane) || !data.base || !weights.base || !data.strides[loops.c].is(perLane) ||
      weights.blockedLoop != loops.f || (vectors != 1 && vectors != 2) || panelLanes % lanes ||
      !weights.blockStride.isKnown() || !weights.strides[loops.c].is(panelLanes * perLane) ||
      (perLane > 1 && (!nest.loops[loops.pair].size.is(perLane) || !data.strides[loops.pair].is(1) ||
                       !weights.strides[loops.pair].is(1) || weights.withinStride != perLane)) ||
      !measureTaps() || !weights.strides[loops.j].is(panelLanes * depth))
    return false;
  panels = llvm::divideCeil(filters, panelLanes);
  int64_t most = std::max<int64_t>(1, (options.registers - 4) / vectors);
  measureImage(most);
  groups = llvm::divideCeil(band, most);
  group = llvm::divideCeil(band, groups);
  // Sums of pairs take two instructions for each vector: so that they are not more than the processor takes in a cycle,
  // some steps make an iteration.
  steps = std::max<int64_t>(1, perLane > 1 ? 4 * options.lineBytes / (panelLanes * sumBytes) : 1);
  while (channels / perLane % steps)
    --steps;
  int64_t productBytes = points * group * panelLanes * sumBytes;
  chunks = llvm::divideCeil(groups, std::max<int64_t>(1, options.cacheBytes / 8 / productBytes));
  together = llvm::divideCeil(groups, chunks);
  // Not a power of two: the points would share the sets of the cache.
  pointV = band * depth + lanes * perLane;
  pointM = together * group * panelLanes + lanes;
  return true;
}

Band WinogradEmitter::bandAt(Value number) {
  if (!isOpen()) {
    if (tiles.known % bands.known == 0)
      return {times(number, {band, {}}), {band, {}}};
    auto begin = [&](Value number) { return b.create<arith::DivUIOp>(loc, times(number, tiles), index(bands.known)); };
    Value first = begin(number);
    return {first, {0, b.create<arith::SubIOp>(loc, begin(add(number, index(1))), first)}};
  }
  Value first = times(number, {band, {}});
  Value left = b.create<arith::MinUIOp>(loc, b.create<arith::SubIOp>(loc, tiles.value, first), index(band));
  // Of as many groups as it takes, the smallest ones of which there is code.
  Value count = b.create<arith::CeilDivUIOp>(loc, left, index(group));
  Value least = b.create<arith::CeilDivUIOp>(loc, left, count);
  Value missing = b.create<arith::SubIOp>(loc, index(group), least);
  return {first, {0, left}, add(least, b.create<arith::RemUIOp>(loc, missing, index(groupStep)))};
}

/// The row and the column of a tile.
std::pair<Value, Value> WinogradEmitter::placeOf(Value tile) {
  if (rows.loop < 0)
    return {index(0), tile};
  Value count = materialize(columns.tiles);
  return {b.create<arith::DivUIOp>(loc, tile, count), b.create<arith::RemUIOp>(loc, tile, count)};
}

/// The i-th row or column of a tile, by its number along them.
Value WinogradEmitter::lineOf(const Axis &axis, Value tile, int64_t i) {
  if (axis.dilation == 1)
    return add(times(tile, {axis.m(), {}}), index(i));
  Value first = b.create<arith::RemUIOp>(loc, tile, index(axis.dilation));
  Value within = b.create<arith::DivUIOp>(loc, tile, index(axis.dilation));
  return add(add(first, times(within, {axis.dilation * axis.m(), {}})), index(axis.dilation * i));
}

void WinogradEmitter::forEach(Value from, Value to, Body body) {
  auto each = b.create<scf::ForOp>(loc, from, to, index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(each.getBody());
  body(each.getInductionVar());
}

void WinogradEmitter::forEach(const Extent &count, Body body) {
  if (count.is(1))
    return body(index(0));
  forEach(index(0), materialize(count), body);
}

void WinogradEmitter::inTasks(const Extent &count, int64_t grain, Body body) {
  if (!options.threads || (count.isKnown() && count.known <= grain))
    return forEach(count, body);
  Value end = materialize(count);
  auto parallel = b.create<scf::ParallelOp>(loc, ValueRange{index(0)}, ValueRange{end}, ValueRange{index(grain)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(parallel.getBody());
  Value first = parallel.getInductionVars()[0];
  forEach(first, b.create<arith::MinUIOp>(loc, add(first, index(grain)), end), body);
}

Value WinogradEmitter::linear(ArrayRef<std::pair<Value, int64_t>> terms) {
  Value sum = index(0);
  for (auto [value, factor] : terms)
    sum = add(sum, times(value, {factor, {}}));
  return sum;
}

/// Groups are as equally large as can be.
Value WinogradEmitter::firstTile(const Band &of, Value number) {
  if (of.group)
    return b.create<arith::MulIOp>(loc, number, of.group);
  return b.create<arith::DivUIOp>(loc, times(number, of.tiles), index(groups));
}

Image WinogradEmitter::imageAt(Value number) {
  if (!isVolume)
    return {number, {}, index(0), index(1)};
  Tile slice;
  slice.at.resize(nest.loops.size());
  Value count = materialize(slices);
  slice.at[loops.d] = b.create<arith::RemUIOp>(loc, number, count);
  auto [first, last] = tileEmitter.rangeOf(loops.kd, slice);
  return {b.create<arith::DivUIOp>(loc, number, count), slice.at[loops.d], first, last};
}

void WinogradEmitter::transformInputs(const Image &image, const Band &band, Value v) {
  // Loads, arithmetic and stores of an element take a cycle or two each.
  double tileNs = 4.0 * (depth / lanes) * points / options.cyclesPerNs;
  auto each = [&](Value tile) { transformTile(image, band, tile, v); };
  if (ownBands)
    forEach(band.tiles, each);
  else
    inTasks(band.tiles, taskSize(tileNs, this->band, options).grain, each);
}

/// Of a volume's slices and of the parts of a window: where one's data lies, and the first of its channels in a tile's.
void WinogradEmitter::forEachTap(const Image &image, function_ref<void(Value, Value)> body) {
  auto within = [&](int loop, Value from, Value number, function_ref<void(Value, Value)> body) {
    if (loop < 0)
      return body(from, number);
    const Extent &size = nest.loops[loop].size;
    auto each = [&](Value tap) { body(add(from, times(tap, data.strides[loop])), add(times(number, size), tap)); };
    loop == loops.kd ? forEach(image.first, image.last, each) : forEach(size, each);
  };
  within(loops.kd, index(0), index(0), [&](Value from, Value number) {
    within(loops.gh, from, number, [&](Value from, Value number) {
      within(loops.gw, from, number, [&](Value from, Value number) { body(from, times(number, {channels, {}})); });
    });
  });
}

/// The inputs of a tile: all channels of all taps.
void WinogradEmitter::transformTile(const Image &image, const Band &band, Value tile, Value v) {
  // Beyond the image, where no output is kept, any finite value will do.
  auto line = [&](const Axis &axis, Value tile, int64_t i) {
    Value at = lineOf(axis, tile, i);
    if (axis.loop < 0)
      return at;
    if (!axis.isEven())
      at = b.create<arith::MinUIOp>(loc, at,
                                    add(materialize(axis.size), index((axis.matrices.taps - 1) * axis.dilation - 1)));
    return times(at, data.strides[axis.loop]);
  };
  auto [row, column] = placeOf(add(band.first, tile));
  Value base = add(data.offset, times(image.number, data.strides[loops.n])), to = times(tile, {depth, {}});
  if (isVolume)
    base = add(base, times(image.slice, data.strides[loops.d]));
  Values down, across;
  for (int64_t i = 0; i < rows.points(); ++i)
    down.push_back(add(base, line(rows, row, i)));
  for (int64_t j = 0; j < columns.points(); ++j)
    across.push_back(line(columns, column, j));
  forEachTap(image, [&](Value from, Value first) {
    auto each = b.create<scf::ForOp>(loc, index(0), index(channels), index(lanes * perLane));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(each.getBody());
    Value channel = each.getInductionVar(), source = add(from, channel), target = add(add(to, first), channel);
    Values inputs;
    for (Value y : down)
      for (Value x : across)
        inputs.push_back(b.create<vector::LoadOp>(loc, vector, data.base, add(add(y, x), source)));
    for (auto [point, value] : llvm::enumerate(transformed(rows.matrices.inputs, columns.matrices.inputs, inputs)))
      b.create<vector::StoreOp>(loc, value, v, add(target, index(point * pointV)));
  });
}

/// The elements of 32 bits, in all lanes.
Value WinogradEmitter::spreadAt(Value v, Value at) {
  if (perLane > 1)
    return spreadPair(b, loc, b.create<vector::LoadOp>(loc, VectorType::get({perLane}, data.element), v, at), lanes);
  return b.create<vector::BroadcastOp>(loc, vector, b.create<memref::LoadOp>(loc, v, at));
}

Value WinogradEmitter::multiplyAdd(Value x, Value y, Value sum) {
  if (perLane > 1)
    return addPairProducts(b, loc, sum, x, y);
  if (options.fma)
    return b.create<math::FmaOp>(loc, x, y, sum);
  return b.create<arith::AddFOp>(loc, sum, b.create<arith::MulFOp>(loc, x, y));
}

/// The products of so many tiles of a point. `ahead`: how many iterations of the point are done before.
void WinogradEmitter::multiplyTiles(int64_t height, Value from, Value u, Value ahead, Value count, Value to, Value v,
                                    Value products) {
  int64_t step = panelLanes * perLane, share = llvm::divideCeil(step, together);
  // The weights of the next point come to the cache meanwhile.
  Value start = add(add(u, index(panelLanes * depth)), times(ahead, {share, {}}));
  auto zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(sumVector));
  auto each = b.create<scf::ForOp>(loc, index(0), count, index(steps), Values(vectors * height, zero));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(each.getBody());
    Value channel = each.getInductionVar();
    int64_t line = options.lineBytes / elementBytes();
    for (int64_t i = 0; i < share * steps; i += line)
      b.create<memref::PrefetchOp>(loc, weights.base, add(add(start, times(channel, {share, {}})), index(i)),
                                   /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
    Values sums(each.getRegionIterArgs());
    for (int64_t i = 0; i < steps; ++i) {
      Value number = add(channel, index(i)), at = add(u, times(number, {step, {}}));
      Values factors;
      for (int64_t j = 0; j < vectors; ++j)
        factors.push_back(b.create<vector::LoadOp>(loc, vector, weights.base, add(at, index(j * lanes * perLane))));
      for (int64_t row = 0; row < height; ++row) {
        Value spread = spreadAt(v, add(add(from, times(number, {perLane, {}})), index(row * depth)));
        for (auto [j, factor] : llvm::enumerate(factors))
          sums[vectors * row + j] = multiplyAdd(spread, factor, sums[vectors * row + j]);
      }
    }
    b.create<scf::YieldOp>(loc, sums);
  }
  for (auto [i, sum] : llvm::enumerate(each.getResults()))
    b.create<vector::StoreOp>(loc, sum, products, add(to, index(i * lanes)));
}

/// For every point, the groups' tiles times the panel of weights.
void WinogradEmitter::multiply(const Image &image, const Band &of, Value panel, Value firstGroup, Value lastGroup,
                               Value v, Value products) {
  Value base = firstTile(of, firstGroup), panelAt = add(weights.offset, times(panel, weights.blockStride));
  Value begin, count = index(depth / perLane);
  if (isVolume) {
    Extent perSlice{depth / nest.loops[loops.kd].size.known, {}};
    begin = times(image.first, perSlice);
    count = times(b.create<arith::SubIOp>(loc, image.last, image.first), perSlice);
    panelAt = add(panelAt, times(begin, {panelLanes, {}}));
  }
  /// Groups of so many tiles, or of one less.
  auto run = [&](int64_t height, bool less) {
    forEach({points, {}}, [&](Value point) {
      Value u = add(panelAt, times(point, {panelLanes * depth, {}}));
      forEach(firstGroup, lastGroup, [&](Value number) {
        Value tile = firstTile(of, number);
        Value from = add(linear({{point, pointV}, {tile, depth}}), begin);
        Value to = linear({{point, pointM}, {b.create<arith::SubIOp>(loc, tile, base), panelLanes}});
        Value ahead = b.create<arith::MulIOp>(loc, b.create<arith::SubIOp>(loc, number, firstGroup), count);
        if (!less)
          return multiplyTiles(height, from, u, ahead, count, to, v, products);
        Value size = b.create<arith::SubIOp>(loc, firstTile(of, add(number, index(1))), tile);
        Value full = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, size, index(height));
        auto choice = b.create<scf::IfOp>(loc, full, /*withElseRegion=*/true);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(choice.thenBlock());
        multiplyTiles(height, from, u, ahead, count, to, v, products);
        b.setInsertionPointToStart(choice.elseBlock());
        if (height > 1)
          multiplyTiles(height - 1, from, u, ahead, count, to, v, products);
      });
    });
  };
  if (!of.group)
    return run(group, /*less=*/!of.tiles.isKnown() || of.tiles.known % groups != 0);
  SmallVector<int64_t> smaller;
  for (int64_t size = group - groupStep; size > 0; size -= groupStep)
    smaller.push_back(size);
  auto choice = b.create<scf::IndexSwitchOp>(loc, TypeRange(), of.group, smaller, smaller.size());
  OpBuilder::InsertionGuard guard(b);
  auto each = [&](Region &region, int64_t height) {
    b.setInsertionPointToStart(&region.emplaceBlock());
    run(height, /*less=*/false);
    b.create<scf::YieldOp>(loc);
  };
  each(choice.getDefaultRegion(), group);
  for (auto [region, height] : llvm::zip(choice.getCaseRegions(), smaller))
    each(region, height);
}

/// What becomes of the sums of a vector of filters; the last one may have fewer than lanes.
void WinogradEmitter::emitFilters(const Tile &pixel, Value sums) {
  if (filters % lanes == 0)
    return tileEmitter.emitSum(pixel, sums);
  Value end = add(pixel.at[loops.f], index(lanes));
  Value full = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, end, index(filters));
  auto choice = b.create<scf::IfOp>(loc, full, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  tileEmitter.emitSum(pixel, sums);
  b.setInsertionPointToStart(choice.elseBlock());
  int64_t rest = filters % lanes;
  for (int64_t at = 0; at < rest;) {
    Tile part = pixel;
    part.lanes = llvm::bit_floor(static_cast<uint64_t>(rest - at));
    part.at[loops.f] = add(pixel.at[loops.f], index(at));
    Value some = part.lanes == 1
                     ? b.create<vector::ExtractOp>(loc, sums, at).getResult()
                     : b.create<vector::ExtractStridedSliceOp>(loc, sums, at, part.lanes, int64_t(1)).getResult();
    tileEmitter.emitSum(part, some);
    at += part.lanes;
  }
}

void WinogradEmitter::transformOutputs(const Image &image, const Band &band, Value panel, Value from, Value to,
                                       Value products) {
  if (band.group)
    to = b.create<arith::MinUIOp>(loc, to, band.tiles.value);
  forEach(from, to, [&](Value tile) {
    auto place = placeOf(add(band.first, tile));
    Value at = times(b.create<arith::SubIOp>(loc, tile, from), {panelLanes, {}});
    Value first = times(panel, {panelLanes, {}});
    Value count = index(panelLanes);
    if (filters % panelLanes)
      count = b.create<arith::MinUIOp>(loc, count, b.create<arith::SubIOp>(loc, index(filters), first));
    auto each = b.create<scf::ForOp>(loc, index(0), count, index(lanes));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(each.getBody());
    Value lane = each.getInductionVar();
    Values sums;
    for (int64_t point = 0; point < points; ++point)
      sums.push_back(b.create<vector::LoadOp>(loc, sumVector, products, add(add(at, lane), index(point * pointM))));
    Values results = transformed(rows.matrices.outputs, columns.matrices.outputs, sums);
    if (perLane > 1) // twice what they are, along each axis
      for (Value &result : results)
        result = b.create<arith::ShRSIOp>(
            loc, result, b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(sumVector, doublings())));
    // Tiles may end beyond the image.
    auto inside = [&](const Axis &axis, Value position, function_ref<void()> body) {
      if (axis.isEven())
        return body();
      Value within = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, position, materialize(axis.size));
      auto choice = b.create<scf::IfOp>(loc, within, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(choice.thenBlock());
      body();
    };
    Tile pixel;
    pixel.at.resize(nest.loops.size());
    pixel.lanes = lanes;
    pixel.at[loops.n] = image.number;
    if (isVolume)
      pixel.at[loops.d] = image.slice;
    pixel.at[loops.f] = add(first, lane);
    for (int64_t i = 0; i < rows.m(); ++i) {
      Value row = lineOf(rows, place.first, i);
      inside(rows, row, [&] {
        for (int64_t j = 0; j < columns.m(); ++j) {
          Value column = lineOf(columns, place.second, j);
          inside(columns, column, [&] {
            if (rows.loop >= 0)
              pixel.at[rows.loop] = row;
            pixel.at[columns.loop] = column;
            emitFilters(pixel, results[i * columns.m() + j]);
          });
        }
      });
    }
  });
}

Value WinogradEmitter::buffer(int64_t elements, Type element) {
  auto type = MemRefType::get({elements}, element);
  return b.create<memref::AllocOp>(loc, type, b.getI64IntegerAttr(options.lineBytes));
}

/// The products of some groups with a panel of weights, and what becomes of them.
void WinogradEmitter::multiplyChunk(const Image &image, const Band &band, Value task, Value v, Value products) {
  Value panel = b.create<arith::DivUIOp>(loc, task, index(chunks));
  Value first = times(b.create<arith::RemUIOp>(loc, task, index(chunks)), {together, {}}), end = index(groups);
  if (band.group)
    end = b.create<arith::CeilDivUIOp>(loc, band.tiles.value, band.group);
  Value last = b.create<arith::MinUIOp>(loc, add(first, index(together)), end);
  multiply(image, band, panel, first, last, v, products);
  transformOutputs(image, band, panel, firstTile(band, first), firstTile(band, last), products);
}

void WinogradEmitter::bandsAsTasks() {
  Value count = times(numberOfImages(), bands);
  auto parallel = b.create<scf::ParallelOp>(loc, ValueRange{index(0)}, ValueRange{count}, ValueRange{index(1)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(parallel.getBody());
  Value task = parallel.getInductionVars()[0];
  Image image = imageAt(b.create<arith::DivUIOp>(loc, task, materialize(bands)));
  Band band = bandAt(b.create<arith::RemUIOp>(loc, task, materialize(bands)));
  Value v = buffer(points * pointV, data.element);
  Value products = buffer(points * pointM, sumVector.getElementType());
  transformInputs(image, band, v);
  forEach({panels * chunks, {}}, [&](Value part) { multiplyChunk(image, band, part, v, products); });
  b.create<memref::DeallocOp>(loc, products);
  b.create<memref::DeallocOp>(loc, v);
}

LogicalResult WinogradEmitter::emit() {
  if (!measure())
    return failure();
  if (ownBands) {
    bandsAsTasks();
    return success();
  }
  Value v = buffer(points * pointV, data.element);
  forEach(index(0), numberOfImages(), [&](Value each) {
    Image image = imageAt(each);
    forEach(bands, [&](Value number) {
      Band band = bandAt(number);
      transformInputs(image, band, v);
      inTasks({panels * chunks, {}}, 1, [&](Value task) {
        Value products = buffer(points * pointM, sumVector.getElementType());
        multiplyChunk(image, band, task, v, products);
        b.create<memref::DeallocOp>(loc, products);
      });
    });
  });
  b.create<memref::DeallocOp>(loc, v);
  return success();
}
} // namespace

LogicalResult strata::emitWinograd(OpBuilder &b, Location loc, LoopNest &nest, const NestOptions &options) {
  auto m = nest.reduce ? nest.reduce->op->getAttrOfType<IntegerAttr>(kWinograd) : nullptr;
  if (!m || !isVectorizable(nest))
    return failure();
  return WinogradEmitter(b, loc, nest, options, m.getInt()).emit();
}
