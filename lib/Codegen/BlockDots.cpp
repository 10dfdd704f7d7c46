//===- BlockDots.cpp - products of quantised data, block by block ---------===//
#include "BlockDots.h"
#include "PairProducts.h"
#include "ProductSums.h"
#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata;

int64_t strata::termsOfFactor(linalg::GenericOp op, const NarrowCodes &codes) {
  constexpr int64_t most = 128, ofMany = 32; // where one scale is for all terms
  if (!codes.scale() && codes.weights.value != codes.real)
    return 0;
  int64_t terms = op.getStaticLoopRanges()[codes.terms], size = codes.scale() ? terms : ofMany;
  while (size > most && size % 2 == 0)
    size /= 2;
  return size > most || terms % size || size % codes.perWord() ? 0 : size;
}

Value strata::placeInBytes(OpBuilder &b, Location loc, Value term, unsigned bits) {
  auto constant = [&](int64_t number) { return b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(number)); };
  if (bits == 8)
    return b.create<arith::ShLIOp>(loc, term, constant(3));
  Value byte = b.create<arith::ShLIOp>(loc, b.create<arith::AndIOp>(loc, term, constant(3)), constant(3));
  return b.create<arith::OrIOp>(loc, byte, b.create<arith::AndIOp>(loc, term, constant(4)));
}

SmallVector<Value> strata::bytesOfWords(OpBuilder &b, Location loc, Value words, unsigned bits) {
  if (bits == 8)
    return {words};
  auto constant = [&](int64_t number) -> Value {
    return b.create<arith::ConstantOp>(loc,
                                       DenseElementsAttr::get(cast<VectorType>(words.getType()), APInt(32, number)));
  };
  Value mask = constant(0x0F0F0F0F), upper = b.create<arith::ShRUIOp>(loc, words, constant(4));
  return {b.create<arith::AndIOp>(loc, words, mask), b.create<arith::AndIOp>(loc, upper, mask)};
}

void strata::buildBlockDots(OpBuilder &b, Location loc, ValueRange args, const BlockDots &dots, unsigned wordLoop,
                            unsigned termLoop) {
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  auto constant = [&](int64_t number) -> Value {
    return b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(number));
  };
  auto number = [&](unsigned loop) -> Value {
    return b.create<arith::IndexCastOp>(loc, i32, b.create<linalg::IndexOp>(loc, loop));
  };
  Value term = number(termLoop);
  Value code = readWord(b, loc, args[dots.words], placeInBytes(b, loc, term, dots.bits), dots.bits);
  Value sum = b.create<arith::MulIOp>(loc, b.create<arith::ExtSIOp>(loc, i32, args[dots.data]), code);
  if (dots.sums >= 0) {
    // Once for each block.
    Value zero = dots.zero < 0 ? constant(dots.zeroPoint) : b.create<arith::ExtUIOp>(loc, i32, args[dots.zero]);
    Value moved = b.create<arith::MulIOp>(loc, args[dots.sums], zero);
    Value isFirst = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                            b.create<arith::OrIOp>(loc, number(wordLoop), term), constant(0));
    sum = b.create<arith::SubIOp>(loc, sum, b.create<arith::SelectOp>(loc, isFirst, moved, constant(0)));
  }
  Value real = b.create<arith::SIToFPOp>(loc, f32, sum);
  if (dots.scale >= 0)
    real = b.create<arith::MulFOp>(loc, real, args[dots.scale]);
  real = b.create<arith::MulFOp>(loc, real, args[dots.factor]);
  b.create<linalg::YieldOp>(loc, b.create<arith::AddFOp>(loc, args.back(), real).getResult());
}

