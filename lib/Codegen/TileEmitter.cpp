//===- TileEmitter.cpp - accesses and bodies of a tile --------------------===//
#include "TileEmitter.h"
#include "BodyLoads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata;

Value IndexMath::index(int64_t number) { return b.create<arith::ConstantIndexOp>(loc, number); }

Value IndexMath::add(Value x, Value y) {
  if (!x || matchPattern(x, m_Zero()))
    return y;
  if (!y || matchPattern(y, m_Zero()))
    return x;
  return b.create<arith::AddIOp>(loc, x, y);
}

Value IndexMath::times(Value x, const Extent &e) {
  if (e.is(0) || matchPattern(x, m_Zero()))
    return index(0);
  if (e.is(1))
    return x;
  return b.create<arith::MulIOp>(loc, x, materialize(e));
}

Value IndexMath::addressOf(Value buffer, Value place, int64_t bytes) {
  Value base = b.create<memref::ExtractAlignedPointerAsIndexOp>(loc, buffer);
  Value address = b.create<arith::IndexCastOp>(loc, b.getI64Type(), add(base, times(place, {bytes, {}})));
  return b.create<LLVM::IntToPtrOp>(loc, LLVM::LLVMPointerType::get(b.getContext()), address);
}

Value TileEmitter::position(const Access &access, const Tile &tile, bool reduction) {
  Value sum = reduction || !access.offset ? index(0) : access.offset;
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    if (info.reduction != reduction || !tile.at[loop])
      continue;
    if (access.blockedLoop == static_cast<int>(loop)) {
      Value size = index(access.block);
      Value number = b.create<arith::DivUIOp>(loc, tile.at[loop], size);
      Value within = times(b.create<arith::RemUIOp>(loc, tile.at[loop], size), {access.withinStride, {}});
      sum = add(sum, add(times(number, access.blockStride), within));
      continue;
    }
    sum = add(sum, times(tile.at[loop], access.strides[loop]));
  }
  return sum;
}

/// Where the first lane of element (i, j) of the tile is.
Value TileEmitter::elementAt(const Access &access, Value base, const Tile &tile, int64_t i, int64_t j) {
  Value lane = isOfGroups(access, plan.lane) ? times(index(j * tile.lanes / access.block), access.blockStride)
                                             : times(index(j * tile.lanes), stride(access, plan.lane));
  return add(base, add(times(index(i), stride(access, plan.row)), lane));
}

/// For each group of lanes an element, or, of narrow ones, `unit` of them as 32 bits.
Value TileEmitter::loadOfGroups(const Access &access, Value at, int64_t lanes, int64_t unit) {
  const Extent &apart = access.blockStride;
  int64_t groups = lanes / access.block, distance = apart.known, length = (groups - 1) * distance + unit;
  Type element = access.element, word = unit == 1 ? element : b.getI32Type();
  auto mask = [&](int64_t size, auto isSet) -> Value {
    SmallVector<bool> bits = llvm::map_to_vector(llvm::seq<int64_t>(0, size), isSet);
    return b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(VectorType::get({size}, b.getI1Type()), bits));
  };
  // What lies between is not asked for: behind the last one there may be nothing.
  if (groups > 2 && apart.isKnown() && length <= lanes * unit &&
      (word == element ? element.isF32() : target.vectorBits == 512)) {
    Type bits = b.getIntegerType(element.getIntOrFloatBitWidth());
    Value base = viewAs(b, loc, access.base, bits);
    auto type = VectorType::get({lanes * unit}, bits);
    Value wanted = mask(lanes * unit, [&](int64_t e) { return e < length && e % distance < unit; });
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
    Value loaded = b.create<vector::MaskedLoadOp>(loc, type, base, at, wanted, zero);
    loaded = b.create<vector::BitCastOp>(loc, VectorType::get({lanes}, word), loaded);
    return b.create<vector::ShuffleOp>(loc, loaded, loaded, llvm::map_to_vector(llvm::seq(lanes), [&](int64_t lane) {
                                         return lane / access.block * distance / unit;
                                       }));
  }
  Value result;
  for (int64_t group = groups; group-- > 0;) {
    Value from = add(at, times(index(group), apart)), one;
    if (unit == 1) {
      one = b.create<memref::LoadOp>(loc, access.base, from);
    } else {
      one = b.create<vector::LoadOp>(loc, VectorType::get({unit}, element), access.base, from);
      one = b.create<vector::BitCastOp>(loc, VectorType::get({1}, word), one);
      one = b.create<vector::ExtractOp>(loc, one, 0);
    }
    one = spread(one, lanes);
    Value isUpTo = mask(lanes, [&](int64_t lane) { return lane / access.block <= group; });
    result = result ? b.create<arith::SelectOp>(loc, isUpTo, one, result) : one;
  }
  return result;
}

