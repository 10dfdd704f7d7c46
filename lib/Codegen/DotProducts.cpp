//===- DotProducts.cpp - products added in the lanes of vectors -----------===//
//
// 32 bits of the data, the same for all lanes, times 32 bits of weights for each
// lane: two bf16, two integers of 16 bits, or four bytes. Of bytes, x86 has an instruction that adds all four products,
// of unsigned and signed bytes. Where both are signed or both unsigned, the data is moved by 128, which the sums of the
// weights take back:
//
//   sum x w = sum (x + 128) w - 128 sum w    sum x w = sum (x - 128) w + 128 sum w
//
// Without it, two products of bytes are added in 16 bits, where these are known to hold
// them, and elsewhere 16-bit integers are multiplied and added in pairs, to which bytes are
// extended; where that pays, strata-widen-products has done it before. All of integers are exact
// but for the wrap of i32.
//
//===----------------------------------------------------------------------===//
#include "BodyLoads.h"
#include "CrossProducts.h"
#include "PairProducts.h"
#include "ProductSums.h"
#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace strata;

/// Both factors' data walks the groups, and lies together for all lanes; both factors' weights are blocks of lanes.
static bool planCrossed(LoopNest &nest, const NestOptions &options, NestPlan &plan) {
  std::optional<CrossedSum> sum = matchCrossedSum(nest.reduce->op);
  if (!sum || !options.pairDots)
    return false;
  constexpr int64_t group = 2;
  ArrayRef<Access> inputs = nest.reduce->inputs;
  DotPlan dots{0, 0, -1, group, {false, false}, /*bytes=*/false, /*floats=*/false};
  int lane = -1;
  for (auto [f, factor] : llvm::enumerate(sum->factors)) {
    auto [data, weights] = std::pair(factor[0], factor[1]);
    if (inputs[weights].blockedLoop < 0)
      std::swap(data, weights);
    int blocked = inputs[weights].blockedLoop;
    if (blocked < 0 || (lane >= 0 && blocked != lane) || nest.loops[blocked].reduction ||
        inputs[weights].withinStride != group || !inputs[data].base || !stride(inputs[data], blocked).is(0))
      return false;
    lane = blocked;
    if (f)
      dots.other = {data, weights};
    else
      std::tie(dots.data, dots.weights) = {data, weights};
  }
  if (!bodyLoadsFit(nest, lane))
    return false;
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (info.reduction && info.size.is(group) &&
        llvm::all_of(inputs, [&, loop = loop](const Access &input) { return stride(input, loop).is(1); }))
      dots.group = loop;
  if (dots.group < 0)
    return false;
  plan.dots = dots;
  plan.lane = lane;
  plan.width = options.vectorBits / 32;
  return true;
}

bool strata::planDots(LoopNest &nest, const NestOptions &options, NestPlan &plan) {
  if ((!options.byteDots && !options.pairDots && !options.bf16Dots) || !nest.reduce ||
      nest.reduce->outputs.size() != 1 || !isVectorizable(nest.init) || !isVectorizable(nest.finish))
    return false;
  if (planCrossed(nest, options, plan))
    return true;
  std::optional<ProductSum> sum = matchProductSum(nest.reduce->op);
  if (!sum || sum->elements[0] != sum->elements[1])
    return false;
  Type element = sum->elements[0];
  bool isI32 = sum->sum.isInteger(32), areSigned = !sum->isUnsigned[0] && !sum->isUnsigned[1];
  bool bytes = isI32 && element.isInteger(8) && (options.byteDots || options.pairDots);
  bool pairs = isI32 && element.isInteger(16) && areSigned && options.pairDots;
  bool floats = sum->sum.isF32() && element.isBF16() && options.bf16Dots;
  if (!bytes && !pairs && !floats)
    return false;
  int64_t group = bytes ? 4 : 2;
  bool byteDots = bytes && (options.byteDots || nest.reduce->op->hasAttr(kExactPairs));
  for (unsigned input : {0u, 1u}) {
    const Access &weights = nest.reduce->inputs[input], &data = nest.reduce->inputs[1 - input];
    int lane = weights.blockedLoop;
    if (lane < 0 || nest.loops[lane].reduction || weights.withinStride != group || !data.base ||
        !stride(data, lane).is(0) || !bodyLoadsFit(nest, lane))
      continue;
    for (auto [loop, info] : llvm::enumerate(nest.loops)) {
      if (!info.reduction || !info.size.is(group) || !stride(data, loop).is(1) || !stride(weights, loop).is(1))
        continue;
      plan.dots = DotPlan{1 - input,
                          input,
                          static_cast<int>(loop),
                          group,
                          {sum->isUnsigned[0], sum->isUnsigned[1]},
                          byteDots,
                          floats,
                          byteDots && !options.byteDots};
      plan.lane = lane;
      // Sums of i32 for each lane, or, of bytes that are extended, for each pair of products in it.
      plan.width = options.vectorBits / (bytes && !byteDots ? 64 : 32);
      return true;
    }
  }
  return false;
}

