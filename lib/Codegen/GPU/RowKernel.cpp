//===- RowKernel.cpp - reductions along rows with all that shares the rows ===//
//
// The threads that share a row compute of it what they need, when they need it:
// an element of a tensor between the operations is computed by whoever reads it,
// from memory and from the sums that all threads know. So nothing between the
// operations lies anywhere but in registers, where a thread keeps its part of a
// row that is short enough; of a longer one it computes elements again.
//
//===----------------------------------------------------------------------===//
#include "RowKernel.h"
#include "../LinalgQueries.h"
#include "../LoopNest.h"
#include "SharedTile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <map>

using namespace mlir;
using namespace strata;
using linalg::GenericOp;

/// Lanes that exchange values without memory.
static constexpr int64_t lanes = 32;

//===----------------------------------------------------------------------===//
// The code of a thread
//===----------------------------------------------------------------------===//

namespace {
class RowEmitter {
public:
  RowEmitter(OpBuilder &b, gpu::GPUFuncOp function, RowGroup &group, const RowMapping &mapping, IRMapping &values)
      : b(b), loc(function.getLoc()), function(function), group(group), mapping(mapping), values(values) {}

  void emit();

private:
  using Numbers = SmallVector<Value>; ///< of an operation's loops; null: the only one
  using Key = std::pair<void *, std::vector<void *>>;
  using Memory = std::map<Key, SmallVector<Value>>;

  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp function;
  RowGroup &group;
  const RowMapping &mapping;
  IRMapping &values;
  Value thread, slice, rowInBlock, rowInside;
  Memory known; ///< what has been computed and is in reach of the insertion point
  DenseMap<Operation *, Value> sums;

  Value index(int64_t number) {
    Value &constant = constants[number];
    if (!constant) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&function.getBody().front());
      constant = b.create<arith::ConstantIndexOp>(loc, number);
    }
    return constant;
  }
  DenseMap<int64_t, Value> constants;
  DenseMap<Value, SmallVector<Value>> chunks; ///< by its first number, the numbers of a chunk

  static Key keyOf(void *what, ArrayRef<Value> numbers) {
    std::vector<void *> list;
    for (Value number : numbers)
      list.push_back(number.getAsOpaquePointer());
    return {what, std::move(list)};
  }

  void findPlace();
  Value sizeOf(GenericOp op, unsigned loop);

  // Elements.
  Value addressOf(Value buffer, ArrayRef<Value> indices);
  Value apply(AffineExpr expr, ArrayRef<Value> at);
  Numbers indicesOf(OpOperand &operand, ArrayRef<Value> at);
  Value load(OpOperand &operand, ArrayRef<Value> at);
  Value read(OpOperand &operand, ArrayRef<Value> at);
  SmallVector<Value> evaluate(GenericOp op, ArrayRef<Value> at, Value accumulator = {});

  // Rows.
  void forEachChunk(GenericOp op, SmallVectorImpl<Value> &carried,
                    function_ref<void(ArrayRef<Numbers>, Value inside, SmallVectorImpl<Value> &)> body);
  SmallVector<Numbers> chunkAt(GenericOp op, Value chunk);
  std::pair<Value, bool> chunksOf(GenericOp op);
  Value exchange(Value value, int64_t distance);
  Value combineSlices(const Combiner &combiner, Value part);
  void reduce(GenericOp op);
  void store(GenericOp op);
  bool isStored(GenericOp op, OpOperand &init) const;
};
} // namespace

