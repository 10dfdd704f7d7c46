//===- TileReduction.cpp - a tile from its start to its results -----------===//
#include "ApproximateMath.h"
#include "ProductSums.h"
#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace strata;

std::pair<Value, Value> TileEmitter::rangeOf(int loop, const Tile &tile) {
  if (depth.first)
    return depth;
  Value end = materialize(nest.loops[loop].size);
  for (const PaddedLoop &padded : nest.padded) {
    // What shall be copied needs all taps.
    bool ofRows = padded.position == plan.row;
    if (padded.tap != loop || padded.position == plan.lane || plan.copied >= 0 || (ofRows && tile.inside))
      continue;
    Value at = padded.position < 0 ? index(0) : times(tile.at[padded.position], {padded.stride, {}});
    auto tapAt = [&](int64_t element) {
      Value distance = b.createOrFold<arith::SubIOp>(loc, index(element), at);
      distance = b.createOrFold<arith::MaxSIOp>(loc, distance, index(0));
      return b.createOrFold<arith::CeilDivUIOp>(loc, distance, index(padded.dilation));
    };
    int64_t last = ofRows ? (tile.rows - 1) * padded.stride : 0;
    Value from = tapAt(padded.low - last), to = tapAt(padded.low + padded.size);
    return {from, b.createOrFold<arith::MinUIOp>(loc, to, end)};
  }
  return {index(0), end};
}

/// What is known of a loop over taps that read padding at some of the tile's rows, where the taps are few and the rows'
/// place is known: there is code for each tap.
const PaddedLoop *TileEmitter::paddedRowsOf(int tap, const Tile &tile) {
  constexpr int64_t mostTaps = 7;
  auto isOfRows = [&](const PaddedLoop &padded) { return padded.tap == tap && padded.position == plan.row; };
  const auto *found = llvm::find_if(nest.padded, isOfRows);
  return found != nest.padded.end() && plan.row >= 0 && plan.copied < 0 && !depth.first &&
                 nest.loops[tap].size.known <= mostTaps && getConstantIntValue(tile.at[plan.row])
             ? &*found
             : nullptr;
}

/// Whether parts of a sum can have sums of their own: not products of matrices, whose terms have either sign, nor
/// samples that the body reads from an image (RoiAlign), which are few.
bool TileEmitter::isPlainSum(const Stage &stage) {
  linalg::GenericOp op = stage.op;
  Block &body = *op.getBlock();
  if (!body.getOps<memref::LoadOp>().empty())
    return false;
  return llvm::all_of(llvm::enumerate(body.getTerminator()->getOperands()), [&](auto output) {
    Value sum = body.getArgument(op.getNumDpsInputs() + output.index());
    auto add = output.value().template getDefiningOp<arith::AddFOp>();
    if (!add || (add.getLhs() != sum && add.getRhs() != sum))
      return false;
    auto product = (add.getLhs() == sum ? add.getRhs() : add.getLhs()).template getDefiningOp<arith::MulFOp>();
    return !product || product.getLhs() == product.getRhs();
  });
}

TileEmitter::Values TileEmitter::zerosOf(ValueRange sums) {
  return llvm::map_to_vector(
      sums, [&](Value sum) -> Value { return b.create<arith::ConstantOp>(loc, b.getZeroAttr(sum.getType())); });
}

TileEmitter::Values TileEmitter::addSums(ValueRange before, Values sums) {
  for (auto [sum, others] : llvm::zip_equal(sums, before))
    sum = b.create<arith::AddFOp>(loc, others, sum);
  return sums;
}

/// A loop that carries `values`.
TileEmitter::Values TileEmitter::rounds(Value from, Value to, int64_t step, Values values, Round round) {
  auto body = [&](OpBuilder &, Location, Value at, ValueRange values) {
    b.create<scf::YieldOp>(loc, round(at, Values(values)));
  };
  return b.create<scf::ForOp>(loc, from, to, index(step), values, body).getResults();
}

/// A loop of many rounds, of which at most so many go to one sum.
TileEmitter::Values TileEmitter::roundsInParts(Value from, Value to, int64_t step, Values sums, Round round) {
  int64_t part = kTermsInOrder * step;
  return rounds(from, to, part, sums, [&](Value at, Values before) {
    Value end = b.createOrFold<arith::MinUIOp>(loc, add(at, index(part)), to);
    return addSums(before, rounds(at, end, step, zerosOf(before), round));
  });
}