std::optional<BlockDots> strata::matchBlockDots(linalg::GenericOp op) {
  auto input = [&](Value value) -> int {
    auto argument = dyn_cast_or_null<BlockArgument>(value);
    return argument && argument.getOwner() == op.getBody() && argument.getArgNumber() < op.getNumDpsInputs()
               ? argument.getArgNumber()
               : -1;
  };
  auto operand = [](Operation *maker, unsigned i) { return maker ? maker->getOperand(i) : Value(); };
  Value addend = getAddend(op);
  auto scaled = addend ? addend.getDefiningOp<arith::MulFOp>() : nullptr;
  int factor = scaled ? input(scaled.getRhs()) : -1;
  if (factor < 0)
    return std::nullopt;
  BlockDots result{};
  result.factor = factor;
  Value real = scaled.getLhs();
  if (auto weighed = real.getDefiningOp<arith::MulFOp>()) {
    result.scale = input(weighed.getRhs());
    real = weighed.getLhs();
    if (result.scale < 0)
      return std::nullopt;
  }
  auto conversion = real.getDefiningOp<arith::SIToFPOp>();
  Value sum = conversion ? conversion.getIn() : Value();
  if (auto less = sum ? sum.getDefiningOp<arith::SubIOp>() : nullptr) {
    auto once = less.getRhs().getDefiningOp<arith::SelectOp>();
    auto moved = once ? once.getTrueValue().getDefiningOp<arith::MulIOp>() : nullptr;
    result.sums = moved ? input(moved.getLhs()) : -1;
    if (result.sums < 0)
      return std::nullopt;
    IntegerAttr zeroPoint;
    if (matchPattern(moved.getRhs(), m_Constant(&zeroPoint)))
      result.zeroPoint = zeroPoint.getInt();
    else if (result.zero = input(operand(moved.getRhs().getDefiningOp<arith::ExtUIOp>(), 0)); result.zero < 0)
      return std::nullopt;
    sum = less.getLhs();
  }
  auto product = sum ? sum.getDefiningOp<arith::MulIOp>() : nullptr;
  int data = product ? input(operand(product.getLhs().getDefiningOp<arith::ExtSIOp>(), 0)) : -1;
  auto code = product ? product.getRhs().getDefiningOp<arith::AndIOp>() : nullptr;
  int words = code ? input(operand(code.getLhs().getDefiningOp<arith::ShRUIOp>(), 0)) : -1;
  IntegerAttr mask;
  if (data < 0 || words < 0 || !matchPattern(code.getRhs(), m_Constant(&mask)))
    return std::nullopt;
  result.data = data;
  result.words = words;
  result.bits = llvm::popcount(static_cast<uint64_t>(mask.getInt()));
  return result;
}

bool strata::planBlockDots(LoopNest &nest, const NestOptions &options, NestPlan &plan) {
  bool canMultiply = options.byteDots || addsBytePairs(options);
  std::optional<BlockDots> dots = canMultiply && nest.reduce ? matchBlockDots(nest.reduce->op) : std::nullopt;
  if (!dots)
    return false;
  ArrayRef<Access> inputs = nest.reduce->inputs;
  int lane = inputs[dots->words].blockedLoop;
  auto isLane = [&](int input) {
    return input < 0 || (inputs[input].base && inputs[input].blockedLoop == lane && inputs[input].withinStride == 1);
  };
  auto isData = [&](int input) {
    return input < 0 || (inputs[input].base && inputs[input].blockedLoop < 0 && stride(inputs[input], lane).is(0));
  };
  if (lane < 0 || nest.loops[lane].reduction || !isLane(dots->words) || !isLane(dots->scale) || !isLane(dots->zero) ||
      !isData(dots->data) || !isData(dots->factor) || !isData(dots->sums))
    return false;
  BlockPlan blocks{*dots, {}, -1, -1};
  for (auto [l, loop] : llvm::enumerate(nest.loops)) {
    if (!loop.reduction)
      continue;
    int number = l;
    if (!stride(inputs[dots->factor], number).is(0) || (dots->scale >= 0 && !stride(inputs[dots->scale], number).is(0)))
      blocks.outer.push_back(number);
    else if (stride(inputs[dots->words], number).is(0) && loop.size.is(32 / dots->bits) &&
             stride(inputs[dots->data], number).is(1))
      blocks.term = number;
    else if (blocks.word < 0)
      blocks.word = number;
    else
      return false;
  }
  if (blocks.term < 0)
    return false;
  plan.blocks = blocks;
  return true;
}