Value TileEmitter::maskOf(int64_t lanes, const Extent &count) {
  auto type = VectorType::get({lanes}, b.getI1Type());
  if (!count.isKnown()) {
    auto numbers = llvm::to_vector(llvm::seq<int32_t>(0, lanes));
    Value lane = b.create<arith::ConstantOp>(loc, b.getI32VectorAttr(numbers));
    Value most = b.create<arith::IndexCastOp>(loc, b.getI32Type(), count.value);
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, lane, spread(most, lanes));
  }
  auto bits = llvm::map_to_vector(llvm::seq(lanes), [&](int64_t lane) { return lane < count.known; });
  return b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
}

/// The first `present` lanes, of 0 all; the others are zero.
Value TileEmitter::loadPart(VectorType type, Value buffer, Value at, const Extent &present) {
  int64_t lanes = type.getNumElements();
  if (present.is(0) || present.is(lanes))
    return b.create<vector::LoadOp>(loc, type, buffer, at);
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
  return b.create<vector::MaskedLoadOp>(loc, type, buffer, at, maskOf(lanes, present), zero);
}

/// The first lanes of a vector, as many as the run tells. Instructions that store them take twelve cycles where vectors
/// are short: nothing beside a reduction.
void TileEmitter::storeFirst(Value vector, const Access &access, Value at, Value count) {
  int64_t width = cast<VectorType>(vector.getType()).getNumElements();
  if (target.vectorBits == 512 || nest.reduce) {
    b.create<vector::MaskedStoreOp>(loc, access.base, at, maskOf(width, {0, count}), vector);
    return;
  }
  for (int64_t lanes = width / 2; lanes; lanes /= 2) {
    Value bit = b.create<arith::AndIOp>(loc, count, index(lanes));
    Value isSome = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, bit, index(0));
    Value part = b.create<vector::ExtractStridedSliceOp>(loc, vector, int64_t(0), lanes, int64_t(1));
    b.create<scf::IfOp>(loc, isSome, [&](OpBuilder &, Location) {
      b.create<vector::StoreOp>(loc, part, access.base, at);
      b.create<scf::YieldOp>(loc);
    });
    Value next = b.create<vector::ExtractStridedSliceOp>(loc, vector, lanes, lanes, int64_t(1));
    vector = b.create<arith::SelectOp>(loc, isSome, next, part);
    at = add(at, bit);
  }
}

/// Numbers of 16 bits and less are moved as integers: LLVM would take vectors of them apart where the target does not
/// compute with them.
Value TileEmitter::asBits(Value vector) {
  auto type = cast<VectorType>(vector.getType());
  if (!isa<FloatType>(type.getElementType()) || type.getElementTypeBitWidth() >= 32)
    return vector;
  return b.create<vector::BitCastOp>(loc, type.clone(b.getIntegerType(type.getElementTypeBitWidth())), vector);
}

Value TileEmitter::fromBits(Value bits, VectorType type) {
  return bits.getType() == type ? bits : Value(b.create<vector::BitCastOp>(loc, type, bits));
}

