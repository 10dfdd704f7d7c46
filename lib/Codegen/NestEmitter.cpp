//===- NestEmitter.cpp - the loops around the tiles of a nest -------------===//
//
// Tiles of rows, full ones and what is left; the loops around them; tasks of the
// first ones where there is enough work.
//
//===----------------------------------------------------------------------===//
#include "NestEmitter.h"
#include "LaneTiles.h"
#include "MatrixTiles.h"
#include "MergedLoop.h"
#include "TileEmitter.h"
#include "WeightPanels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace strata;

namespace {

/// Iterations in one task, at most: threads share tasks, so of too few one would have much more than another.
int64_t mostInTask(int64_t iterations) { return std::max<int64_t>(1, iterations / 16); }

/// A loop and how far one iteration goes.
using Order = SmallVector<std::pair<int, int64_t>>;

class NestEmitter : IndexMath {
public:
  NestEmitter(OpBuilder &b, Location loc, LoopNest &nest, const NestOptions &options, WeightPanel *panel)
      : IndexMath{b, loc}, nest(nest), options(options), panel(panel), plan(planNest(nest, options)),
        tileEmitter(b, loc, nest, plan, options), laneTiles(b, loc, nest, plan, options),
        matrixTiles(b, loc, nest, plan, options, tileEmitter) {
    if (panel)
      planForPanel();
    if (plan.copied >= 0)
      copyEmitter.emplace(b, loc, copyNest.emplace(nest), plan, options);
  }

  double emit();

private:
  LoopNest &nest;
  const NestOptions &options;
  WeightPanel *panel;
  NestPlan plan;
  TileEmitter tileEmitter;
  LaneTiles laneTiles;
  MatrixTiles matrixTiles;
  /// With the vectors of `plan.copied` where they are copied to, and what emits tiles at the moment.
  std::optional<LoopNest> copyNest;
  std::optional<TileEmitter> copyEmitter;
  TileEmitter *emitter = &tileEmitter;

  /// With plan.evenRows: how many tiles the rows are shared out to. A tile's place is then its number.
  Extent rowTiles;

  bool isFilled = false; ///< the panel of the lanes that loops are emitted for

  /// Rows that one task shares a copy for; 0: all.
  int64_t copiedRows = 0;