namespace {
/// The instructions, for one width of vectors.
///
/// Without products of four bytes, pairs are first added in 16 bits. If codes have four bits, these hold the sums of
/// 16 products, 16 * 15 * 127: of a block of 32 terms all that one half of a lane adds. Of eight bits not even two
/// products fit; moved to signed ones, their magnitudes do, 2 * 128 * 127, with their signs given to the data:
///
///   sum c x = sum |c - 128| (sign(c - 128) x) + 128 sum x
struct ByteDots {
  OpBuilder &b;
  Location loc;
  VectorType type; ///< of sums
  unsigned bits;
  bool inPairs;  ///< without products of four bytes
  bool sumPairs; ///< sums of a block are those of pairs, of 16 bits

  /// `words`: of a block.
  ByteDots(OpBuilder &b, Location loc, VectorType type, unsigned bits, bool byteDots, const Extent &words)
      : b(b), loc(loc), type(type), bits(bits), inPairs(!byteDots && hasInstructions()),
        sumPairs(inPairs && bits == 4 && words.isKnown() && words.known <= 4) {}

  bool hasInstructions() const { return type.getNumElements() >= 4; }
  /// What codes are moved by, which the sums of the data take back.
  int64_t moved() const { return inPairs && bits == 8 ? 128 : 0; }

  Value constant(int64_t number) const {
    return b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, APInt(32, number)));
  }
  /// Four codes of each lane, as bytes.
  SmallVector<Value> bytesOf(Value words) const {
    if (moved())
      words = b.create<arith::XOrIOp>(loc, words, constant(0x80808080));
    return bytesOfWords(b, loc, words, bits);
  }
  /// What a block's sum begins with, and what it comes to, as i32.
  Value begin(Value first) const {
    if (!sumPairs)
      return first;
    auto pairs = VectorType::get({2 * type.getNumElements()}, b.getI16Type());
    return b.create<arith::ConstantOp>(loc, b.getZeroAttr(pairs));
  }
  Value total(Value first, Value sum) const { return sumPairs ? addPairs(b, loc, first, sum) : sum; }

  /// sums[i] + x * w, of rows `i`, four of them in each lane for each part of the codes: these are unsigned, the data,
  /// for all lanes, signed.
  void add(MutableArrayRef<Value> sums, ValueRange codes, ArrayRef<SmallVector<Value>> data) const {
    if (!inPairs || moved()) {
      for (auto [part, bytes] : llvm::enumerate(codes))
        for (auto [i, sum] : llvm::enumerate(sums))
          sum = addProducts(sum, bytes, data[i][part]);
      return;
    }
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value lower = multiplyBytePairs(b, loc, codes[0], spread(data[i][0]));
      Value pairs = multiplyBytePairs(b, loc, codes[1], spread(data[i][1]));
      pairs = b.create<arith::AddIOp>(loc, pairs, lower);
      sum = sumPairs ? b.create<arith::AddIOp>(loc, sum, pairs).getResult() : addPairs(b, loc, sum, pairs);
    }
  }
  /// sum + 128 x, which moved codes leave out.
  Value addMoved(Value sum, Value data) const { return addBytePairs(b, loc, sum, constant(0x80808080), spread(data)); }