namespace {
/// The instructions, for one width of vectors.
class Dots {
public:
  Dots(OpBuilder &b, Location loc, const DotPlan &plan, int64_t lanes)
      : b(b), loc(loc), lanes(lanes), group(plan.groupSize), unsignedData(plan.isUnsigned[plan.data]),
        unsignedWeights(plan.isUnsigned[plan.weights]), bytes(plan.bytes && lanes >= 4), floats(plan.floats),
        inPairs(plan.inPairs), extends(!bytes && group == 4) {}

  /// Whether sums of the weights are needed beside those of the products.
  bool movesData() const { return bytes && unsignedData == unsignedWeights; }

  VectorType sums() const {
    return VectorType::get({extends ? 2 * lanes : lanes}, floats ? Type(b.getF32Type()) : b.getI32Type());
  }

  /// What each lane takes: 32 bits of the data.
  Value spreadWords(Value words) {
    if (extends)
      return extend(bitcast(words, 4 * lanes, 8), unsignedData);
    if (floats)
      return bitcast(words, VectorType::get({2 * lanes}, b.getBF16Type()));
    if (!bytes)
      return bitcast(words, 2 * lanes, 16);
    return movesData() ? b.create<arith::XOrIOp>(loc, words, constant(0x80808080)) : words;
  }

  /// 32 bits of the data, as every lane takes them.
  Value spread(Value elements) {
    if (extends) {
      Value wide = extend(elements, unsignedData);
      auto all = VectorType::get({lanes}, b.getI64Type());
      return bitcast(broadcast(bitcast(wide, VectorType::get({1}, b.getI64Type())), all), 4 * lanes, 16);
    }
    auto every = VectorType::get({lanes}, b.getI32Type());
    return spreadWords(broadcast(bitcast(elements, VectorType::get({1}, b.getI32Type())), every));
  }

  Value load(const Access &weights, Value at) {
    Value loaded = b.create<vector::LoadOp>(loc, VectorType::get({group * lanes}, weights.element), weights.base, at);
    if (extends)
      return extend(loaded, unsignedWeights);
    return bytes ? bitcast(loaded, lanes, 32) : loaded;
  }

  Value add(Value sum, Value data, Value weights) {
    if (floats)
      return addFloats(sum, data, weights);
    if (!bytes)
      return addPairProducts(b, loc, sum, data, weights);
    // One unsigned operand, one signed; moved data has the other sign.
    bool swapped = movesData() ? unsignedWeights : !unsignedData;
    if (inPairs)
      return addBytePairs(b, loc, sum, swapped ? weights : data, swapped ? data : weights);
    return addByteProducts(b, loc, sum, swapped ? weights : data, swapped ? data : weights);
  }

  /// What moving the data adds to the products of `weights`, taken from `sum`.
  Value addMoved(Value sum, Value weights) {
    Value one = constant(0x01010101);
    return addByteProducts(b, loc, sum, unsignedWeights ? weights : one, unsignedWeights ? one : weights);
  }

