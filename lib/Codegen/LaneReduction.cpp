//===- LaneReduction.cpp - reductions along the lanes of vectors ----------===//
#include "ProductSums.h"
#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace strata;

/// Splits a loop in `parts`, of which a new one, the last, has one iteration each. Fails where it cannot be told where
/// they lie, or somebody asks for a number of the loop.
static LogicalResult splitLoop(LoopNest &nest, int loop, int64_t parts) {
  Extent &size = nest.loops[loop].size;
  bool can = size.isKnown() && size.known % parts == 0 && nest.tails.empty();
  for (const PaddedLoop &padded : nest.padded)
    can &= padded.position != loop;
  nest.forEachStage([&](Stage &stage) {
    for (Operation &op : *stage.op.getBody())
      can &= !isa<linalg::IndexOp, memref::LoadOp>(op);
  });
  nest.forEachAccess(
      [&](Access &access) { can &= access.blockedLoop != loop && (!access.base || access.strides[loop].isKnown()); });
  if (!can)
    return failure();
  size.known /= parts;
  nest.loops.push_back({false, {parts, {}}});
  nest.forEachAccess([&](Access &access) {
    access.strides.push_back({access.base ? access.strides[loop].known * size.known : 0, {}});
    access.inside.assign(nest.loops.size(), -1);
  });
  return success();
}

/// Rows that come from memory, each once in a run. Of one place after another, hardware reads ahead to the end of a
/// page, so that rows at the beginning, the middle and so on of all rows go together: four of them. Where they are not
/// as many, rows of a page at least go side by side as others do, and shorter ones by themselves, in order.
static void planRowsFromMemory(LoopNest &nest, bool areShort, NestPlan &plan) {
  constexpr int64_t parts = 4;
  if (succeeded(splitLoop(nest, plan.row, parts))) {
    plan.row = static_cast<int>(nest.loops.size()) - 1;
    plan.rowTile = parts;
    plan.vectorTile = 2;
  } else if (areShort) {
    plan.row = -1;
    plan.evenRows = false;
    plan.rowTile = 1;
    plan.vectorTile = 4;
  }
}

/// Those that lie nearest to each other.
void strata::planRowsOfSums(LoopNest &nest, const NestOptions &options, NestPlan &plan) {
  std::optional<ProductSum> product = matchProductSum(nest.reduce->op);
  if (!product || !product->sum.isF32())
    return;
  const int64_t most = options.registers / 2;
  int64_t nearest = INT64_MAX;
  unsigned rowsOf = 0;
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    int64_t rows = info.size.isKnown() ? std::min(info.size.known, most) : most;
    if (info.reduction || rows < 4 || rows < plan.rowTile)
      continue;
    auto isShared = [&, loop = loop](unsigned input) { return stride(nest.reduce->inputs[input], loop).is(0); };
    unsigned varying = isShared(0);
    if (isShared(varying) || !isShared(1 - varying))
      continue;
    const Extent &step = stride(nest.reduce->inputs[varying], loop);
    int64_t distance = step.isKnown() ? std::abs(step.known) : INT64_MAX - 1;
    if (rows == plan.rowTile && distance >= nearest)
      continue;
    nearest = distance;
    plan.row = loop;
    plan.rowTile = rows;
    plan.vectorTile = 1;
    rowsOf = varying;
  }
  if (plan.row < 0)
    return;
  // A last row by itself would wait for one sum.
  if (!nest.loops[plan.row].size.isKnown()) {
    plan.rowTile = std::min(plan.rowTile, kEvenTiles);
    plan.evenRows = true;
  }
  linalg::GenericOp op = nest.reduce->op;
  const Access &rows = nest.reduce->inputs[rowsOf];
  std::optional<int64_t> elements = elementsOf(nest, rows);
  int64_t bytes = bytesOf(rows.element);
  if (elements && *elements * bytes > options.cacheBytes && getUses(op, op.getDpsInputOperand(rowsOf)) == 1)
    planRowsFromMemory(nest, /*areShort=*/nearest < options.pageBytes / bytes, plan);
}