private:
  Value spread(Value data) const { return b.create<vector::BroadcastOp>(loc, type, data); }

  Value addProducts(Value sum, Value codes, Value data) const {
    if (moved()) {
      auto bytes = VectorType::get({4 * type.getNumElements()}, b.getI8Type());
      bool wide = type.getNumElements() == 8;
      StringRef name = wide ? "llvm.x86.avx2.psign.b" : "llvm.x86.ssse3.psign.b.128";
      codes = b.create<vector::BitCastOp>(loc, bytes, codes);
      Value x = b.create<vector::BitCastOp>(loc, bytes, spread(data));
      x = b.create<LLVM::CallIntrinsicOp>(loc, bytes, b.getStringAttr(name), ValueRange{x, codes}).getResult(0);
      x = b.create<vector::BitCastOp>(loc, type, x);
      Value magnitudes = b.create<vector::BitCastOp>(loc, type, b.create<math::AbsIOp>(loc, codes));
      return addBytePairs(b, loc, sum, magnitudes, x);
    }
    if (hasInstructions())
      return addByteProducts(b, loc, sum, codes, spread(data));
    for (int64_t byte = 0; byte < 4; ++byte) {
      Value code = b.create<arith::ShRUIOp>(loc, codes, constant(8 * byte));
      code = b.create<arith::AndIOp>(loc, code, constant(0xFF));
      auto number = [&](int64_t n) { return b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(n)); };
      Value x = b.create<arith::ShLIOp>(loc, data, number(24 - 8 * byte));
      x = spread(b.create<arith::ShRSIOp>(loc, x, number(24)));
      sum = b.create<arith::AddIOp>(loc, sum, b.create<arith::MulIOp>(loc, code, x));
    }
    return sum;
  }
};
} // namespace

Value TileEmitter::numberAt(const Access &access, Value base, const Tile &tile, int64_t i, Type element) {
  Value at = add(base, position(access, tile, true));
  Value loaded = b.create<memref::LoadOp>(loc, access.base, elementAt(access, at, tile, i, 0));
  if (element != loaded.getType())
    loaded = b.create<arith::SIToFPOp>(loc, element, loaded);
  return loaded;
}

Value TileEmitter::vectorAt(const Access &access, Value base, const Tile &tile, int64_t j) {
  auto type = VectorType::get({tile.lanes}, access.element);
  Value at = add(base, position(access, tile, true));
  return b.create<vector::LoadOp>(loc, type, access.base, elementAt(access, at, tile, 0, j));
}

TileEmitter::Values TileEmitter::startOfBlock(const Tile &tile, ArrayRef<Value> bases, int64_t moved) {
  const BlockDots &dots = plan.blocks->dots;
  auto i32 = VectorType::get({tile.lanes}, b.getI32Type());
  Values starts(tile.rows, b.create<arith::ConstantOp>(loc, b.getZeroAttr(i32)));
  if (dots.sums < 0 || dots.zero >= 0)
    return starts;
  for (auto [i, start] : llvm::enumerate(starts)) {
    Value sum = numberAt(nest.reduce->inputs[dots.sums], bases[dots.sums], tile, i, b.getI32Type());
    Value less = b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(moved - dots.zeroPoint));
    start = b.create<vector::BroadcastOp>(loc, i32, b.create<arith::MulIOp>(loc, sum, less));
  }
  return starts;
}

TileEmitter::Values TileEmitter::addBlock(const Tile &tile, ArrayRef<Value> bases, ArrayRef<Value> integers,
                                          Values sums, int64_t moved) {
  const BlockDots &dots = plan.blocks->dots;
  ArrayRef<Access> inputs = nest.reduce->inputs;
  auto f32 = VectorType::get({tile.lanes}, b.getF32Type());
  auto spreadNumber = [&](int input, int64_t i) -> Value {
    return b.create<vector::BroadcastOp>(loc, f32, numberAt(inputs[input], bases[input], tile, i, b.getF32Type()));
  };
  Values factors, ofData;
  for (int64_t i = 0; i < tile.rows; ++i) {
    factors.push_back(spreadNumber(dots.factor, i));
    if (dots.zero >= 0)
      ofData.push_back(spreadNumber(dots.sums, i));
  }
  for (int64_t j = 0; j < tile.vectors; ++j) {
    Value scale = dots.scale >= 0 ? vectorAt(inputs[dots.scale], bases[dots.scale], tile, j) : Value(), zero;
    if (dots.zero >= 0) {
      zero = b.create<arith::UIToFPOp>(loc, f32, vectorAt(inputs[dots.zero], bases[dots.zero], tile, j));
      if (moved)
        zero = b.create<arith::SubFOp>(
            loc, zero, b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(f32, static_cast<float>(moved))));
    }
    for (int64_t i = 0; i < tile.rows; ++i) {
      int64_t n = i * tile.vectors + j;
      Value real = b.create<arith::SIToFPOp>(loc, f32, integers[n]);
      if (zero)
        real = b.create<arith::SubFOp>(loc, real, b.create<arith::MulFOp>(loc, zero, ofData[i]));
      Value weight = scale ? b.create<arith::MulFOp>(loc, scale, factors[i]).getResult() : factors[i];
      sums[n] = multiplyAdd(real, weight, sums[n]);
    }
  }
  return sums;
}