/// Whether parts of the last loop of a reduction, or else each iteration of the first one, have sums of their own.
bool TileEmitter::sumsInParts(ArrayRef<int> order) {
  auto terms = [&](ArrayRef<int> loops) {
    int64_t product = 1;
    for (int loop : loops)
      product = llvm::SaturatingMultiply<uint64_t>(
          product, nest.loops[loop].size.isKnown() ? nest.loops[loop].size.known : 16 * kTermsInOrder);
    return product;
  };
  return terms(order) > 2 * kTermsInOrder && (order.size() == 1 || terms(order.drop_front()) >= 16) &&
         isPlainSum(*nest.reduce);
}

/// The loops of the reduction around `inner`, with `carried` from one iteration
/// to the next.
SmallVector<Value> TileEmitter::reduceLoops(Tile tile, ArrayRef<int> order, Values carried, Inner inner) {
  if (order.empty())
    return inner(tile, carried);
  int loop = order.front();
  if (const PaddedLoop *padded = paddedRowsOf(loop, tile)) {
    int64_t first = *getConstantIntValue(tile.at[plan.row]);
    for (int64_t tap = 0; tap < nest.loops[loop].size.known; ++tap) {
      Tile part = tile;
      part.at[loop] = index(tap);
      while (part.paddedFirst < tile.rows && !padded->isInside(first + part.paddedFirst, tap))
        ++part.paddedFirst;
      if (part.paddedFirst == tile.rows)
        continue;
      while (!padded->isInside(first + tile.rows - 1 - part.paddedLast, tap))
        ++part.paddedLast;
      carried = reduceLoops(part, order.drop_front(), carried, inner);
    }
    return carried;
  }
  auto [from, to] = rangeOf(loop, tile);
  int64_t steps = order.size() == 1 ? tile.steps : 1, apart = 1;
  tile.parts = partsAtOnce(tile);
  if (tile.parts > 1) {
    apart = nest.loops[loop].size.known / tile.parts;
    to = index(apart);
  }
  auto round = [&](Value at, Values values) {
    for (tile.step = 0; tile.step < steps * tile.parts; ++tile.step) {
      tile.at[loop] = add(at, index(tile.step * apart));
      values = reduceLoops(tile, order.drop_front(), values, inner);
    }
    return values;
  };
  if (!sumsInParts(order) || tile.parts > 1)
    return rounds(from, to, steps, carried, round);
  if (order.size() == 1)
    return roundsInParts(from, to, steps, carried, round);
  return rounds(from, to, 1, carried, [&](Value at, Values sums) { return addSums(sums, round(at, zerosOf(sums))); });
}

SmallVector<int> TileEmitter::reductionOrder() {
  SmallVector<int> order;
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (info.reduction && static_cast<int>(loop) != plan.lane && static_cast<int>(loop) != plan.window &&
        !(plan.dots && plan.dots->group == static_cast<int>(loop)))
      order.push_back(loop);
  llvm::sort(order, [&](int x, int y) {
    auto distance = [&](int loop) {
      int64_t most = 0;
      for (Access &access : nest.reduce->inputs) {
        Extent s = stride(access, loop);
        most = std::max(most, s.isKnown() ? s.known : INT64_MAX);
      }
      return most;
    };
    int64_t a = distance(x), b = distance(y);
    return a != b ? a > b : x < y;
  });
  return order;
}

template <typename F> static void forEachElement(const Tile &tile, F f) {
  for (int64_t i = tile.paddedFirst; i < tile.rows - tile.paddedLast; ++i)
    for (int64_t j = 0; j < tile.vectors; ++j)
      f(i, j, i * tile.vectors + j);
}