/// Whether a reduction along the lanes may load some of a vector's: all that it loads there is in lanes which a mask
/// has bits for.
bool TileEmitter::mayMaskLanes() {
  return target.partLoads && canComputeMore(nest) && llvm::all_of(nest.reduce->inputs, [&](Access &access) {
           Extent lanes = stride(access, plan.lane);
           return access.scalar || !access.base ||
                  (access.blockedLoop != plan.lane &&
                   (lanes.is(0) || (lanes.is(1) && hasMasks(access.element, target))));
         });
}

/// The lane loop of a reduction: `carried` are the vector accumulators of each row, `plan.vectorTile` of them, then the
/// rows' scalar ones.
SmallVector<Value> TileEmitter::reduceLanes(const Tile &outer, SmallVector<Value> carried) {
  Stage &stage = *nest.reduce;
  const Extent &size = nest.loops[plan.lane].size;
  Value end = materialize(size), start = index(0);
  const int64_t scalars = outer.rows * plan.vectorTile;
  // A vector for each accumulator, those of a row together.
  auto step = [&](Tile tile, Value at, int64_t lanes, ValueRange accumulators) {
    tile.lanes = lanes;
    tile.at[plan.lane] = at;
    Values bases = basesOf(stage, tile), next(accumulators);
    for (auto [k, access] : llvm::enumerate(stage.inputs))
      if (access.base)
        bases[k] = add(bases[k], position(access, tile, true));
    Loaded cache;
    int64_t parts = next.size() / tile.rows;
    for (int64_t j = 0; j < parts; ++j)
      for (int64_t i = tile.paddedFirst; i < tile.rows - tile.paddedLast; ++i) {
        Value &accumulator = next[i * parts + j];
        Values arguments = inputsOf(stage, bases, tile, i, j, cache, {});
        arguments.push_back(accumulator);
        accumulator = spread(body(stage, arguments, tile, i, j, true)[0], lanes);
      }
    return next;
  };
  // Into the first `parts` accumulators of each row, `stride` apart, from `first` on.
  auto run = [&](int64_t first, int64_t stride, int64_t parts, int64_t lanes) {
    int64_t distance = parts * lanes;
    Value stop;
    if (size.isKnown()) {
      stop = index(size.known / distance * distance);
      if (getConstantIntValue(start) == getConstantIntValue(stop))
        return;
    } else {
      stop = b.create<arith::SubIOp>(loc, end, b.create<arith::RemUIOp>(loc, end, index(distance)));
    }
    Values accumulators;
    for (int64_t i = 0; i < outer.rows; ++i)
      llvm::append_range(accumulators, ArrayRef(carried).slice(first + i * stride, parts));
    auto round = [&](Value at, Values sums) -> Values { return step(outer, at, lanes, sums); };
    bool isLong = !size.isKnown() || size.known > 2 * kTermsInOrder * distance;
    Values sums = isLong && isPlainSum(stage) ? roundsInParts(start, stop, distance, accumulators, round)
                                              : rounds(start, stop, distance, accumulators, round);
    for (auto [n, result] : llvm::enumerate(sums))
      carried[first + n / parts * stride + n % parts] = result;
    start = stop;
  };
  if (plan.vectorTile > 1)
    run(0, plan.vectorTile, plan.vectorTile, plan.width);
  if (plan.width > 1)
    run(0, plan.vectorTile, 1, plan.width);
  // What is left of a vector: one that adds nothing in its other lanes.
  Extent left = size;
  if (size.isKnown())
    left.known %= plan.width;
  else
    left.value = b.create<arith::SubIOp>(loc, end, start);
  if (plan.width == 1 || left.is(1) || !mayMaskLanes()) {
    run(scalars, 1, 1, 1);
    return carried;
  }
  // Into the sums that the last full vectors did not wait for.
  Values sums;
  for (int64_t i = 0; i < outer.rows; ++i)
    sums.push_back(carried[(i + 1) * plan.vectorTile - 1]);
  auto addParts = [&] {
    Tile tile = outer;
    tile.present = {left};
    Value mask = maskOf(plan.width, left);
    Values more = step(tile, start, plan.width, sums);
    for (auto [sum, with] : llvm::zip(sums, more))
      with = b.create<arith::SelectOp>(loc, mask, with, sum);
    return more;
  };
  if (!left.isKnown()) {
    Value isSome = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, left.value, index(0));
    auto choice = b.create<scf::IfOp>(
        loc, isSome, [&](OpBuilder &, Location) { b.create<scf::YieldOp>(loc, addParts()); },
        [&](OpBuilder &, Location) { b.create<scf::YieldOp>(loc, sums); });
    sums.assign(choice.result_begin(), choice.result_end());
  } else if (left.known) {
    sums = addParts();
  }
  for (int64_t i = 0; i < outer.rows; ++i)
    carried[(i + 1) * plan.vectorTile - 1] = sums[i];
  return carried;
}