  int64_t rowBlock() const { return plan.matrix ? plan.matrix->rowBlock : copiedRows ? copiedRows : plan.rowBlock; }
  /// How far a loop goes, and its step: of even tiles of rows their numbers.
  std::pair<Extent, int64_t> rangeOf(std::pair<int, int64_t> entry) {
    auto [loop, step] = entry;
    if (plan.evenRows && loop == plan.row)
      return {rowTiles, step / plan.rowTile};
    return {rowsOf(nest, plan, loop), step};
  }
  /// Whether tiles of rows run across the borders of this loop's iterations.
  bool isAmongRows(int loop) const { return plan.matrix && plan.matrix->runsAcross() && loop == plan.matrix->second; }
  int64_t rowsOfCopy() const;
  Order orderLoops();
  bool isBetweenPadding(std::pair<int, int64_t> entry);
  void lanesOf(const Tile &tile);
  void tiles(Tile tile);
  void evenTile(Tile tile);
  void rowsWithCopy(Tile tile);
  void laneBlock(Tile tile);
  void loops(ArrayRef<std::pair<int, int64_t>> order, Tile tile);
  Value prepare();
  void planForPanel();
  void fillPanel(Value lane);
  Value grainOf(ArrayRef<std::pair<int, int64_t>> split, double pointNs, int64_t most);
  void tasks(const Order &order, Tile tile, double pointNs);
};

void NestEmitter::lanesOf(const Tile &tile) {
  if (plan.copiesRuns)
    return tileEmitter.copyRun(tile);
  laneTiles.emit(tile, *emitter);
}

/// No tile is smaller than the others by more than one row, and each reads the weights once: there is code for each
/// number of rows that a tile may have.
void NestEmitter::evenTile(Tile tile) {
  Value number = tile.at[plan.row], rows = materialize(nest.loops[plan.row].size);
  auto place = [&](Value number) -> Value {
    return b.create<arith::DivUIOp>(loc, b.create<arith::MulIOp>(loc, number, rows), materialize(rowTiles));
  };
  tile.at[plan.row] = place(number);
  tileEmitter.rowNumber = number;
  Value count = b.create<arith::SubIOp>(loc, place(add(number, index(1))), tile.at[plan.row]);
  int64_t least = rowTiles.isKnown() ? plan.rowTile - 1 : plan.leastRows;
  auto cases = llvm::to_vector(llvm::seq<int64_t>(least, plan.rowTile));
  auto choice = b.create<scf::IndexSwitchOp>(loc, TypeRange(), count, cases, cases.size());
  OpBuilder::InsertionGuard guard(b);
  for (int64_t rows = least; rows <= plan.rowTile; ++rows) {
    Region &region = rows < plan.rowTile ? choice.getCaseRegions()[rows - least] : choice.getDefaultRegion();
    b.setInsertionPointToStart(&region.emplaceBlock());
    auto yield = b.create<scf::YieldOp>(loc);
    b.setInsertionPoint(yield);
    tile.rows = rows;
    lanesOf(tile);
  }
  tileEmitter.rowNumber = {};
}

/// Full tiles of rows, then smaller ones.
void NestEmitter::tiles(Tile tile) {
  if (plan.evenRows)
    return evenTile(tile);
  if (plan.row < 0) {
    tile.rows = 1;
    return lanesOf(tile);
  }
  const Extent &size = nest.loops[plan.row].size;
  auto with = [&](int64_t rows, Value at) {
    Tile part = tile;
    part.rows = rows;
    part.at[plan.row] = at;
    lanesOf(part);
  };
  Value start = tile.at[plan.row];
  if (tile.inside || (size.isKnown() && size.known % plan.rowTile == 0))
    return with(plan.rowTile, start);
  Value end = materialize(size);
  Value stop = b.create<arith::AddIOp>(loc, start, index(plan.rowTile));
  Value fits = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, stop, end);
  auto choice = b.create<scf::IfOp>(loc, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  with(plan.rowTile, start);
  b.setInsertionPointToStart(choice.elseBlock());
  if (size.isKnown() && !plan.transposes)
    return with(size.known % plan.rowTile, start);
  Value at = start;
  for (int64_t rows = plan.rowTile / 2; rows >= 1; rows = rows >= kWindowRows ? rows / 2 : rows > 1 ? 1 : 0) {
    Value left = b.create<arith::SubIOp>(loc, end, at);
    Value over = b.create<arith::RemUIOp>(loc, left, index(rows));
    Value stop = b.create<arith::SubIOp>(loc, end, over);
    auto each = b.create<scf::ForOp>(loc, at, stop, index(rows));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(each.getBody());
    with(rows, each.getInductionVar());
    at = stop;
  }
}

/// What each task has for itself: tiles of the matrix unit, and room for copied vectors, which is returned.
Value NestEmitter::prepare() {
  matrixTiles.prepare();
  int64_t tileSums = tileEmitter.finishesInLoop() ? plan.rowTile * plan.vectorTile * plan.width : 0;
  if (int64_t sums = std::max(plan.laneBlock, tileSums)) {
    auto type = MemRefType::get({sums}, nest.reduce->outputs[0].element);
    tileEmitter.sums = b.create<memref::AllocaOp>(loc, type, b.getI64IntegerAttr(options.lineBytes));
    if (copyEmitter)
      copyEmitter->sums = tileEmitter.sums;
  }
  if (panel) {
    auto type = MemRefType::get({panel->elements}, panel->access.element);
    Value buffer = b.create<memref::AllocOp>(loc, type, b.getI64IntegerAttr(options.lineBytes));
    Value &read = nest.reduce->inputs[1].base;
    read = panel->access.base = b.create<memref::CastOp>(loc, read.getType(), buffer);
    return buffer;
  }
  if (plan.copied < 0)
    return tileEmitter.prepareBlocks();
  Access &copy = copyNest->reduce->inputs[plan.copied];
  int64_t block = plan.vectorTile * plan.width, elements = block;
  SmallVector<int> inside = tileEmitter.reductionOrder();
  for (int loop : llvm::reverse(inside)) {
    copy.strides[loop] = {elements, {}};
    elements *= nest.loops[loop].size.known;
  }
  auto type = MemRefType::get({elements}, copy.element);
  Value buffer = b.create<memref::AllocOp>(loc, type, b.getI64IntegerAttr(options.lineBytes));
  auto flat =
      MemRefType::get({ShapedType::kDynamic}, copy.element, StridedLayoutAttr::get(b.getContext(), /*offset=*/0, {1}));
  copy.base = b.create<memref::CastOp>(loc, flat, buffer);
  copy.offset = {};
  // One block, which all blocks of lanes share.
  copy.blockedLoop = plan.lane;
  copy.block = block;
  copy.withinStride = 1;
  copy.blockStride = {0, {}};
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (!info.reduction)
      copy.strides[loop] = {0, {}};
  return buffer;
}

/// A panel is filled for as many lanes as one block has, and all rows then use it.
void NestEmitter::planForPanel() {
  int64_t vectors = panel->access.block / plan.width;
  if (plan.vectorTile != vectors) {
    plan.vectorTile = vectors;
    plan.rowTile = std::min(plan.rowTile, std::max<int64_t>(1, (options.registers - vectors - 1) / vectors));
    plan.evenRows = !nest.loops[plan.row].size.isKnown();
  }
  plan.laneOutermost = true;
  plan.weightsStay = false;
  if (plan.matrix && plan.matrix->rowBlock)
    plan.matrix->rowBlock = std::max(plan.matrix->rowBlock, kTilesForCopy * plan.rowTile);
}

void NestEmitter::fillPanel(Value lane) {
  NestPlan filling;
  filling.lane = panel->weights.lane;
  filling.width = plan.width;
  auto apart = b.create<scf::ParallelOp>(loc, ValueRange{index(0)}, ValueRange{index(panel->access.block)},
                                         ValueRange{index(plan.width)});
  apart->setAttr(kApart, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(apart.getBody());
  Tile tile;
  tile.at.resize(panel->source.loops.size());
  tile.at[filling.lane] = add(lane, apart.getInductionVars()[0]);
  tile.lanes = plan.width;
  TileEmitter(b, loc, panel->source, filling, options).fillPanel(tile, panel->weights, panel->access, panel->pair);
}

/// The first rows read vectors where they are and copy them; the others read the copy.
void NestEmitter::rowsWithCopy(Tile tile) {
  Value start = tile.at[plan.row], end = materialize(nest.loops[plan.row].size);
  if (start)
    end = b.create<arith::MinUIOp>(loc, add(start, index(rowBlock())), end);
  else
    start = index(0);
  tile.at[plan.row] = start;
  tileEmitter.copy = &copyNest->reduce->inputs[plan.copied];
  tiles(tile);
  tileEmitter.copy = nullptr;
  auto each = b.create<scf::ForOp>(loc, add(start, index(plan.rowTile)), end, index(plan.rowTile));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(each.getBody());
  tile.at[plan.row] = each.getInductionVar();
  emitter = &*copyEmitter;
  tiles(tile);
  emitter = &tileEmitter;
}

/// The sums of a block of lanes: started, then some iterations of the reduction at a time for all of them, then stored.
void NestEmitter::laneBlock(Tile tile) {
  int64_t step = plan.vectorTile * plan.width;
  Value start = tile.at[plan.lane], end = add(start, index(plan.laneBlock));
  const Extent &lanes = nest.loops[plan.lane].size;
  if (!lanes.isKnown() || lanes.known % plan.laneBlock)
    end = b.create<arith::MinUIOp>(loc, end, materialize(lanes));
  tileEmitter.firstSum = start;
  auto all = [&](TileEmitter::Part part) {
    tileEmitter.part = part;
    auto each = b.create<scf::ForOp>(loc, start, end, index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(each.getBody());
    tile.at[plan.lane] = each.getInductionVar();
    tiles(tile);
  };
  all(TileEmitter::Part::Start);
  const Extent &depth = nest.loops[tileEmitter.reductionOrder().front()].size;
  auto deep = b.create<scf::ForOp>(loc, index(0), materialize(depth), index(plan.depthBlock));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(deep.getBody());
    Value from = deep.getInductionVar(), to = add(from, index(plan.depthBlock));
    if (!depth.isKnown() || depth.known % plan.depthBlock)
      to = b.create<arith::MinUIOp>(loc, to, materialize(depth));
    tileEmitter.depth = {from, to};
    all(TileEmitter::Part::Accumulate);
    tileEmitter.depth = {};
  }
  all(TileEmitter::Part::Finish);
  tileEmitter.part = TileEmitter::Part::All;
}

void NestEmitter::loops(ArrayRef<std::pair<int, int64_t>> order, Tile tile) {
  if (panel && !isFilled && tile.at[plan.lane]) {
    fillPanel(tile.at[plan.lane]);
    isFilled = true;
  }
  if (plan.hasBlocksOnUnit() && !isFilled && tile.at[plan.lane]) {
    tileEmitter.fillCodes(tile);
    isFilled = true;
  }
  if (order.empty() && plan.laneBlock)
    return laneBlock(tile);
  if (order.empty() && plan.matrix)
    return matrixTiles.emit(tile, [&](const Tile &row) { lanesOf(row); });
  if (order.empty())
    return tiles(tile);
  int loop = order.front().first;
  if (plan.copied >= 0 && order.size() == 1)
    return rowsWithCopy(tile);
  auto [size, step] = rangeOf(order.front());
  if (Value start = tile.at[loop]) { // of a block
    int64_t block = loop == plan.outerBlock.first ? plan.outerBlock.second : rowBlock();
    Value end = b.create<arith::AddIOp>(loc, start, index(rangeOf({loop, block}).second));
    auto each = b.create<scf::ForOp>(loc, start, b.create<arith::MinUIOp>(loc, end, materialize(size)), index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(each.getBody());
    tile.at[loop] = each.getInductionVar();
    return loops(order.drop_front(), tile);
  }
  if (size.isKnown() && size.known <= step && size.known > 0) {
    tile.at[loop] = index(0);
    return loops(order.drop_front(), tile);
  }
  if (isBetweenPadding(order.front())) {
    int64_t last = (size.known - 1) / step * step;
    auto at = [&](Value place, bool inside) {
      tile.at[loop] = place;
      tile.inside = inside;
      loops(order.drop_front(), tile);
    };
    at(index(0), false);
    if (last > step) {
      auto each = b.create<scf::ForOp>(loc, index(step), index(last), index(step));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(each.getBody());
      at(each.getInductionVar(), true);
    }
    return at(index(last), false);
  }
  auto each = b.create<scf::ForOp>(loc, index(0), materialize(size), index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(each.getBody());
  tile.at[loop] = each.getInductionVar();
  loops(order.drop_front(), tile);
}

/// Whether this loop is over tiles of rows of which only the first one and the last one read padding: there is code for
/// either, and for those between them.
bool NestEmitter::isBetweenPadding(std::pair<int, int64_t> entry) {
  auto [loop, step] = entry;
  const Extent size = rowsOf(nest, plan, loop);
  if (loop != plan.row || plan.matrix || plan.copied >= 0 || plan.evenRows || !size.isKnown() || size.known <= step)
    return false;
  const auto *padded =
      llvm::find_if(nest.padded, [&](const PaddedLoop &padded) { return padded.position == plan.row; });
  if (padded == nest.padded.end())
    return false;
  int64_t last = (size.known - 1) / step * step, taps = nest.loops[padded->tap].size.known;
  return last == step || (padded->isInside(step, 0) && padded->isInside(last - 1, taps - 1));
}

/// Outside first: what the weights depend on; then rows inside vectors of weights where these are large, else vectors
/// inside rows. Where all weights stay in the cache, what lies within the results of a row comes behind the rows: tasks
/// are then made of rows, and threads do not write the same lines by turns. Rows of sums along the lanes are used by
/// all that they are multiplied with before the next ones are read.
Order NestEmitter::orderLoops() {
  Order order, inner, behind;
  bool laneLoop = plan.lane >= 0 && !plan.laneIsReduction;
  auto outStride = [&](int loop) {
    Extent s = stride(nest.last().outputs[0], loop);
    return s.isKnown() ? s.known : INT64_MAX;
  };
  bool rowsFirst = plan.weightsStay && plan.row >= 0;
  auto usesRowsAgain = [&](int loop) {
    return plan.laneIsReduction && plan.row >= 0 && llvm::all_of(nest.reduce->inputs, [&](Access &access) {
             return stride(access, plan.row).is(0) || stride(access, loop).is(0);
           });
  };
  for (auto [l, info] : llvm::enumerate(nest.loops)) {
    int loop = l;
    if (info.reduction || loop == plan.lane || loop == plan.row || isAmongRows(loop))
      continue;
    bool weightsDepend = nest.reduce && laneLoop && choosesWeights(nest, plan, loop);
    bool tiled = plan.matrix && plan.matrix->second == loop;
    bool within = rowsFirst && outStride(loop) < outStride(plan.row);
    Order &place = usesRowsAgain(loop) ? behind : !weightsDepend ? inner : within ? behind : order;
    place.push_back({loop, tiled ? plan.matrix->rowTiles : 1});
  }
  auto byStride = [&](auto &x, auto &y) {
    int64_t a = outStride(x.first), b = outStride(y.first);
    return a != b ? a > b : x.first < y.first;
  };
  llvm::sort(order, byStride);
  llvm::sort(inner, byStride);
  llvm::sort(behind, byStride);
  if (rowBlock())
    order.push_back({plan.row, rowBlock()});
  if (plan.outerBlock.second) {
    auto isAround = [&](auto &entry) { return llvm::is_contained(plan.aroundBlocks, entry.first); };
    llvm::copy_if(inner, std::back_inserter(order), isAround);
    llvm::erase_if(inner, isAround);
    order.push_back(plan.outerBlock);
  }
  if (laneLoop && plan.laneOutermost)
    order.push_back({plan.lane, plan.vectorTile * plan.width});
  order.append(inner);
  if (plan.row >= 0)
    order.push_back({plan.row, plan.rowTile});
  order.append(behind);
  if (laneLoop && !plan.laneOutermost)
    order.push_back({plan.lane, plan.laneBlock ? plan.laneBlock : plan.vectorTile * plan.width});
  // Lines that go past the caches need no order: what they are made of is read in order, as memory likes it.
  if (plan.transposes && plan.streams)
    std::swap(order.back(), order[order.size() - 2]);
  return order;
}

/// Iterations of the split loops that make one task: what is known now times what is known at run time.
Value NestEmitter::grainOf(ArrayRef<std::pair<int, int64_t>> split, double pointNs, int64_t most) {
  double ns = pointNs;
  Value unknown;
  for (auto [l, info] : llvm::enumerate(nest.loops)) {
    if (info.reduction || isAmongRows(l))
      continue;
    auto found = llvm::find_if(split, [&, loop = static_cast<int>(l)](auto &entry) { return entry.first == loop; });
    const Extent size = rowsOf(nest, plan, l);
    if (found != split.end())
      ns *= size.isKnown() ? std::min(found->second, size.known) : found->second;
    else if (size.isKnown())
      ns *= size.known;
    else
      unknown = unknown ? b.create<arith::MulIOp>(loc, unknown, size.value).getResult() : size.value;
  }
  Value grain = index(std::clamp<int64_t>(static_cast<int64_t>(options.taskNs / std::max(ns, 0.001)), 1, most));
  if (!unknown)
    return grain;
  Value one = index(1);
  Value per = b.create<arith::DivUIOp>(loc, grain, b.create<arith::MaxUIOp>(loc, unknown, one));
  return b.create<arith::MaxUIOp>(loc, per, one);
}

/// The first loops, as many as give tasks enough, become one of tasks.
void NestEmitter::tasks(const Order &order, Tile tile, double pointNs) {
  auto trips = [&](unsigned i) -> Extent {
    auto [size, step] = rangeOf(order[i]);
    if (size.isKnown())
      return {(size.known + step - 1) / step, {}};
    if (step == 1)
      return size;
    return {0, b.create<arith::CeilDivUIOp>(loc, size.value, index(step))};
  };
  SmallVector<Extent> counts;
  int64_t tasks = 1;
  unsigned split = 0;
  Value total;
  auto isBlocked = [&](unsigned i) {
    return is_contained(make_first_range(ArrayRef(order).take_front(i)), order[i].first);
  };
  // The rows that share a copy or a panel stay together.
  unsigned most = order.size() - (plan.copied >= 0 ? 1 : 0);
  if (panel)
    most = llvm::find(make_first_range(order), plan.lane) - make_first_range(order).begin() + 1;
  while (split < most && (split == 0 || (tasks < 64 && !isBetweenPadding(order[split]))) && !isBlocked(split)) {
    Extent count = trips(split++);
    counts.push_back(count);
    tasks *= count.isKnown() ? count.known : 8;
    total = total ? b.create<arith::MulIOp>(loc, total, materialize(count)).getResult() : materialize(count);
  }
  bool known = llvm::all_of(counts, [](const Extent &count) { return count.isKnown(); });
  Value grain = grainOf(ArrayRef(order).take_front(split), pointNs, known ? mostInTask(tasks) : INT64_MAX);
  auto parallel = b.create<scf::ParallelOp>(loc, ValueRange{index(0)}, ValueRange{total}, ValueRange{grain});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(parallel.getBody());
  Value buffer = prepare();
  Value first = parallel.getInductionVars()[0];
  Value stop = b.create<arith::MinUIOp>(loc, b.create<arith::AddIOp>(loc, first, grain), total);
  MergedLoop task = emitMergedLoop(
      b, loc, first, stop, llvm::map_to_vector(counts, [&](const Extent &count) { return materialize(count); }));
  for (auto [i, number] : llvm::enumerate(task.numbers))
    tile.at[order[i].first] = counts[i].is(1) ? index(0) : times(number, {rangeOf(order[i]).second, {}});
  loops(ArrayRef(order).drop_front(split), tile);
  b.setInsertionPointAfter(task.outermost);
  if (buffer)
    b.create<memref::DeallocOp>(loc, buffer);
}

/// Rows that share a copy, or a panel, are walked by one thread. Where all lanes make few tasks, of which one thread
/// would have much more than another, rows are several blocks, with a copy for each: as many rows that a copy costs
/// little.
int64_t NestEmitter::rowsOfCopy() const {
  if ((plan.copied < 0 && !panel) || !nest.loops[plan.row].size.isKnown())
    return 0;
  constexpr int64_t enoughTasks = 32;
  int64_t tasks = 1;
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    if (info.reduction || static_cast<int>(loop) == plan.row)
      continue;
    if (!info.size.isKnown() || tasks >= enoughTasks)
      return 0;
    tasks *= static_cast<int>(loop) == plan.lane
                 ? std::max<int64_t>(1, info.size.known / (plan.vectorTile * plan.width)) // what is left is little
                 : info.size.known;
  }
  int64_t tiles = llvm::divideCeil(nest.loops[plan.row].size.known, plan.rowTile);
  int64_t blocks = std::min<int64_t>(llvm::divideCeil(enoughTasks, tasks), tiles / kTilesForCopy);
  return blocks > 1 ? llvm::divideCeil(tiles, blocks) * plan.rowTile : 0;
}

double NestEmitter::emit() {
  Tile tile;
  tile.at.resize(nest.loops.size());
  if (plan.evenRows) {
    const Extent &rows = nest.loops[plan.row].size;
    if (rows.isKnown())
      rowTiles = {static_cast<int64_t>(llvm::divideCeil(rows.known, plan.rowTile)), {}};
    else
      rowTiles = {0, b.create<arith::CeilDivUIOp>(loc, rows.value, index(plan.rowTile))};
  }
  double points = 1, pointNs = estimatePointNs(nest, plan, options);
  int64_t unknown = 1;
  for (const Loop &loop : nest.loops)
    if (!loop.reduction) {
      points *= loop.size.isKnown() ? loop.size.known : 1;
      unknown *= loop.size.isKnown() ? 1 : 64;
    }
  bool inTasks = options.threads && (unknown > 1 || points * pointNs >= options.parallelNs);
  if (inTasks)
    copiedRows = rowsOfCopy();
  Order order = orderLoops();
  if (!inTasks || order.empty()) {
    Value buffer = prepare();
    loops(order, tile);
    if (buffer)
      b.create<memref::DeallocOp>(loc, buffer);
  } else {
    tasks(order, tile, pointNs);
  }
  return points * unknown * pointNs;
}

} // namespace

TaskSize strata::taskSize(double iterationNs, int64_t iterations, const NestOptions &options) {
  return {options.threads && iterations > 1 && iterations * iterationNs >= options.parallelNs,
          std::clamp<int64_t>(static_cast<int64_t>(options.taskNs / std::max(iterationNs, 0.001)), 1,
                              mostInTask(iterations))};
}

double strata::emitLoopNest(OpBuilder &b, Location loc, LoopNest &nest, const NestOptions &options,
                            WeightPanel *panel) {
  if (llvm::any_of(nest.loops, [](const Loop &loop) { return !loop.reduction && loop.size.is(0); }))
    return 0; // No results.
  return NestEmitter(b, loc, nest, options, panel).emit();
}

double strata::emitFewOrMany(OpBuilder &b, Location loc, Value rows, int64_t few, function_ref<void()> emitFew,
                             function_ref<double()> emitMany) {
  Value most = b.create<arith::ConstantIndexOp>(loc, few);
  Value areFew = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, rows, most);
  auto choice = b.create<scf::IfOp>(loc, areFew, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.elseBlock());
  double ns = emitMany();
  b.setInsertionPointToStart(choice.thenBlock());
  emitFew();
  return ns;
}