TileEmitter::Accumulators TileEmitter::initial(const Tile &tile, Loaded &cache) {
  Stage &reduce = *nest.reduce;
  Accumulators accumulators(reduce.outputs.size(), Values(tile.rows * tile.vectors));
  if (nest.init) {
    Values bases = basesOf(*nest.init, tile);
    forEachElement(tile, [&](int64_t i, int64_t j, int64_t n) {
      Values arguments = inputsOf(*nest.init, bases, tile, i, j, cache, {});
      accumulators[0][n] = spread(body(*nest.init, arguments, tile, i, j, false)[0], tile.lanes);
    });
    return accumulators;
  }
  Values bases = basesOf(reduce, tile);
  for (unsigned o = 0; o < reduce.outputs.size(); ++o)
    forEachElement(tile, [&](int64_t i, int64_t j, int64_t n) {
      accumulators[o][n] = spread(load(reduce.outputs[o], bases[reduce.inputs.size() + o], tile, i, j), tile.lanes);
    });
  return accumulators;
}

/// The vectors of a step, which have been loaded.
void TileEmitter::storeCopy(const Access &access, Tile tile, Loaded &loaded) {
  Value at = add(position(*copy, tile, false), position(*copy, tile, true));
  tile.present = {}; // Zeros, where nothing was loaded, are read with the rest.
  for (int64_t j = 0; j < tile.vectors; ++j)
    store(*copy, at, tile, 0, j, loaded.lookup({&access, j}));
}

/// In the order in which the data lies, so that what is loaded serves the rows that want it before the next is. Without
/// a window it is each row once.
SmallVector<TileEmitter::Use> TileEmitter::windowUses(const Access &access, const Tile &tile) {
  SmallVector<Use> uses;
  int64_t taps = plan.window < 0 ? 1 : nest.loops[plan.window].size.known;
  const auto *padded = llvm::find_if(nest.padded, [&](const PaddedLoop &padded) {
    return plan.window >= 0 && padded.tap == plan.window && padded.position == plan.row;
  });
  std::optional<int64_t> first = plan.row < 0 ? std::nullopt : getConstantIntValue(tile.at[plan.row]);
  for (int64_t i = tile.paddedFirst; i < tile.rows - tile.paddedLast; ++i)
    for (int64_t tap = 0; tap < taps; ++tap) {
      if (padded != nest.padded.end() && first && !padded->isInside(*first + i, tap))
        continue;
      int64_t place =
          plan.window < 0 ? i : i * access.strides[plan.row].known + tap * access.strides[plan.window].known;
      uses.push_back({place, i, tap});
    }
  llvm::stable_sort(uses, [](const Use &x, const Use &y) { return x.place < y.place; });
  return uses;
}

/// All taps of the window at once, for all elements of the tile.
TileEmitter::Values TileEmitter::reduceWindow(const Tile &tile, ArrayRef<Value> bases, Values values) {
  Stage &reduce = *nest.reduce;
  const Access *data = windowData(nest, plan);
  struct Tap {
    Tile tile;
    Values bases;
    Loaded loaded;
  };
  SmallVector<Tap> taps(nest.loops[plan.window].size.known, Tap{tile, Values(), Loaded()});
  Values vectors(tile.vectors);
  int64_t place = -1;
  SmallVector<Use> uses = windowUses(*data, tile);
  int64_t next = tile.rows * stride(*data, plan.row).known, last = uses.empty() ? 0 : uses.back().place;
  for (const Use &use : uses) {
    auto &[at, here, loaded] = taps[use.tap];
    if (here.empty()) {
      at.at[plan.window] = index(use.tap);
      here.assign(bases.begin(), bases.end());
      for (auto [access, base] : llvm::zip(reduce.inputs, here))
        if (access.base)
          base = add(base, position(access, at, true));
    }
    for (int64_t j = 0; j < tile.vectors; ++j) {
      if (use.place != place) {
        Value base = here[data - reduce.inputs.begin()];
        vectors[j] = load(*data, base, at, use.row, j);
        if (use.place + next > last)
          prefetchNextTile(*data, elementAt(*data, base, at, use.row, j), tile, j, /*isWrite=*/false);
      }
      loaded[keyOf(*data, use.row, j)] = vectors[j];
      Values arguments = inputsOf(reduce, here, at, use.row, j, loaded, {});
      Value &sum = values[use.row * tile.vectors + j];
      arguments.push_back(sum);
      sum = spread(body(reduce, arguments, at, use.row, j, true)[0], tile.lanes);
    }
    place = use.place;
  }
  return values;
}