/// Lanes that lie `step` elements apart. As many vectors hold them and what is between them; the last one ends with the
/// last lane, of which there are `present` (0: all), so that nothing behind it is read.
Value TileEmitter::loadApart(VectorType type, Value buffer, Value at, int64_t step, const Extent &present) {
  int64_t lanes = type.getNumElements(), elements = (lanes - 1) * step + 1;
  Value result, last; // behind the last element
  if (!present.is(0))
    last = b.create<arith::SubIOp>(loc, times(materialize(present), {step, {}}), index(step - 1));
  for (int64_t begin = 0; begin < elements; begin += lanes) {
    int64_t first = std::min(begin, elements - lanes);
    Value from = first ? add(at, index(first)) : at;
    Extent here = last ? Extent{0, b.create<arith::SubIOp>(loc, last, index(first))} : Extent();
    Value part = asBits(loadPart(type, buffer, from, here));
    if (!result) {
      result = part;
      continue;
    }
    auto taken = llvm::map_to_vector(llvm::seq(lanes), [&](int64_t lane) {
      int64_t element = lane * step;
      return element >= begin ? lanes + std::min(element - first, lanes - 1) : begin == lanes ? element : lane;
    });
    result = b.create<vector::ShuffleOp>(loc, result, part, taken);
  }
  return fromBits(result, type);
}

/// A bool is a byte in memory, where vectors of i1 would be bits.
Value TileEmitter::isSet(Value bytes) {
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(bytes.getType()));
  return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, bytes, zero);
}

Value TileEmitter::load(const Access &access, Value base, const Tile &tile, int64_t i, int64_t j) {
  if (access.scalar)
    return access.scalar;
  Extent lanes = stride(access, plan.lane);
  Value at = elementAt(access, base, tile, i, j);
  bool boolean = access.element.isInteger(1);
  Type element = boolean ? b.getI8Type() : access.element;
  auto finish = [&](Value value) { return boolean ? isSet(value) : value; };
  if (isOfGroups(access, plan.lane) && tile.lanes > access.block)
    return finish(loadOfGroups(access, at, tile.lanes, /*unit=*/1));
  if (tile.lanes == 1 || lanes.is(0))
    return finish(b.create<memref::LoadOp>(loc, access.base, at));
  auto type = VectorType::get({tile.lanes}, element);
  prefetchAhead(access, at, tile.lanes, j, /*isWrite=*/false);
  if (lanes.is(1)) // what fills up a block is there
    return finish(loadPart(type, access.base, at, access.blockedLoop == plan.lane ? Extent() : tile.presentOf(j)));
  if (isNear(lanes) && lanes.known <= tile.lanes / 2)
    return finish(loadApart(type, access.base, at, lanes.known, tile.presentOf(j)));
  Value gathered = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
  for (int64_t l = 0; l < tile.lanes; ++l) {
    Value one = b.create<memref::LoadOp>(loc, access.base, add(at, times(index(l), lanes)));
    gathered = b.create<vector::InsertOp>(loc, one, gathered, l);
  }
  return finish(gathered);
}

/// A square of 2^k vectors of 2^k elements, whose halves are interleaved k times: one instruction for each vector.
static void transposeSmallSquare(OpBuilder &b, Location loc, MutableArrayRef<Value> vectors) {
  int64_t size = vectors.size(), half = size / 2;
  SmallVector<int64_t> low, high;
  for (int64_t at = 0; at < half; ++at) {
    low.append({at, size + at});
    high.append({half + at, size + half + at});
  }
  for (int64_t step = 1; step < size; step *= 2) {
    SmallVector<Value> before(vectors);
    for (int64_t i = 0; i < half; ++i) {
      vectors[2 * i] = b.create<vector::ShuffleOp>(loc, before[i], before[i + half], low);
      vectors[2 * i + 1] = b.create<vector::ShuffleOp>(loc, before[i], before[i + half], high);
    }
  }
}