  /// The sums of all lanes, with those of the weights where the data was moved: a scalar of one lane.
  Value finish(Value start, Value sum, Value weights) {
    if (extends)
      sum = addNeighbours(b, loc, sum);
    if (movesData()) {
      Value seven = constant(7), moved = b.create<arith::ShLIOp>(loc, weights, seven);
      sum = unsignedData ? b.create<arith::AddIOp>(loc, sum, moved).getResult()
                         : b.create<arith::SubIOp>(loc, sum, moved).getResult();
    }
    if (!isa<VectorType>(start.getType()))
      sum = b.create<vector::ExtractOp>(loc, sum, 0);
    if (floats)
      return b.create<arith::AddFOp>(loc, start, sum);
    return b.create<arith::AddIOp>(loc, start, sum);
  }

private:
  OpBuilder &b;
  Location loc;
  int64_t lanes, group;
  bool unsignedData, unsignedWeights, bytes, floats, inPairs;
  bool extends; ///< bytes to pairs of 16-bit integers

  Value constant(uint32_t number) {
    return b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(sums(), APInt(32, number)));
  }
  Value bitcast(Value value, VectorType type) { return b.create<vector::BitCastOp>(loc, type, value); }
  Value bitcast(Value value, int64_t count, unsigned bits) {
    return bitcast(value, VectorType::get({count}, b.getIntegerType(bits)));
  }
  Value broadcast(Value one, VectorType type) {
    return b.create<vector::BroadcastOp>(loc, type, b.create<vector::ExtractOp>(loc, one, 0));
  }
  Value extend(Value value, bool isUnsigned) {
    auto type = cast<VectorType>(value.getType()).clone(b.getI16Type());
    return isUnsigned ? b.create<arith::ExtUIOp>(loc, type, value).getResult()
                      : b.create<arith::ExtSIOp>(loc, type, value).getResult();
  }
  Value call(StringRef name, Type type, ValueRange arguments) {
    return b.create<LLVM::CallIntrinsicOp>(loc, type, b.getStringAttr(name), arguments).getResult(0);
  }

  Value everySecond(Value value, int64_t first) {
    SmallVector<int64_t> which;
    for (int64_t i = first, e = cast<VectorType>(value.getType()).getNumElements(); i < e; i += 2)
      which.push_back(i);
    return b.create<vector::ShuffleOp>(loc, value, value, which);
  }
  /// Subnormal numbers count as zero to the instruction.
  Value addFloats(Value sum, Value x, Value y) {
    if (lanes >= 4)
      return call(("llvm.x86.avx512bf16.dpbf16ps." + Twine(32 * lanes)).str(), sums(), {sum, x, y});
    for (int64_t first : {0, 1})
      sum = b.create<vector::FMAOp>(loc, b.create<arith::ExtFOp>(loc, sums(), everySecond(x, first)),
                                    b.create<arith::ExtFOp>(loc, sums(), everySecond(y, first)), sum);
    return sum;
  }
};
} // namespace