/// Few sums wait for each other's multiply-adds: one step after another adds to sums of its own, of which each of
/// `points` elements has so many.
int64_t TileEmitter::sumsOfEach(int64_t points, int64_t steps) {
  constexpr int64_t most = 4;
  int64_t sums = 1;
  while (points < target.fmaLatency && sums < most && points * sums < target.fmaLatency * target.fmaPerCycle)
    sums *= 2;
  return steps % sums == 0 ? sums : 1;
}

int64_t TileEmitter::sumsOfEach(const Tile &tile) {
  constexpr int64_t shortest = 32;
  SmallVector<int> order = reductionOrder();
  if (tile.steps > 1 || order.empty() || nest.reduce->outputs.size() != 1 || depth.first || plan.window >= 0 ||
      plan.copied >= 0 || !nest.padded.empty() || !getAddend(nest.reduce->op) ||
      !isa<FloatType>(getElementTypeOrSelf(nest.reduce->op.getDpsInits()[0].getType())))
    return 1;
  const Extent &steps = nest.loops[order.back()].size;
  return steps.isKnown() && steps.known >= shortest ? sumsOfEach(tile.rows * tile.vectors, steps.known) : 1;
}

/// The one sum of each of so many elements.
void TileEmitter::joinSums(Values &sums, int64_t elements) {
  while (static_cast<int64_t>(sums.size()) > elements) {
    int64_t half = sums.size() / 2;
    for (int64_t n = 0; n < half; ++n)
      sums[n] = b.create<arith::AddFOp>(loc, sums[n], sums[n + half]);
    sums.resize(half);
  }
}

/// All elements of the tile at once: `carried` are the accumulators of the first output, then those of the next one.
TileEmitter::Values TileEmitter::reduceTile(const Tile &whole, Values carried) {
  Stage &reduce = *nest.reduce;
  Tile tile = whole;
  tile.steps = stepsAtOnce(tile);
  int64_t points = tile.rows * tile.vectors, sums = sumsOfEach(tile);
  if (partsAtOnce(tile) == 1)
    tile.steps = std::max(tile.steps, sums);
  int64_t elements = carried.size();
  for (int64_t n = elements; n < sums * elements; ++n)
    carried.push_back(b.create<arith::ConstantOp>(loc, b.getZeroAttr(carried[0].getType())));
  Values bases = basesOf(reduce, tile);
  if (plan.window >= 0) {
    const Access *data = windowData(nest, plan);
    prefetchNextLine(*data, bases[data - reduce.inputs.begin()], tile);
  }
  carried = reduceLoops(tile, reductionOrder(), carried, [&](const Tile &inner, Values values) {
    if (plan.window >= 0)
      return reduceWindow(inner, bases, values);
    Values here = bases;
    for (auto [k, access] : llvm::enumerate(reduce.inputs)) {
      if (access.base)
        here[k] = add(here[k], position(access, inner, true));
      prefetch(access, bases[k], here[k], inner);
    }
    Loaded loaded;
    Values next = values;
    int64_t first = inner.step % sums * elements;
    forEachElement(inner, [&](int64_t i, int64_t j, int64_t n) {
      Values arguments = inputsOf(reduce, here, inner, i, j, loaded, {});
      for (unsigned o = 0; o < reduce.outputs.size(); ++o)
        arguments.push_back(values[first + o * points + n]);
      for (auto [o, value] : llvm::enumerate(body(reduce, arguments, inner, i, j, true)))
        next[first + o * points + n] = spread(value, tile.lanes);
    });
    if (copy)
      storeCopy(reduce.inputs[plan.copied], inner, loaded);
    return next;
  });
  joinSums(carried, elements);
  return carried;
}

/// Of floats, vectors or not.
Value TileEmitter::multiplyAdd(Value x, Value y, Value sum) {
  if (target.fma)
    return b.create<math::FmaOp>(loc, x, y, sum);
  return b.create<arith::AddFOp>(loc, sum, b.create<arith::MulFOp>(loc, x, y));
}