/// A square of 2^k vectors of 2^k elements: at each step the blocks beside the diagonal are exchanged.
static void transposeSquare(OpBuilder &b, Location loc, MutableArrayRef<Value> vectors) {
  int64_t size = vectors.size();
  // What interleaves works in parts of so many bits.
  constexpr int64_t partBits = 128;
  if (size * cast<VectorType>(vectors[0].getType()).getElementTypeBitWidth() <= partBits)
    return transposeSmallSquare(b, loc, vectors);
  for (int64_t block = size / 2; block; block /= 2) {
    SmallVector<int64_t> upper, lower;
    for (int64_t at = 0; at < size; ++at) {
      bool left = (at & block) == 0;
      upper.push_back(left ? at : size + at - block);
      lower.push_back(left ? at + block : size + at);
    }
    for (int64_t i = 0; i < size; ++i)
      if ((i & block) == 0) {
        Value x = vectors[i], y = vectors[i + block];
        vectors[i] = b.create<vector::ShuffleOp>(loc, x, y, upper);
        vectors[i + block] = b.create<vector::ShuffleOp>(loc, x, y, lower);
      }
  }
}

bool TileEmitter::isTransposed(const Access &access, const Tile &tile) {
  Extent lanes = stride(access, plan.lane);
  if (!access.base || lanes.is(0) || lanes.is(1) || !stride(access, plan.row).is(1) || access.element.isInteger(1))
    return false;
  if (plan.transposes)
    return tile.rows > 1 && llvm::isPowerOf2_64(tile.rows) && tile.rows <= tile.lanes;
  // Beside a product's sums, whose rows are any number.
  constexpr int64_t someRows = 4;
  return nest.reduce && target.partLoads && access.element.isIntOrFloat() &&
         access.element.getIntOrFloatBitWidth() >= 32 && tile.rows >= someRows && tile.lanes >= someRows &&
         llvm::isPowerOf2_64(tile.lanes) && tile.present.empty() && !tile.stored;
}

/// Vector `j` of each row, beside a product's sums: of a square of as many rows as there are lanes, some are not there.
TileEmitter::Values TileEmitter::loadPartsTransposed(const Access &access, Value base, const Tile &tile, int64_t j) {
  auto type = VectorType::get({tile.lanes}, access.element);
  Values rows;
  for (int64_t first = 0; first < tile.rows; first += tile.lanes) {
    int64_t present = std::min(tile.lanes, tile.rows - first);
    Values square = llvm::map_to_vector(llvm::seq<int64_t>(0, tile.lanes), [&](int64_t lane) {
      Value at = add(add(base, index(first)), times(index(j * tile.lanes + lane), stride(access, plan.lane)));
      return loadPart(type, access.base, at, {present, {}});
    });
    transposeSquare(b, loc, square);
    rows.append(square.begin(), square.begin() + present);
  }
  return rows;
}

/// Vector `j` of each row, of an input that lies along the rows: squares are transposed and put side by side.
TileEmitter::Values TileEmitter::loadTransposed(const Access &access, Value base, const Tile &tile, int64_t j) {
  if (!plan.transposes)
    return loadPartsTransposed(access, base, tile, j);
  Extent lanes = stride(access, plan.lane);
  auto type = VectorType::get({tile.rows}, access.element);
  SmallVector<Values> squares;
  for (int64_t first = 0; first < tile.lanes; first += tile.rows) {
    Values square;
    for (int64_t l = first; l < first + tile.rows; ++l)
      square.push_back(
          b.create<vector::LoadOp>(loc, type, access.base, add(base, times(index(j * tile.lanes + l), lanes))));
    transposeSquare(b, loc, square);
    squares.push_back(square);
  }
  for (; squares.size() > 1; squares.resize(squares.size() / 2))
    for (size_t s = 0; s < squares.size() / 2; ++s)
      for (int64_t i = 0; i < tile.rows; ++i) {
        Value left = squares[2 * s][i], right = squares[2 * s + 1][i];
        int64_t joined = 2 * cast<VectorType>(left.getType()).getNumElements();
        squares[s][i] = b.create<vector::ShuffleOp>(loc, left, right, llvm::to_vector(llvm::seq<int64_t>(0, joined)));
      }
  return squares.front();
}

