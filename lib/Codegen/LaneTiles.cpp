//===- LaneTiles.cpp - tiles along the lanes of vectors -------------------===//
#include "LaneTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace strata;

/// Whether a vector may compute lanes again that another one has computed and stored: where that takes one pass over
/// the reduction instead of several. Their results are left.
bool LaneTiles::canRepeat() {
  bool can = plan.copied < 0 && !plan.laneBlock && !plan.dots && mayDiscardLanes(nest, plan);
  nest.forEachAccess([&](Access &access) { can &= access.blockedLoop != plan.lane; });
  return can;
}

/// Whether lanes behind the last result may be computed and left.
bool LaneTiles::canLeave() {
  return !plan.laneBlock && !plan.scaled && plan.window < 0 && canLoadParts(nest, plan, options, plan.width);
}

void LaneTiles::emit(Tile tile, Value at, int64_t vectors, int64_t lanes, ArrayRef<Extent> present) {
  tile.at[plan.lane] = at;
  tile.vectors = vectors;
  tile.lanes = lanes;
  tile.present.assign(present.begin(), present.end());
  emitter->emit(tile);
}

/// Vectors of which the last one is not full, as narrower ones would take passes of their own.
void LaneTiles::emitInOnePass(const Tile &tile, int64_t left) {
  Value start = tile.at[plan.lane];
  auto partOf = [](int64_t lanes) { return lanes ? SmallVector<Extent>{{lanes, {}}} : SmallVector<Extent>(); };
  // Where vectors are computed in halves, a half takes half of the time; but products of several numbers wait for these
  // to be read.
  int64_t half = plan.width / 2, over = left % plan.width;
  if (plan.dots || options.vectorBits != 512 || options.fmaPerCycle > 1 || over > half)
    return emit(tile, start, llvm::divideCeil(left, plan.width), plan.width, partOf(over));
  if (left > over) {
    emit(tile, start, left / plan.width, plan.width);
    start = add(start, index(left - over));
  }
  emit(tile, start, 1, half, partOf(over % half));
}

void LaneTiles::emitKnownRest(const Tile &tile, int64_t left) {
  int64_t size = nest.loops[plan.lane].size.known;
  Value at = tile.at[plan.lane];
  bool hasPasses = left > plan.width ? left % plan.width : !llvm::isPowerOf2_64(left) && !canRepeat();
  if (hasPasses && size > plan.width && canLeave())
    return emitInOnePass(tile, left);
  for (int64_t lanes = plan.width; left; lanes /= 2) {
    // Several narrow vectors are one that reaches back into the last full one.
    int64_t wider = llvm::PowerOf2Ceil(left);
    if (left < plan.width && left < wider && wider <= size && canRepeat()) {
      Tile part = tile;
      part.stored = wider - left;
      return emit(part, index(size - wider), 1, wider);
    }
    if (size < lanes) // of a vector that it does not fill
      return emit(tile, at, 1, lanes, {{left, {}}});
    if (int64_t vectors = left / lanes) {
      emit(tile, at, vectors, lanes);
      at = add(at, index(vectors * lanes));
    }
    left %= lanes;
  }
}

/// Lanes of a reduction, of which `left` are left, no more than in so many vectors. They take one pass, in which the
/// last vectors are there in part or not at all: multiplying them for nothing takes less time than a pass for each.
void LaneTiles::emitAnyRest(const Tile &tile, Value left, int64_t vectors) {
  OpBuilder::InsertionGuard guard(b);
  int64_t half = vectors / 2;
  if (half) {
    Value areFew = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, left, index(half * plan.width));
    auto choice = b.create<scf::IfOp>(loc, areFew, /*withElseRegion=*/true);
    b.setInsertionPointToStart(choice.thenBlock());
    emitAnyRest(tile, left, half);
    b.setInsertionPointToStart(choice.elseBlock());
  }
  SmallVector<Extent> present;
  for (int64_t vector = half; vector < vectors; ++vector)
    present.push_back({0, b.create<arith::SubIOp>(loc, left, index(vector * plan.width))});
  emit(tile, tile.at[plan.lane], vectors, plan.width, present);
}

void LaneTiles::emitUnknownRest(const Tile &tile) {
  Value at = tile.at[plan.lane], end = materialize(nest.loops[plan.lane].size);
  Value left = b.create<arith::SubIOp>(loc, end, at);
  bool canMask = canMaskLanes(nest, plan, options);
  if (canMask && nest.reduce && plan.window < 0)
    return emitAnyRest(tile, left, plan.vectorTile);
  Value over = b.create<arith::RemUIOp>(loc, left, index(plan.width));
  Value stop = b.create<arith::SubIOp>(loc, end, over);
  auto each = b.create<scf::ForOp>(loc, at, stop, index(plan.width));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(each.getBody());
  emit(tile, each.getInductionVar(), 1, plan.width);
  b.setInsertionPointAfter(each);
  at = stop;
  auto emitIf = [&](Value lanesLeft, int64_t lanes, ArrayRef<Extent> present) {
    Value isSome = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, lanesLeft, index(0));
    auto some = b.create<scf::IfOp>(loc, isSome, /*withElseRegion=*/false);
    b.setInsertionPointToStart(some.thenBlock());
    emit(tile, at, 1, lanes, present);
    b.setInsertionPointAfter(some);
  };
  if (canMask)
    return emitIf(over, plan.width, {{0, over}});
  for (int64_t lanes = plan.width / 2; lanes; lanes /= 2) {
    Value bit = b.create<arith::AndIOp>(loc, over, index(lanes));
    emitIf(bit, lanes, {});
    at = add(at, bit);
  }
}

void LaneTiles::emit(Tile tile, TileEmitter &by) {
  emitter = &by;
  if (plan.lane < 0 || plan.laneIsReduction) {
    tile.vectors = tile.lanes = 1;
    return emitter->emit(tile);
  }
  const Extent &size = nest.loops[plan.lane].size;
  int64_t step = plan.vectorTile * plan.width;
  Value start = tile.at[plan.lane];
  auto emitRest = [&] { size.isKnown() ? emitKnownRest(tile, size.known % step) : emitUnknownRest(tile); };
  if (size.isKnown() && size.known % step == 0)
    return emit(tile, start, plan.vectorTile, plan.width);
  if (size.isKnown() && size.known < step)
    return emitRest();
  Value stop = b.create<arith::AddIOp>(loc, start, index(step));
  Value fits = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, stop, materialize(size));
  auto choice = b.create<scf::IfOp>(loc, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  emit(tile, start, plan.vectorTile, plan.width);
  b.setInsertionPointToStart(choice.elseBlock());
  emitRest();
}