/// Sums of one lane as vectors of it, for instructions that know nothing else.
TileEmitter::Values TileEmitter::asVectors(Values sums, const Tile &tile) {
  for (Value &sum : sums)
    if (tile.lanes == 1)
      sum = b.create<vector::BroadcastOp>(loc, VectorType::get({1}, sum.getType()), sum);
  return sums;
}

TileEmitter::Values TileEmitter::asNumbers(Values sums, const Tile &tile) {
  for (Value &sum : sums)
    if (tile.lanes == 1)
      sum = b.create<vector::ExtractOp>(loc, sum, 0);
  return sums;
}

/// Block by block: the sum of the products without the block's factor, then that times the factor.
TileEmitter::Values TileEmitter::reduceScaled(const Tile &whole, Values carried) {
  const ScaledPlan &scaled = *plan.scaled;
  Stage &reduce = *nest.reduce;
  Values bases = basesOf(reduce, whole);
  SmallVector<int> inner = reductionOrder();
  llvm::erase_if(inner, [&](int loop) { return llvm::is_contained(scaled.outer, loop); });
  auto at = [&](unsigned input, const Tile &tile) {
    return add(bases[input], position(reduce.inputs[input], tile, true));
  };
  return reduceLoops(whole, scaled.outer, carried, [&](const Tile &block, Values values) {
    Value zero = spread(b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(0)), whole.lanes);
    Tile tile = block;
    tile.steps = stepsAtOnce(tile);
    int64_t points = values.size(), sumsOfPoint = sumsOfEach(points, tile.steps);
    Values sums = reduceLoops(tile, inner, Values(sumsOfPoint * points, zero), [&](const Tile &step, Values sums) {
      int64_t first = step.step % sumsOfPoint * points;
      for (BlockArgument input : scaled.weights.inputs)
        prefetch(reduce.inputs[input.getArgNumber()], bases[input.getArgNumber()], at(input.getArgNumber(), step),
                 step);
      Values data(step.rows);
      for (int64_t i = 0; i < step.rows; ++i)
        data[i] =
            spread(load(reduce.inputs[scaled.weights.data], at(scaled.weights.data, step), step, i, 0), step.lanes);
      for (int64_t j = 0; j < step.vectors; ++j) {
        IRMapping mapping;
        for (BlockArgument input : scaled.weights.inputs)
          if (input.getArgNumber() != scaled.scale)
            mapping.map(input, load(reduce.inputs[input.getArgNumber()], at(input.getArgNumber(), step), step, 0, j));
        for (Operation *op : scaled.weights.operations)
          if (op->getResult(0) != scaled.weights.value)
            operation(reduce, *op, mapping, step, 0, j, /*fuse=*/false);
        for (int64_t i = 0; i < step.rows; ++i) {
          Value &sum = sums[first + i * step.vectors + j];
          sum = multiplyAdd(data[i], spread(mapping.lookup(scaled.unscaled), step.lanes), sum);
        }
      }
      return sums;
    });
    joinSums(sums, points);
    for (int64_t j = 0; j < block.vectors; ++j) {
      Value factor = load(reduce.inputs[scaled.scale], at(scaled.scale, block), block, 0, j);
      for (int64_t i = 0; i < block.rows; ++i) {
        Value &sum = values[i * block.vectors + j];
        sum = multiplyAdd(sums[i * block.vectors + j], factor, sum);
      }
    }
    return values;
  });
}

void TileEmitter::fillPanel(const Tile &whole, const ComputedWeights &weights, const Access &panel, int pair) {
  Stage &reduce = *nest.reduce;
  Tile tile = whole;
  if (pair < 0)
    tile.steps = stepsAtOnce(tile);
  Values bases = basesOf(reduce, tile);
  auto make = [&](const Tile &step) {
    IRMapping mapping;
    for (BlockArgument input : weights.inputs) {
      const Access &access = reduce.inputs[input.getArgNumber()];
      Value base = add(bases[input.getArgNumber()], position(access, step, true));
      mapping.map(input, load(access, base, step, 0, 0));
    }
    for (Operation *op : weights.operations)
      operation(reduce, *op, mapping, step, 0, 0, /*fuse=*/false);
    return spread(mapping.lookup(weights.value), step.lanes);
  };
  SmallVector<int> order = reductionOrder();
  llvm::erase(order, pair);
  reduceLoops(tile, order, {}, [&](const Tile &step, Values) {
    Value to = add(position(panel, step, false), position(panel, step, true));
    if (pair < 0) {
      store(panel, to, step, 0, 0, make(step));
      return Values();
    }
    Value halves[2];
    for (auto [number, half] : llvm::enumerate(halves)) {
      Tile part = step;
      part.at[pair] = index(number);
      half = make(part);
    }
    b.create<vector::StoreOp>(loc, b.create<vector::InterleaveOp>(loc, halves[0], halves[1]), panel.base, to);
    return Values();
  });
}