/// Vector `j` of a row, or several from it on.
void TileEmitter::store(const Access &access, Value base, const Tile &tile, int64_t i, int64_t j, Value value) {
  Extent lanes = stride(access, plan.lane);
  Value at = elementAt(access, base, tile, i, j);
  if (access.element.isInteger(1)) {
    Type bytes = b.getI8Type();
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      bytes = vector.clone(bytes);
    value = b.create<arith::ExtUIOp>(loc, bytes, value);
  }
  if (!isa<VectorType>(value.getType())) {
    b.create<memref::StoreOp>(loc, value, access.base, at);
    return;
  }
  Extent present = tile.presentOf(j);
  if (!present.isKnown())
    return storeFirst(value, access, at, present.value);
  if (tile.stored || present.known) {
    int64_t end = present.known ? present.known : tile.lanes;
    for (int64_t lane = tile.stored; lane < end;) {
      int64_t count = llvm::bit_floor(static_cast<uint64_t>(end - lane));
      Value part = b.create<vector::ExtractStridedSliceOp>(loc, value, lane, count, int64_t(1));
      b.create<vector::StoreOp>(loc, part, access.base, add(at, index(lane)));
      lane += count;
    }
    return;
  }
  if (lanes.is(1)) {
    int64_t vectors = cast<VectorType>(value.getType()).getNumElements() / tile.lanes;
    for (int64_t k = j; !plan.streams && k < j + vectors; ++k) {
      Value here = k == j ? at : elementAt(access, base, tile, i, k);
      prefetchAhead(access, here, tile.lanes, k, /*isWrite=*/true);
      if (plan.row >= 0)
        prefetchNextTile(access, here, tile, k, /*isWrite=*/true);
    }
    b.create<vector::StoreOp>(loc, value, access.base, at, plan.streams && tile.lanes == plan.width);
    return;
  }
  for (int64_t l = 0; l < tile.lanes; ++l)
    b.create<memref::StoreOp>(loc, b.create<vector::ExtractOp>(loc, value, l), access.base,
                              add(at, times(index(l), lanes)));
}

Value TileEmitter::spread(Value value, int64_t lanes) {
  if (lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  return b.create<vector::BroadcastOp>(loc, VectorType::get({lanes}, value.getType()), value);
}

SmallVector<Value> TileEmitter::basesOf(Stage &stage, const Tile &tile) {
  SmallVector<Value> bases;
  for (SmallVector<Access> *list : {&stage.inputs, &stage.outputs})
    for (Access &access : *list)
      bases.push_back(access.base ? position(access, tile, false) : Value());
  return bases;
}

/// What does not depend on the row or on the vector is loaded once.
std::pair<const Access *, int64_t> TileEmitter::keyOf(const Access &access, int64_t i, int64_t j) {
  bool forAllLanes = stride(access, plan.lane).is(0) && !isOfGroups(access, plan.lane);
  return {&access, (stride(access, plan.row).is(0) ? 0 : i * 1000) + (forAllLanes ? 0 : j)};
}

SmallVector<Value> TileEmitter::inputsOf(Stage &stage, ArrayRef<Value> bases, const Tile &tile, int64_t i, int64_t j,
                                         Loaded &cache, Value carried) {
  SmallVector<Value> values;
  for (auto [k, access] : llvm::enumerate(stage.inputs)) {
    if (stage.carried == static_cast<int>(k)) {
      values.push_back(carried);
      continue;
    }
    if (nest.finish && &stage == &*nest.finish && isTransposed(access, tile) && !cache.contains(keyOf(access, i, j)))
      for (auto [row, vector] : llvm::enumerate(loadTransposed(access, bases[k], tile, j)))
        cache[keyOf(access, row, j)] = vector;
    Value &value = cache[keyOf(access, i, j)];
    if (!value)
      value = load(access, bases[k], tile, i, j);
    values.push_back(value);
  }
  return values;
}

/// What linalg.index says for element (i, j) of the tile.
Value TileEmitter::numberOf(Stage &stage, linalg::IndexOp number, const Tile &tile, int64_t i, int64_t j) {
  int loop = stage.loopOf[number.getDim()];
  if (loop < 0)
    return index(0);
  Value value = tile.at[loop];
  if (loop == plan.row)
    value = add(value, index(i));
  if (loop != plan.lane)
    return value;
  value = add(value, index(j * tile.lanes));
  if (tile.lanes == 1)
    return value;
  auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, tile.lanes));
  auto type = VectorType::get({tile.lanes}, b.getIndexType());
  Value steps = b.create<arith::ConstantOp>(loc, DenseIntElementsAttr::get(type, numbers));
  return b.create<arith::AddIOp>(loc, spread(value, tile.lanes), steps);
}