/// All lanes of a vector as one.
Value TileEmitter::reduceVector(Value vector) {
  using vector::CombiningKind;
  CombiningKind kind = plan.combiner->kind;
  if (plan.combiner->comparison) {
    for (int64_t lanes = plan.width / 2; lanes >= 1; lanes /= 2) {
      auto half = [&](int64_t from) -> Value {
        return b.create<vector::ShuffleOp>(loc, vector, vector, llvm::to_vector(llvm::seq(from, from + lanes)));
      };
      Value upper = half(lanes);
      vector = plan.combiner->join(b, loc, half(0), upper);
    }
    return b.create<vector::ExtractOp>(loc, vector, 0);
  }
  if (kind != CombiningKind::MAXIMUMF && kind != CombiningKind::MINIMUMF)
    return b.create<vector::ReductionOp>(loc, kind, vector);
  // A NaN is looked for once, not at each of the halvings.
  Value isNaN = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, vector, vector);
  Value any = b.create<vector::ReductionOp>(loc, CombiningKind::OR, isNaN);
  kind = kind == CombiningKind::MAXIMUMF ? CombiningKind::MAXNUMF : CombiningKind::MINNUMF;
  Value number =
      b.create<vector::ReductionOp>(loc, kind, vector, arith::FastMathFlags::nnan | arith::FastMathFlags::nsz);
  auto type = cast<FloatType>(number.getType());
  Value nan = b.create<arith::ConstantOp>(loc, b.getFloatAttr(type, APFloat::getNaN(type.getFloatSemantics())));
  return b.create<arith::SelectOp>(loc, any, nan, number);
}

/// Along the lanes, each row's sum: in vectors of parts, which are combined with what it starts with at the end.
SmallVector<Value> TileEmitter::reduceRowsToOnes(const Tile &tile, ArrayRef<Value> starts) {
  Value neutral =
      b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(VectorType::get({plan.width}, starts[0].getType()),
                                                              Attribute(plan.combiner->neutral)));
  Values carried(tile.rows * plan.vectorTile, neutral), results;
  llvm::append_range(carried, starts);
  carried = reduceLoops(tile, reductionOrder(), carried,
                        [&](const Tile &inner, Values values) { return reduceLanes(inner, values); });
  auto combine = [&](Value x, Value y) { return plan.combiner->join(b, loc, x, y); };
  for (int64_t i = 0; i < tile.rows; ++i) {
    Values parts(ArrayRef(carried).slice(i * plan.vectorTile, plan.vectorTile));
    while (parts.size() > 1) {
      Value last = parts.pop_back_val();
      Value &into = parts[parts.size() / 2];
      into = combine(into, last);
    }
    results.push_back(combine(carried[tile.rows * plan.vectorTile + i], reduceVector(parts[0])));
  }
  return results;
}