Value TileEmitter::loadSum(Value buffer, Value at, int64_t lanes) {
  if (lanes == 1)
    return b.create<memref::LoadOp>(loc, buffer, at);
  auto type = VectorType::get({lanes}, cast<MemRefType>(buffer.getType()).getElementType());
  return b.create<vector::LoadOp>(loc, type, buffer, at);
}

void TileEmitter::storeSum(Value sum, Value buffer, Value at) {
  if (isa<VectorType>(sum.getType()))
    b.create<vector::StoreOp>(loc, sum, buffer, at);
  else
    b.create<memref::StoreOp>(loc, sum, buffer, at);
}

TileEmitter::Accumulators TileEmitter::loadSums(const Tile &tile) {
  Accumulators accumulators(1, Values(tile.rows * tile.vectors));
  Value first = b.create<arith::SubIOp>(loc, tile.at[plan.lane], firstSum);
  forEachElement(tile, [&](int64_t i, int64_t j, int64_t n) {
    accumulators[0][n] = loadSum(sums, add(first, index(j * tile.lanes)), tile.lanes);
  });
  return accumulators;
}

void TileEmitter::storeSums(const Tile &tile, const Accumulators &accumulators) {
  Value first = b.create<arith::SubIOp>(loc, tile.at[plan.lane], firstSum);
  forEachElement(tile, [&](int64_t i, int64_t j, int64_t n) {
    storeSum(accumulators[0][n], sums, add(first, index(j * tile.lanes)));
  });
}

void TileEmitter::storeAccumulators(const Tile &tile, const Accumulators &accumulators) {
  Stage &reduce = *nest.reduce;
  Values bases = basesOf(reduce, tile), parts;
  for (unsigned o = 0; o < reduce.outputs.size(); ++o)
    forEachElement(tile, [&](int64_t i, int64_t j, int64_t n) {
      store(reduce.outputs[o], bases[reduce.inputs.size() + o], tile, i, j, accumulators[o][n]);
    });
  forEachElement(tile, [&](int64_t i, int64_t j, int64_t n) {
    Values results = llvm::map_to_vector(accumulators, [&](const Values &list) { return list[n]; });
    reduceResults(tile, results, i, j, parts);
  });
}

/// What the tails make of the last stage's results for element (i, j). A row's vectors come one after the other, and
/// `parts` has what was made of those before: it goes back to memory with the last one.
void TileEmitter::reduceResults(const Tile &tile, ArrayRef<Value> results, int64_t i, int64_t j, Values &parts) {
  parts.resize(nest.tails.size());
  for (auto [tail, part] : llvm::zip_equal(nest.tails, parts)) {
    const Access &row = tail.outputs[0];
    Value at = elementAt(row, position(row, tile, false), tile, i, 0);
    if (j == 0)
      part = loadSum(row.base, at, tile.lanes);
    Value result = spread(results[tail.result], tile.lanes);
    part = spread(body(tail, {result, part}, tile, i, j, true)[0], tile.lanes);
    if (j == tile.vectors - 1)
      storeSum(part, row.base, at);
  }
}

bool TileEmitter::isLastStageLong() const {
  constexpr int64_t longBody = 12;
  if (!nest.finish)
    return false;
  int64_t length = 0;
  for (Operation &op : *nest.finish->op.getBody())
    length += becomesPolynomial(op) ? longBody : 1;
  return length > longBody;
}