/// Which row and which part of it is the thread's. Rows behind the last one are the last one, and are not stored.
void RowEmitter::findPlace() {
  thread = b.create<gpu::ThreadIdOp>(loc, gpu::Dimension::x);
  Value block = b.create<gpu::BlockIdOp>(loc, gpu::Dimension::x);
  Value divisor = index(mapping.slicesAreNeighbours ? mapping.slices : mapping.rows);
  Value low = b.createOrFold<arith::RemUIOp>(loc, thread, divisor);
  Value high = b.createOrFold<arith::DivUIOp>(loc, thread, divisor);
  slice = mapping.slicesAreNeighbours ? low : high;
  rowInBlock = mapping.slicesAreNeighbours ? high : low;
  Value row = b.createOrFold<arith::MulIOp>(loc, block, index(mapping.rows));
  row = b.createOrFold<arith::AddIOp>(loc, row, rowInBlock);
  SmallVector<Value> ends;
  Value total = index(1);
  for (OpFoldResult end : group.loop.getMixedUpperBound()) {
    std::optional<int64_t> number = getConstantIntValue(end);
    ends.push_back(number ? index(*number) : values.lookupOrDefault(cast<Value>(end)));
    total = b.createOrFold<arith::MulIOp>(loc, total, ends.back());
  }
  std::optional<int64_t> rows = getConstantIntValue(total);
  if (!rows || *rows % mapping.rows) {
    rowInside = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, row, total);
    row = b.create<arith::MinUIOp>(loc, row, b.create<arith::SubIOp>(loc, total, index(1)));
  }
  auto ivs = group.loop.getInductionVars();
  for (size_t i = ends.size(); i-- > 0;) {
    values.map(ivs[i], i ? b.createOrFold<arith::RemUIOp>(loc, row, ends[i]) : row);
    row = b.createOrFold<arith::DivUIOp>(loc, row, ends[i]);
  }
}

/// How far a loop goes.
Value RowEmitter::sizeOf(GenericOp op, unsigned loop) {
  int64_t range = op.getStaticLoopRanges()[loop];
  if (!ShapedType::isDynamic(range))
    return index(range);
  for (OpOperand &operand : op->getOpOperands())
    if (isa<MemRefType>(operand.get().getType()))
      for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (expr == b.getAffineDimExpr(loop))
          return b.createOrFold<memref::DimOp>(loc, values.lookup(operand.get()), dim);
  llvm_unreachable("every loop of a structured operation walks a dimension of an operand");
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value RowEmitter::apply(AffineExpr expr, ArrayRef<Value> at) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return at[dim.getPosition()] ? at[dim.getPosition()] : index(0);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return index(constant.getValue());
  SmallVector<Value> &result = known[keyOf(const_cast<void *>(expr.getAsOpaquePointer()), at)];
  if (result.empty()) {
    SmallVector<OpFoldResult> numbers;
    for (Value number : at)
      numbers.push_back(number ? number : index(0));
    AffineMap map = AffineMap::get(at.size(), 0, expr);
    result = {getValueOrCreateConstantIndexOp(b, loc, affine::makeComposedFoldedAffineApply(b, loc, map, numbers))};
  }
  return result[0];
}

RowEmitter::Numbers RowEmitter::indicesOf(OpOperand &operand, ArrayRef<Value> at) {
  Numbers indices;
  for (AffineExpr expr : cast<GenericOp>(operand.getOwner()).getMatchingIndexingMap(&operand).getResults())
    indices.push_back(apply(expr, at));
  return indices;
}

Value RowEmitter::load(OpOperand &operand, ArrayRef<Value> at) {
  Value buffer = values.lookupOrDefault(operand.get());
  if (!isa<MemRefType>(buffer.getType()))
    return buffer;
  Numbers indices = indicesOf(operand, at);
  SmallVector<Value> &result = known[keyOf(buffer.getAsOpaquePointer(), indices)];
  if (!result.empty())
    return result[0];
  auto chunk = indices.empty() ? chunks.end() : chunks.find(indices.back());
  if (chunk == chunks.end())
    return (result = {b.create<memref::LoadOp>(loc, buffer, indices)})[0];
  // All of the chunk at once.
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  Value vector = b.create<LLVM::LoadOp>(loc, VectorType::get(mapping.together, element), addressOf(buffer, indices),
                                        mapping.together * bytesOf(element));
  for (auto [i, number] : llvm::enumerate(chunk->second)) {
    indices.back() = number;
    Value place = b.create<LLVM::ConstantOp>(loc, b.getI32Type(), b.getI32IntegerAttr(i));
    known[keyOf(buffer.getAsOpaquePointer(), indices)] = {b.create<LLVM::ExtractElementOp>(loc, vector, place)};
  }
  return result[0];
}