/// The product that a sum of it and the accumulator is fused with, if there is one. Only these are fused: what an
/// operand is made of is the same value, with the same roundings, in a reduction and outside of it.
static arith::MulFOp getFusedProduct(Stage &stage, arith::AddFOp sum) {
  if (!sum.getType().isF32() && !sum.getType().isF64())
    return {};
  auto isAccumulator = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == stage.op.getBody() && argument.getArgNumber() >= stage.inputs.size();
  };
  for (unsigned side : {0u, 1u}) {
    auto product = sum->getOperand(side).getDefiningOp<arith::MulFOp>();
    if (product && product->hasOneUse() && product->getBlock() == stage.op.getBody() &&
        isAccumulator(sum->getOperand(1 - side)))
      return product;
  }
  return {};
}

/// An element for each lane, at indices of which some are vectors.
Value TileEmitter::gather(Value buffer, Type element, ArrayRef<Value> indices, int64_t lanes) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset, elements = 1; // from the first to the last
  bool isKnown = succeeded(getStridesAndOffset(type, strides, offset)) && type.hasStaticShape() &&
                 !llvm::is_contained(strides, ShapedType::kDynamic);
  if (isKnown)
    for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
      elements = llvm::SaturatingMultiplyAdd<uint64_t>(size, std::abs(stride), elements);
  // Twice as many places of 32 bits fit a vector.
  Type place = isKnown && elements <= INT32_MAX ? Type(b.getI32Type()) : Type(b.getIndexType());
  SmallVector<OpFoldResult> distances = getAsIndexOpFoldResult(b.getContext(), strides);
  if (llvm::is_contained(strides, ShapedType::kDynamic))
    distances = b.create<memref::ExtractStridedMetadataOp>(loc, buffer).getConstifiedMixedStrides();
  SmallVector<Value> first(indices);
  Value places;
  for (auto [index, distance] : llvm::zip_equal(first, distances)) {
    if (!isa<VectorType>(index.getType()))
      continue;
    Value from = index;
    if (place != b.getIndexType())
      from = b.create<arith::IndexCastOp>(loc, VectorType::get({lanes}, place), from);
    if (!isConstantIntValue(distance, 1)) {
      Value times = getValueOrCreateConstantIndexOp(b, loc, distance);
      if (place != b.getIndexType())
        times = b.create<arith::IndexCastOp>(loc, place, times);
      from = b.create<arith::MulIOp>(loc, from, spread(times, lanes));
    }
    places = places ? b.create<arith::AddIOp>(loc, places, from).getResult() : from;
    index = this->index(0);
  }
  auto result = VectorType::get({lanes}, element);
  Value all = b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), true));
  Value none = b.create<arith::ConstantOp>(loc, b.getZeroAttr(result));
  return b.create<vector::GatherOp>(loc, result, buffer, first, places, all, none);
}