/// The vectors of all rows, an element of each after another.
void TileEmitter::storeInterleaved(const Access &access, Value base, const Tile &tile, int64_t j, Values rows) {
  const int64_t count = rows.size(), lanes = tile.lanes;
  for (Value &row : rows)
    row = asBits(row);
  // Behind one another in two vectors, then by one shuffle: LLVM has the instructions for it.
  rows.resize(llvm::PowerOf2Ceil(count), rows.back());
  int64_t joined = lanes;
  for (; rows.size() > 2; rows.resize(rows.size() / 2)) {
    joined *= 2;
    for (size_t i = 0; i < rows.size() / 2; ++i)
      rows[i] = b.create<vector::ShuffleOp>(loc, rows[2 * i], rows[2 * i + 1],
                                            llvm::to_vector(llvm::seq<int64_t>(0, joined)));
  }
  auto order = llvm::map_to_vector(llvm::seq<int64_t>(0, count * lanes),
                                   [&](int64_t at) { return at % count * lanes + at / count; });
  Value mixed = b.create<vector::ShuffleOp>(loc, rows[0], rows[1], order);
  auto type = VectorType::get({count * lanes}, access.element);
  b.create<vector::StoreOp>(loc, fromBits(mixed, type), access.base, elementAt(access, base, tile, 0, j));
}

/// Whether vector `j` of a row is rounded together with the one beside it, by one instruction for both.
bool TileEmitter::roundsInPairs(const Access &access, const Tile &tile, int64_t j, Value value) {
  auto rounding = value.getDefiningOp<arith::TruncFOp>();
  auto isWhole = [&](int64_t j) {
    Extent present = tile.presentOf(j);
    return j < tile.vectors && present.isKnown() && !present.known;
  };
  return target.bf16Dots && rounding && rounding.getFastmath() == arith::FastMathFlags::afn &&
         getElementTypeOrSelf(rounding.getIn()).isF32() && access.element.isBF16() && 32 * tile.lanes == 512 &&
         stride(access, plan.lane).is(1) && access.blockedLoop < 0 && !tile.stored && isWhole(j) && isWhole(j ^ 1);
}

/// The last stage, of the accumulators if there is a reduction.
void TileEmitter::consume(const Tile &tile, const Accumulators &accumulators, Loaded &cache) {
  Stage &finish = *nest.finish;
  Values bases = basesOf(finish, tile), parts, halves(finish.outputs.size());
  bool vector = tile.lanes > 1 && plan.lane >= 0 && !plan.laneIsReduction;
  const size_t together = elementsTogether();
  bool isLong = vector && isLastStageLong();
  SmallVector<Element> elements;
  bool mixes = plan.interleaves && vector && tile.rows == plan.rowTile;
  llvm::SmallMapVector<int64_t, Values, 4> mixed; // by vector
  auto keep = [&](int64_t i, int64_t j, size_t o, Value value) {
    const Access &access = finish.outputs[o];
    if (vector && roundsInPairs(access, tile, j, value)) {
      std::swap(halves[o], value);
      if (j % 2 == 0)
        return;
      value =
          b.create<vector::ShuffleOp>(loc, value, halves[o], llvm::to_vector(llvm::seq<int64_t>(0, 2 * tile.lanes)));
      --j;
    }
    store(access, bases[finish.inputs.size() + o], tile, i, j, value);
  };
  auto flush = [&] {
    bodies(finish, elements, tile, false);
    for (Element &element : mixes ? elements : SmallVector<Element>())
      mixed[element.j].push_back(spread(element.values[0], tile.lanes));
    if (mixes)
      return elements.clear();
    for (Element &element : elements) {
      for (auto [o, value] : llvm::enumerate(element.values))
        keep(element.i, element.j, o, vector ? spread(value, tile.lanes) : value);
      reduceResults(tile, element.values, element.i, element.j, parts);
    }
    elements.clear();
  };
  forEachElement(tile, [&](int64_t i, int64_t j, int64_t n) {
    Values arguments = inputsOf(finish, bases, tile, i, j, cache, accumulators.empty() ? Value() : accumulators[0][n]);
    for (auto [o, access] : llvm::enumerate(finish.outputs)) {
      // The old value, where the body asks for it.
      bool used = !finish.op.getBody()->getArgument(finish.inputs.size() + o).use_empty();
      arguments.push_back(used ? load(access, bases[finish.inputs.size() + o], tile, i, j) : Value());
    }
    elements.push_back({i, j, arguments});
    if (!isLong || elements.size() == together)
      flush();
  });
  if (!elements.empty())
    flush();
  for (auto &[j, rows] : mixed)
    storeInterleaved(finish.outputs[0], bases[finish.inputs.size()], tile, j, rows);
}