/// All sums of the tile, row by row, added to `start`.
TileEmitter::Values TileEmitter::reduceBlocks(const Tile &tile, Values start) {
  if (plan.blocks->unitBytes)
    return asNumbers(reduceBlocksOnUnit(tile, asVectors(start, tile)), tile);
  const BlockPlan &blocks = *plan.blocks;
  const BlockDots &dots = blocks.dots;
  ArrayRef<Access> inputs = nest.reduce->inputs;
  const Access &words = inputs[dots.words], &data = inputs[dots.data];
  auto i32 = VectorType::get({tile.lanes}, b.getI32Type());
  const Extent wordsOfBlock = blocks.word < 0 ? Extent{1, {}} : nest.loops[blocks.word].size;
  ByteDots bytes(b, loc, i32, dots.bits, target.byteDots, wordsOfBlock);
  // Where no zero point asks for the sums of the data, moved codes do.
  bool addsMoved = bytes.moved() && dots.sums < 0;
  Values bases = basesOf(*nest.reduce, tile);
  SmallVector<int> wordLoops;
  if (blocks.word >= 0)
    wordLoops.push_back(blocks.word);
  start = reduceLoops(tile, blocks.outer, asVectors(start, tile), [&](const Tile &block, Values sums) {
    Values firsts = startOfBlock(block, bases, bytes.moved()), integers(sums.size());
    for (auto [n, integer] : llvm::enumerate(integers))
      integer = bytes.begin(firsts[n / tile.vectors]);
    if (addsMoved)
      integers.append(tile.rows, bytes.constant(0));
    integers = reduceLoops(block, wordLoops, integers, [&](const Tile &step, Values values) {
      Value at = add(bases[dots.words], position(words, step, true));
      prefetch(words, bases[dots.words], at, step);
      SmallVector<Values> ofRows;
      auto four = VectorType::get({4}, b.getI8Type());
      for (int64_t i = 0; i < tile.rows; ++i) {
        ofRows.emplace_back();
        for (int64_t part = 0; part < 8 / dots.bits; ++part) {
          Value from = add(bases[dots.data], position(data, step, true));
          from = add(elementAt(data, from, step, i, 0), index(4 * part));
          Value loaded = b.create<vector::LoadOp>(loc, four, data.base, from);
          loaded = b.create<vector::BitCastOp>(loc, VectorType::get({1}, b.getI32Type()), loaded);
          ofRows.back().push_back(b.create<vector::ExtractOp>(loc, loaded, 0));
        }
      }
      for (int64_t j = 0; j < tile.vectors; ++j) {
        Values column;
        for (int64_t i = 0; i < tile.rows; ++i)
          column.push_back(values[i * tile.vectors + j]);
        bytes.add(column, bytes.bytesOf(vectorAt(words, bases[dots.words], step, j)), ofRows);
        for (int64_t i = 0; i < tile.rows; ++i)
          values[i * tile.vectors + j] = column[i];
      }
      for (int64_t i = 0; addsMoved && i < tile.rows; ++i)
        values[sums.size() + i] = bytes.addMoved(values[sums.size() + i], ofRows[i][0]);
      return values;
    });
    for (size_t n = 0; n < sums.size(); ++n) {
      int64_t row = n / tile.vectors;
      integers[n] = bytes.total(firsts[row], integers[n]);
      if (addsMoved)
        integers[n] = b.create<arith::AddIOp>(loc, integers[n], integers[sums.size() + row]);
    }
    return addBlock(block, bases, ArrayRef(integers).take_front(sums.size()), sums, bytes.moved());
  });
  return asNumbers(start, tile);
}