/// Neighbours along the lanes, if the last index counts along them; where it stays at one place instead, if the run
/// says so, that place's element. Otherwise each lane's own.
Value TileEmitter::loadInBody(Stage &stage, memref::LoadOp load, const IRMapping &mapping, int64_t lanes) {
  // The buffer may be one of the body.
  Value buffer = mapping.lookupOrDefault(load.getMemRef());
  SmallVector<Value> indices =
      llvm::map_to_vector(load.getIndices(), [&](Value at) { return mapping.lookupOrDefault(at); });
  auto loadOne = [&]() -> Value { return b.create<memref::LoadOp>(loc, buffer, indices); };
  if (lanes == 1)
    return loadOne();
  if (!bodyLoads.contains(load))
    for (auto [other, kind] : lanesOfLoads(stage, plan.lane))
      bodyLoads[other] = kind;
  LanesLoad kind = bodyLoads.lookup(load);
  if (kind == LanesLoad::one)
    return loadOne();
  bool boolean = load.getType().isInteger(1);
  Type element = boolean ? b.getI8Type() : load.getType();
  auto inBytes = [&] { return boolean ? viewAs(b, loc, buffer, element) : buffer; };
  auto finish = [&](Value loaded) { return boolean ? isSet(loaded) : loaded; };
  if (kind == LanesLoad::apart)
    return finish(gather(inBytes(), element, indices, lanes));
  indices.back() = b.create<vector::ExtractOp>(loc, indices.back(), kind == LanesLoad::reversedRun ? lanes - 1 : 0);
  auto loadLanes = [&]() -> Value {
    return finish(b.create<vector::LoadOp>(loc, VectorType::get({lanes}, element), inBytes(), indices));
  };
  if (kind == LanesLoad::run)
    return loadLanes();
  if (kind == LanesLoad::reversedRun) {
    auto order = llvm::map_to_vector(llvm::seq<int64_t>(0, lanes), [&](int64_t lane) { return lanes - 1 - lane; });
    Value loaded = loadLanes();
    return b.create<vector::ShuffleOp>(loc, loaded, loaded, order);
  }
  auto choice = load.getIndices().back().getDefiningOp<arith::SelectOp>();
  Value stays = mapping.lookupOrDefault(choice.getCondition());
  auto emit = [&](auto loaded) {
    return [&, loaded](OpBuilder &, Location) { b.create<scf::YieldOp>(loc, loaded()); };
  };
  auto spreadOne = [&] { return spread(loadOne(), lanes); };
  return b.create<scf::IfOp>(loc, stays, emit(spreadOne), emit(loadLanes)).getResult(0);
}

/// The numbers that an integer, or each one of a vector, has the bits of, rounded; as an integer again.
Value TileEmitter::roundGroup(Value group, arith::TruncFOp rounding) {
  auto type = dyn_cast<VectorType>(group.getType());
  int64_t groups = type ? type.getNumElements() : 1;
  int64_t size = groups * getElementTypeOrSelf(group).getIntOrFloatBitWidth() / 32;
  if (!type)
    group = b.create<vector::BroadcastOp>(loc, VectorType::get({1}, group.getType()), group);
  Type element = rounding.getType(), whole = b.getIntegerType(size / groups * element.getIntOrFloatBitWidth());
  Value numbers = b.create<vector::BitCastOp>(loc, VectorType::get({size}, b.getF32Type()), group);
  auto rounded = b.create<arith::TruncFOp>(loc, VectorType::get({size}, element), numbers);
  rounded->setAttrs(rounding->getAttrs());
  Value result = b.create<vector::BitCastOp>(loc, VectorType::get({groups}, whole), rounded);
  return type ? result : b.create<vector::ExtractOp>(loc, result, 0);
}