/// All sums of the tile, row by row, added to `start`.
TileEmitter::Values TileEmitter::reduceDots(const Tile &whole, Values start) {
  Tile tile = whole;
  if (plan.window < 0)
    tile.steps = stepsAtOnce(tile);
  const Access &data = nest.reduce->inputs[plan.dots->data], &weights = nest.reduce->inputs[plan.dots->weights];
  Dots dots(b, loc, *plan.dots, tile.lanes);
  int64_t sums = tile.rows * tile.vectors;
  Values bases = basesOf(*nest.reduce, tile);
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(dots.sums()));
  // Rows that are parts of the lanes, such as heads, have weights of their own.
  int64_t weightRows = plan.row < 0 || stride(weights, plan.row).is(0) ? 1 : tile.rows;
  auto weightsOf = [&](int64_t i, int64_t j) { return (i < weightRows ? i : 0) * tile.vectors + j; };
  Values carried(sums + (dots.movesData() ? weightRows * tile.vectors : 0), zero);
  bool ofGroups = isOfGroups(data, plan.lane);
  auto dataOf = [&](Value base, const Tile &tile, int64_t i, int64_t j) {
    Value at = elementAt(data, base, tile, i, j);
    if (ofGroups && tile.lanes > data.block)
      return dots.spreadWords(loadOfGroups(data, at, tile.lanes, plan.dots->groupSize));
    auto group = VectorType::get({plan.dots->groupSize}, data.element);
    return dots.spread(b.create<vector::LoadOp>(loc, group, data.base, at));
  };
  carried = reduceLoops(tile, reductionOrder(), carried, [&](const Tile &inner, Values values) {
    // What moved data adds is the same for all rows.
    Tile rows = inner;
    if (dots.movesData())
      rows.paddedFirst = rows.paddedLast = 0;
    if (plan.window < 0)
      prefetch(weights, bases[plan.dots->weights],
               IndexMath::add(bases[plan.dots->weights], position(weights, rows, true)), rows);
    SmallVector<Values> taps(plan.window >= 0 ? nest.loops[plan.window].size.known : 1);
    Values vectors(tile.vectors);
    int64_t place = -1;
    for (const Use &use : windowUses(data, rows)) {
      if (plan.window >= 0)
        rows.at[plan.window] = index(use.tap);
      Values &loaded = taps[use.tap];
      Value weightsAt, dataAt;
      if (loaded.empty())
        weightsAt = IndexMath::add(bases[plan.dots->weights], position(weights, rows, true));
      for (int64_t n = loaded.size(); n < weightRows * tile.vectors; ++n) {
        Value at = elementAt(weights, weightsAt, rows, n / tile.vectors, n % tile.vectors);
        loaded.push_back(dots.load(weights, at));
        if (dots.movesData())
          values[sums + n] = dots.addMoved(values[sums + n], loaded[n]);
      }
      if (use.place != place)
        dataAt = IndexMath::add(bases[plan.dots->data], position(data, rows, true));
      for (int64_t j = 0; j < tile.vectors; ++j) {
        if (use.place != place)
          vectors[j] = ofGroups || j == 0 ? dataOf(dataAt, rows, use.row, j) : vectors[0];
        Value &sum = values[use.row * tile.vectors + j];
        sum = dots.add(sum, vectors[j], loaded[weightsOf(use.row, j)]);
      }
      place = use.place;
    }
    return values;
  });
  for (int64_t n = 0; n < sums; ++n) {
    int64_t moved = sums + weightsOf(n / tile.vectors, n % tile.vectors);
    start[n] = dots.finish(start[n], carried[n], dots.movesData() ? carried[moved] : Value());
  }
  return start;
}

/// The same of products of sums. Their sums begin as they are: what is taken away is no constant.
TileEmitter::Values TileEmitter::reduceCrossed(const Tile &whole, Values start) {
  Tile tile = whole;
  tile.steps = stepsAtOnce(tile);
  std::pair<unsigned, unsigned> factors[] = {{plan.dots->data, plan.dots->weights}, *plan.dots->other};
  ArrayRef<Access> inputs = nest.reduce->inputs;
  Values bases = basesOf(*nest.reduce, tile);
  auto pair = VectorType::get({2}, b.getI16Type()), pairs = VectorType::get({2 * tile.lanes}, b.getI16Type());
  start = asVectors(start, tile);
  start = reduceLoops(tile, reductionOrder(), start, [&](const Tile &step, Values sums) {
    Values data, weights[2];
    for (auto [f, factor] : llvm::enumerate(factors)) {
      const Access &access = inputs[factor.second];
      Value at = add(bases[factor.second], position(access, step, true));
      prefetch(access, bases[factor.second], at, step);
      for (int64_t j = 0; j < step.vectors; ++j)
        weights[f].push_back(b.create<vector::LoadOp>(loc, pairs, access.base, elementAt(access, at, step, 0, j)));
      data.push_back(add(bases[factor.first], position(inputs[factor.first], step, true)));
    }
    for (int64_t i = 0; i < step.rows; ++i) {
      Value spread[2];
      for (auto [f, factor] : llvm::enumerate(factors)) {
        const Access &access = inputs[factor.first];
        Value loaded = b.create<vector::LoadOp>(loc, pair, access.base, elementAt(access, data[f], step, i, 0));
        spread[f] = spreadPair(b, loc, loaded, step.lanes);
      }
      auto row = MutableArrayRef<Value>(sums).slice(i * step.vectors, step.vectors);
      addCrossedProducts(b, loc, row, spread[0], spread[1], weights[0], weights[1]);
    }
    return sums;
  });
  return asNumbers(start, tile);
}