/// Of an element, as !llvm.ptr.
Value RowEmitter::addressOf(Value buffer, ArrayRef<Value> indices) {
  auto metadata = b.create<memref::ExtractStridedMetadataOp>(loc, buffer);
  Value position = metadata.getOffset();
  for (auto [number, stride] : llvm::zip(indices, metadata.getStrides()))
    position = b.createOrFold<arith::AddIOp>(loc, position, b.createOrFold<arith::MulIOp>(loc, number, stride));
  position = b.create<arith::IndexCastOp>(loc, b.getI64Type(), position);
  Value base = pointerTo(b, loc, buffer, NVVM::kGlobalMemorySpace);
  return b.create<LLVM::GEPOp>(loc, base.getType(), cast<MemRefType>(buffer.getType()).getElementType(), base,
                               position);
}

/// The element of an operand, from memory or from what computes it.
Value RowEmitter::read(OpOperand &operand, ArrayRef<Value> at) {
  GenericOp writer = group.writerOf(operand);
  if (!writer)
    return load(operand, at);
  if (isReduction(writer))
    return sums.lookup(writer);
  OpOperand *init =
      llvm::find_if(writer.getDpsInitsMutable(), [&](OpOperand &init) { return init.get() == operand.get(); });
  AffineMap map = writer.getMatchingIndexingMap(init);
  Numbers indices = indicesOf(operand, at), numbers(writer.getNumLoops());
  SmallVector<int64_t> ranges = writer.getStaticLoopRanges();
  for (auto [dim, number] : llvm::enumerate(indices))
    if (unsigned loop = map.getDimPosition(dim); isWide(ranges[loop]))
      numbers[loop] = number;
  return evaluate(writer, numbers)[init->getOperandNumber() - writer.getNumDpsInputs()];
}

/// What the body yields; of a reduction, with this accumulator.
SmallVector<Value> RowEmitter::evaluate(GenericOp op, ArrayRef<Value> at, Value accumulator) {
  Key key = keyOf(op.getOperation(), at);
  if (auto found = known.find(key); found != known.end() && !accumulator)
    return found->second;
  Block *body = op.getBody();
  IRMapping inner;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (!argument.use_empty())
      inner.map(argument, op.isDpsInit(&operand) && accumulator ? accumulator : read(operand, at));
  }
  auto number = [&](linalg::IndexOp ask) { return at[ask.getDim()] ? at[ask.getDim()] : index(0); };
  auto outside = [&](Operation *copy) {
    for (OpOperand &operand : copy->getOpOperands())
      operand.set(values.lookupOrDefault(operand.get()));
  };
  for (Operation &operation : body->without_terminator()) {
    if (auto ask = dyn_cast<linalg::IndexOp>(operation)) {
      inner.map(ask.getResult(), number(ask));
      continue;
    }
    Operation *copy = b.clone(operation, inner);
    copy->walk([&](Operation *nested) { outside(nested); });
    copy->walk([&](linalg::IndexOp ask) {
      ask.replaceAllUsesWith(number(ask));
      ask.erase();
    });
  }
  SmallVector<Value> results;
  for (Value value : body->getTerminator()->getOperands())
    results.push_back(values.lookupOrDefault(inner.lookupOrDefault(value)));
  if (!accumulator)
    known[key] = results;
  return results;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// How many chunks of elements the operation's loops have; whether each is some thread's, and no thread has more.
std::pair<Value, bool> RowEmitter::chunksOf(GenericOp op) {
  Value chunks = index(1);
  for (unsigned loop : wideLoops(op))
    chunks = b.createOrFold<arith::MulIOp>(loc, chunks, sizeOf(op, loop));
  chunks = b.createOrFold<arith::DivUIOp>(loc, chunks, index(mapping.together));
  std::optional<int64_t> number = getConstantIntValue(chunks);
  return {chunks, number && *number % mapping.slices == 0};
}