/// One operation of a body, for element (i, j).
void TileEmitter::operation(Stage &stage, Operation &op, IRMapping &mapping, const Tile &tile, int64_t i, int64_t j,
                            bool fuse) {
  auto mapped = [&](Value value) { return mapping.lookupOrDefault(value); };
  auto fused = [&](Operation *op) {
    auto sum = dyn_cast<arith::AddFOp>(op);
    return fuse && target.fma && sum ? getFusedProduct(stage, sum) : arith::MulFOp();
  };
  if (auto number = dyn_cast<linalg::IndexOp>(op)) {
    mapping.map(number.getResult(), numberOf(stage, number, tile, i, j));
    return;
  }
  if (auto product = fused(&op)) {
    Value sum = op.getOperand(op.getOperand(0) == product ? 1 : 0);
    Value x = mapped(product.getLhs()), y = mapped(product.getRhs()), z = mapped(sum);
    int64_t lanes = 1;
    for (Value value : {x, y, z})
      if (isa<VectorType>(value.getType()))
        lanes = tile.lanes;
    mapping.map(op.getResult(0), b.create<math::FmaOp>(loc, spread(x, lanes), spread(y, lanes), spread(z, lanes)));
    return;
  }
  if (auto rounding = dyn_cast<arith::TruncFOp>(op);
      rounding && getElementTypeOrSelf(mapped(rounding.getIn())).isInteger()) {
    mapping.map(rounding.getResult(), roundGroup(mapped(rounding.getIn()), rounding));
    return;
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    mapping.map(load.getResult(), loadInBody(stage, load, mapping, tile.lanes));
    return;
  }
  // A tail takes a result as it was computed, whatever it is stored as.
  if (isa<arith::ExtFOp>(op) && stage.op->hasAttr(kTail))
    if (auto stored = mapped(op.getOperand(0)).getDefiningOp<arith::TruncFOp>();
        stored && getElementTypeOrSelf(stored.getIn()) == op.getResult(0).getType()) {
      mapping.map(op.getResult(0), stored.getIn());
      return;
    }
  // A product that only feeds a fused sum is not computed by itself.
  if (isa<arith::MulFOp>(op) && op.hasOneUse() && fused(*op.user_begin()) == &op)
    return;
  bool wide = llvm::any_of(op.getOperands(), [&](Value operand) { return isa<VectorType>(mapped(operand).getType()); });
  if (!wide) {
    b.clone(op, mapping);
    return;
  }
  OperationState state(loc, op.getName());
  for (Value operand : op.getOperands())
    state.addOperands(spread(mapped(operand), tile.lanes));
  for (Type type : op.getResultTypes())
    state.addTypes(VectorType::get({tile.lanes}, type));
  state.addAttributes(op.getAttrs());
  mapping.map(op.getResults(), leaveZerosOpen(b.create(state))->getResults());
}

void TileEmitter::bodies(Stage &stage, MutableArrayRef<Element> elements, const Tile &tile, bool fuse) {
  Block *block = stage.op.getBody();
  SmallVector<IRMapping> mappings(elements.size());
  for (auto [element, mapping] : llvm::zip_equal(elements, mappings))
    mapping.map(block->getArguments().take_front(element.values.size()), element.values);
  for (Operation &op : block->without_terminator())
    for (auto [element, mapping] : llvm::zip_equal(elements, mappings))
      operation(stage, op, mapping, tile, element.i, element.j, fuse);
  for (auto [element, mapping] : llvm::zip_equal(elements, mappings)) {
    element.values.clear();
    for (Value value : block->getTerminator()->getOperands())
      element.values.push_back(mapping.lookupOrDefault(value));
  }
}

SmallVector<Value> TileEmitter::body(Stage &stage, ArrayRef<Value> arguments, const Tile &tile, int64_t i, int64_t j,
                                     bool fuse) {
  Element element{i, j, Values(arguments)};
  bodies(stage, element, tile, fuse);
  return element.values;
}