bool TileEmitter::finishesInLoop() const {
  return nest.reduce && isLastStageLong() && plan.row >= 0 && plan.rowTile > 1 && !plan.laneIsReduction &&
         !plan.laneBlock && !plan.matrix && !plan.transposes && !plan.interleaves;
}

/// The last stage of some rows after the other, of sums in memory: one piece of code, whose constants stay in
/// registers.
void TileEmitter::consumeInLoop(const Tile &tile, ArrayRef<Value> accumulators) {
  forEachElement(tile, [&](int64_t, int64_t, int64_t n) { storeSum(accumulators[n], sums, index(n * tile.lanes)); });
  auto finish = [&](Value first, int64_t rows) {
    Tile part = tile;
    part.rows = rows;
    part.at[plan.row] = add(part.at[plan.row], first);
    Value from = times(first, {tile.vectors * tile.lanes, {}});
    Accumulators loaded(1, Values(rows * tile.vectors));
    forEachElement(part, [&](int64_t, int64_t, int64_t n) {
      loaded[0][n] = loadSum(sums, add(from, index(n * tile.lanes)), tile.lanes);
    });
    Loaded cache;
    consume(part, loaded, cache);
  };
  int64_t rows = std::clamp<int64_t>(elementsTogether() / tile.vectors, 1, tile.rows), rest = tile.rows % rows;
  {
    auto each = b.create<scf::ForOp>(loc, index(0), index(tile.rows - rest), index(rows));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(each.getBody());
    finish(each.getInductionVar(), rows);
  }
  if (rest)
    finish(index(tile.rows - rest), rest);
}

void TileEmitter::emit(const Tile &tile) {
  Loaded cache;
  Accumulators accumulators;
  if (part == Part::Accumulate || part == Part::Finish) {
    accumulators = loadSums(tile);
  } else if (nest.reduce) {
    accumulators = initial(tile, cache);
  }
  if (nest.reduce && part != Part::Start && part != Part::Finish) {
    if (product) {
      forEachElement(tile, [&](int64_t i, int64_t j, int64_t n) {
        Value &sum = accumulators[0][n];
        sum = vector::makeArithReduction(b, loc, vector::CombiningKind::ADD, sum, product(tile, i, j));
      });
    } else if (plan.dots) {
      accumulators[0] = plan.dots->other ? reduceCrossed(tile, accumulators[0]) : reduceDots(tile, accumulators[0]);
    } else if (plan.blocks) {
      accumulators[0] = reduceBlocks(tile, accumulators[0]);
    } else if (plan.scaled && tile.rows <= kScaledRows) {
      accumulators[0] = reduceScaled(tile, accumulators[0]);
    } else if (plan.laneIsReduction) {
      accumulators[0] = reduceRowsToOnes(tile, accumulators[0]);
    } else {
      Values carried;
      for (Values &list : accumulators)
        carried.append(list);
      carried = reduceTile(tile, carried);
      for (auto [o, list] : llvm::enumerate(accumulators))
        llvm::copy(ArrayRef(carried).slice(o * list.size(), list.size()), list.begin());
    }
  }
  if (part == Part::Start || part == Part::Accumulate)
    return storeSums(tile, accumulators);
  if (!nest.finish)
    storeAccumulators(tile, accumulators);
  else if (finishesInLoop() && tile.rows > 1)
    consumeInLoop(tile, accumulators[0]);
  else
    consume(tile, accumulators, cache);
}

void TileEmitter::emitSum(const Tile &tile, Value sum) {
  Loaded cache;
  Accumulators accumulators = initial(tile, cache);
  Value &start = accumulators[0][0];
  start = vector::makeArithReduction(b, loc, vector::CombiningKind::ADD, start, sum);
  if (nest.finish)
    consume(tile, accumulators, cache);
  else
    storeAccumulators(tile, accumulators);
}