/// The numbers of the loops for each element of a chunk.
SmallVector<RowEmitter::Numbers> RowEmitter::chunkAt(GenericOp op, Value chunk) {
  SmallVector<unsigned> loops = wideLoops(op);
  Numbers first(op.getNumLoops());
  Value rest = chunk;
  for (size_t i = loops.size(); i-- > 0;) {
    Value size = sizeOf(op, loops[i]);
    bool last = i + 1 == loops.size();
    if (last)
      size = b.createOrFold<arith::DivUIOp>(loc, size, index(mapping.together));
    Value number = i ? b.createOrFold<arith::RemUIOp>(loc, rest, size) : rest;
    if (i)
      rest = b.createOrFold<arith::DivUIOp>(loc, rest, size);
    first[loops[i]] = last ? b.createOrFold<arith::MulIOp>(loc, number, index(mapping.together)) : number;
  }
  SmallVector<Numbers> all;
  for (int64_t i = 0; i < mapping.together; ++i) {
    all.push_back(first);
    if (i)
      all.back()[loops.back()] = b.create<arith::AddIOp>(loc, first[loops.back()], index(i));
  }
  if (mapping.together > 1)
    for (const Numbers &numbers : all)
      chunks[first[loops.back()]].push_back(numbers[loops.back()]);
  return all;
}

/// Calls `body` for the thread's chunks of the operation's loops. What is held is computed in the same order for each
/// operation of the same sizes, so that elements that two of them need are the same values.
void RowEmitter::forEachChunk(GenericOp op, SmallVectorImpl<Value> &carried,
                              function_ref<void(ArrayRef<Numbers>, Value, SmallVectorImpl<Value> &)> body) {
  auto [chunks, whole] = chunksOf(op);
  if (!mapping.held) {
    auto loop = b.create<scf::ForOp>(loc, slice, chunks, index(mapping.slices), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Memory before = known;
    SmallVector<Value> next = llvm::to_vector(ValueRange(loop.getRegionIterArgs()));
    body(chunkAt(op, loop.getInductionVar()), {}, next);
    if (!next.empty())
      b.create<scf::YieldOp>(loc, next);
    known = std::move(before);
    carried.assign(loop.result_begin(), loop.result_end());
    return;
  }
  int64_t count = llvm::divideCeil(*getConstantIntValue(chunks), mapping.slices);
  SmallVector<Value> sizes;
  for (unsigned loop : wideLoops(op))
    sizes.push_back(sizeOf(op, loop));
  for (int64_t i = 0; i < count; ++i) {
    // The numbers of the elements, which are the same for loops of the same sizes.
    Key key = keyOf(this, sizes);
    key.second.push_back(reinterpret_cast<void *>(i));
    SmallVector<Value> &places = known[key]; // inside; then element by element the numbers of the wide loops
    SmallVector<unsigned> loops = wideLoops(op);
    if (places.empty()) {
      Value chunk = i ? b.create<arith::AddIOp>(loc, slice, index(i * mapping.slices)).getResult() : slice, inside;
      if (!whole && i + 1 == count) {
        inside = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, chunk, chunks);
        chunk = b.create<arith::MinUIOp>(loc, chunk, b.createOrFold<arith::SubIOp>(loc, chunks, index(1)));
      }
      places.push_back(inside);
      for (const Numbers &numbers : chunkAt(op, chunk))
        for (unsigned loop : loops)
          places.push_back(numbers[loop]);
    }
    SmallVector<Numbers> elements;
    for (int64_t e = 0; e < mapping.together; ++e) {
      elements.push_back(Numbers(op.getNumLoops()));
      for (auto [n, loop] : llvm::enumerate(loops))
        elements.back()[loop] = places[1 + e * loops.size() + n];
    }
    Value inside = places[0];
    body(elements, inside, carried);
  }
}

/// The value of the lane whose number differs by this bit, in words of 32 bits. (gpu.subgroup_reduce of MLIR 19 takes
/// whole subgroups and values of at most 32 bits; here a row may have a part of a warp, and elements of 64 bits.)
Value RowEmitter::exchange(Value value, int64_t distance) {
  Type type = value.getType(), i32 = b.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  Value whole = value;
  Type asInteger = b.getIntegerType(bits);
  if (!isa<IntegerType>(type))
    whole = b.create<arith::BitcastOp>(loc, asInteger, whole);
  auto constant = [&](int64_t number) { return b.create<arith::ConstantIntOp>(loc, number, 32); };
  auto swap = [&](Value word) {
    return b.create<gpu::ShuffleOp>(loc, word, constant(distance), constant(lanes), gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  if (bits == 64) {
    Value half = b.create<arith::ConstantIntOp>(loc, 32, 64);
    Value low = swap(b.create<arith::TruncIOp>(loc, i32, whole));
    Value high = swap(b.create<arith::TruncIOp>(loc, i32, b.create<arith::ShRUIOp>(loc, whole, half)));
    high = b.create<arith::ShLIOp>(loc, b.create<arith::ExtUIOp>(loc, asInteger, high), half);
    whole = b.create<arith::OrIOp>(loc, high, b.create<arith::ExtUIOp>(loc, asInteger, low));
  } else {
    whole = bits < 32 ? b.create<arith::ExtUIOp>(loc, i32, whole).getResult() : whole;
    whole = swap(whole);
    whole = bits < 32 ? b.create<arith::TruncIOp>(loc, asInteger, whole).getResult() : whole;
  }
  return isa<IntegerType>(type) ? whole : b.create<arith::BitcastOp>(loc, type, whole).getResult();
}

/// All threads of a row learn what their parts make: those of a warp from each other, warps through shared memory.
Value RowEmitter::combineSlices(const Combiner &combiner, Value part) {
  int64_t groups = mapping.slices;
  Value number = slice;
  if (mapping.slicesAreNeighbours) {
    for (int64_t distance = std::min(lanes, mapping.slices) / 2; distance > 0; distance /= 2)
      part = combiner.joinScalars(b, loc, part, exchange(part, distance));
    groups = llvm::divideCeil(mapping.slices, lanes);
    number = b.createOrFold<arith::DivUIOp>(loc, slice, index(lanes));
  }
  if (groups == 1)
    return part;
  Type type = part.getType();
  bool isBool = type.isInteger(1);
  Type stored = isBool ? Type(b.getI8Type()) : type;
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  // Each reduction has a place of its own, so nobody must wait until others have read.
  Value shared = function.addWorkgroupAttribution(
      MemRefType::get({groups, mapping.rows}, stored, MemRefLayoutAttrInterface(), space), loc);
  // Of a warp all lanes have the same.
  Value given = isBool ? b.create<arith::ExtUIOp>(loc, stored, part).getResult() : part;
  b.create<memref::StoreOp>(loc, given, shared, ValueRange{number, rowInBlock});
  b.create<gpu::BarrierOp>(loc);
  Value result;
  for (int64_t i = 0; i < groups; ++i) {
    Value value = b.create<memref::LoadOp>(loc, shared, ValueRange{index(i), rowInBlock});
    if (isBool)
      value = b.create<arith::TruncIOp>(loc, type, value);
    result = result ? combiner.joinScalars(b, loc, result, value) : value;
  }
  return result;
}

void RowEmitter::reduce(GenericOp op) {
  Combiner combiner = *matchCombiner(op);
  Value neutral = b.create<arith::ConstantOp>(loc, combiner.neutral);
  // Sums of their own for the elements of a chunk, which do not wait for each other.
  SmallVector<Value> parts(mapping.together, neutral);
  forEachChunk(op, parts, [&](ArrayRef<Numbers> elements, Value inside, SmallVectorImpl<Value> &parts) {
    for (auto [at, part] : llvm::zip(elements, parts)) {
      Value more = evaluate(op, at, part)[0];
      part = inside ? b.create<arith::SelectOp>(loc, inside, more, part).getResult() : more;
    }
  });
  Value part = parts[0];
  for (Value other : ArrayRef(parts).drop_front())
    part = combiner.joinScalars(b, loc, part, other);
  Value start = read(*op.getDpsInitOperand(0), Numbers(op.getNumLoops()));
  sums[op] = combiner.joinScalars(b, loc, start, combineSlices(combiner, part));
}

/// Whether this is what a buffer of the caller holds in the end.
bool RowEmitter::isStored(GenericOp op, OpOperand &init) const {
  if (rootOf(init.get()).getDefiningOp<memref::AllocOp>())
    return false;
  auto later = ArrayRef(group.ops).drop_while([&](GenericOp other) { return other != op; }).drop_front();
  return llvm::none_of(later, [&](GenericOp other) { return llvm::is_contained(other.getDpsInits(), init.get()); });
}

void RowEmitter::store(GenericOp op) {
  SmallVector<OpOperand *> stored;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (isStored(op, init))
      stored.push_back(&init);
  bool isWhole = isReduction(op) || wideLoops(op).empty();
  // What the thread knows of the row as a whole is computed where all later code sees it.
  SmallVector<Value> whole;
  if (isWhole)
    whole = isReduction(op) ? SmallVector<Value>{sums[op]} : evaluate(op, Numbers(op.getNumLoops()));
  if (stored.empty())
    return;
  auto put = [&](ArrayRef<Value> results, ArrayRef<Value> at) {
    for (OpOperand *init : stored)
      b.create<memref::StoreOp>(loc, results[init->getOperandNumber() - op.getNumDpsInputs()],
                                values.lookup(init->get()), indicesOf(*init, at));
  };
  auto guarded = [&](Value condition, function_ref<void()> body) {
    if (!condition)
      return body();
    auto branch = b.create<scf::IfOp>(loc, condition);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Memory before = known;
    body();
    known = std::move(before);
  };
  auto both = [&](Value x, Value y) -> Value {
    return !x ? y : !y ? x : b.create<arith::AndIOp>(loc, x, y).getResult();
  };
  if (isWhole) {
    Value first = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, slice, index(0));
    return guarded(both(mapping.slices > 1 ? first : Value(), rowInside),
                   [&] { put(whole, Numbers(op.getNumLoops())); });
  }
  auto chunk = [&](ArrayRef<Numbers> elements, Value inside, SmallVectorImpl<Value> &) {
    // All is read before anything is written, so that neighbours travel together.
    SmallVector<SmallVector<Value>> results;
    for (const Numbers &at : elements)
      results.push_back(evaluate(op, at));
    guarded(mapping.held ? both(inside, rowInside) : Value(), [&] {
      if (mapping.together == 1)
        return put(results[0], elements[0]);
      for (OpOperand *init : stored) {
        Value buffer = values.lookup(init->get());
        Type element = cast<MemRefType>(buffer.getType()).getElementType();
        Value vector = b.create<LLVM::UndefOp>(loc, VectorType::get(mapping.together, element));
        for (int32_t i = 0; i < mapping.together; ++i)
          vector =
              b.create<LLVM::InsertElementOp>(loc, vector, results[i][init->getOperandNumber() - op.getNumDpsInputs()],
                                              b.create<LLVM::ConstantOp>(loc, b.getI32Type(), b.getI32IntegerAttr(i)));
        b.create<LLVM::StoreOp>(loc, vector, addressOf(buffer, indicesOf(*init, elements[0])),
                                mapping.together * bytesOf(element));
      }
    });
  };
  SmallVector<Value> nothing;
  guarded(mapping.held ? Value() : rowInside, [&] { forEachChunk(op, nothing, chunk); });
}

void RowEmitter::emit() {
  findPlace();
  for (Operation &inner : group.loop.getBody()->without_terminator())
    if (!isa<GenericOp, memref::DeallocOp>(inner))
      b.clone(inner, values);
  for (GenericOp op : group.ops) {
    if (isReduction(op)) {
      StageEmitter::allowFusedMultiplyAdd(op);
      reduce(op);
    }
    store(op);
  }
}

void strata::emitRows(OpBuilder &b, gpu::GPUFuncOp function, RowGroup &group, const RowMapping &mapping,
                      IRMapping &values) {
  RowEmitter(b, function, group, mapping, values).emit();
}
