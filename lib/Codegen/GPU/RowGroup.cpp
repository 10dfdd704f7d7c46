//===- RowGroup.cpp - which operations share their rows on a GPU ----------===//
#include "RowGroup.h"
#include "../LinalgQueries.h"
#include "../LoopNest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace strata;
using linalg::GenericOp;

/// Lanes that exchange values without memory.
static constexpr int64_t lanes = 32;

//===----------------------------------------------------------------------===//
// Which groups
//===----------------------------------------------------------------------===//

SmallVector<unsigned> strata::wideLoops(GenericOp op) {
  SmallVector<unsigned> loops;
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (isWide(range))
      loops.push_back(loop);
  return loops;
}

bool strata::canShareRows(GenericOp op) {
  if (llvm::is_contained(op.getStaticLoopRanges(), 0))
    return false;
  if (isReduction(op) && !matchCombiner(op))
    return false;
  for (AffineMap map : op.getIndexingMapsArray())
    if (map.getNumSymbols())
      return false;
  // An element of a result says which iteration makes it.
  MutableOperandRange inits = op.getDpsInitsMutable();
  return llvm::all_of(inits, [&](OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    return isReduction(op) ? map.isProjectedPermutation(/*allowZeroInResults=*/true) : map.isPermutation();
  });
}

/// Of a reduction, one row has one result.
static bool reducesRow(GenericOp op) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  return !isReduction(op) ||
         llvm::none_of(wideLoops(op), [&](unsigned loop) { return kinds[loop] == utils::IteratorType::parallel; });
}

std::optional<RowGroup> strata::matchRowGroup(scf::ForallOp loop) {
  auto is = [](int64_t number) { return [number](int64_t value) { return value == number; }; };
  if (!llvm::all_of(loop.getStaticStep(), is(1)) || !llvm::all_of(loop.getStaticLowerBound(), is(0)) ||
      loop.getNumResults())
    return std::nullopt;
  RowGroup group;
  group.loop = loop;
  DenseMap<Value, GenericOp> written; // by buffer
  DenseMap<Value, Value> views;       // by memory that is written, what it is written through
  DenseSet<Value> read;               // memory from outside
  for (Operation &inner : loop.getBody()->without_terminator()) {
    auto op = dyn_cast<GenericOp>(inner);
    if (!op) {
      if (isa<memref::AllocOp, memref::DeallocOp, memref::SubViewOp>(inner) || isMemoryEffectFree(&inner))
        continue;
      return std::nullopt;
    }
    if (!op.hasPureBufferSemantics() || !canShareRows(op) || !reducesRow(op))
      return std::nullopt;
    for (OpOperand &operand : op->getOpOperands()) {
      bool isRead = op.payloadUsesValueFromOperand(&operand) || (op.isDpsInit(&operand) && isReduction(op));
      if (!isa<MemRefType>(operand.get().getType()) || !isRead)
        continue;
      if (GenericOp writer = written.lookup(operand.get())) {
        group.writers[&operand] = writer;
        continue;
      }
      Value root = rootOf(operand.get());
      if (root.getDefiningOp<memref::AllocOp>() || views.contains(root))
        return std::nullopt;
      read.insert(root);
    }
    for (OpOperand &init : op.getDpsInitsMutable()) {
      Value root = rootOf(init.get());
      auto [view, isNew] = views.try_emplace(root, init.get());
      // Elements may be read again at any time.
      if ((!isNew && view->second != init.get()) || read.contains(root))
        return std::nullopt;
      written[init.get()] = op;
    }
    group.ops.push_back(op);
  }
  return group;
}

//===----------------------------------------------------------------------===//
// How many threads
//===----------------------------------------------------------------------===//

static int64_t elementsOf(GenericOp op) {
  int64_t elements = 1;
  for (int64_t range : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(range))
      return ShapedType::kDynamic;
    elements *= range;
  }
  return elements;
}

/// Elements that lie in memory as in vectors of LLVM's.
static bool hasVectors(Type element) {
  return element.isF16() || element.isBF16() || element.isF32() || element.isF64() ||
         (element.isInteger() && llvm::is_contained({8, 16, 32, 64}, int(element.getIntOrFloatBitWidth())));
}

/// A number that divides the position of a buffer's first element, but for multiples of its strides. Buffers themselves
/// start at multiples of 256 bytes.
static int64_t startOf(Value buffer) {
  int64_t start = 0;
  for (;; buffer = buffer.getDefiningOp<memref::SubViewOp>().getSource()) {
    SmallVector<int64_t> strides;
    int64_t offset;
    auto view = buffer.getDefiningOp<memref::SubViewOp>();
    if (failed(getStridesAndOffset(cast<MemRefType>(buffer.getType()), strides, offset)))
      return 1;
    if (!view)
      return start | (ShapedType::isDynamic(offset) ? 1 : offset);
    // Where it starts along a row; other dimensions count in whole strides.
    std::optional<int64_t> last = getConstantIntValue(view.getMixedOffsets().back());
    start |= last ? *last : 1;
  }
}

/// Whether neighbours in memory are elements of one row in most of what is read and written; and how many of them make
/// 16 bytes where they do in all of it.
static std::pair<bool, int64_t> findNeighbours(RowGroup &group) {
  int64_t within = 0, across = 0, widest = 1, multiple = 16;
  auto orOne = [](int64_t size) { return ShapedType::isDynamic(size) ? 1 : size; };
  for (GenericOp op : group.ops) {
    SmallVector<unsigned> loops = wideLoops(op);
    multiple |= loops.empty() ? 0 : orOne(op.getStaticLoopRanges()[loops.back()]);
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      AffineMap map = op.getMatchingIndexingMap(&operand);
      bool walks = llvm::any_of(loops, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
      bool outside = !rootOf(operand.get()).getDefiningOp<memref::AllocOp>() && !group.writerOf(operand);
      if (!type || !walks || !outside)
        continue;
      SmallVector<int64_t> strides;
      int64_t offset;
      auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
      bool unit = succeeded(getStridesAndOffset(type, strides, offset)) && strides.back() == 1;
      bool inRow = unit && last && last.getPosition() == loops.back();
      ++(inRow ? within : across);
      widest = std::max(widest, bytesOf(type.getElementType()));
      multiple |= inRow && hasVectors(type.getElementType()) ? startOf(operand.get()) : 1;
      // Where the rows begin.
      for (int64_t stride : ArrayRef(strides).drop_back())
        multiple |= orOne(stride);
    }
  }
  if (within < across)
    return {false, 1};
  return {true, std::min<int64_t>(multiple & -multiple, std::max<int64_t>(1, 16 / widest))};
}

RowMapping strata::chooseRowMapping(RowGroup &group) {
  // What fits the registers of a thread, beside all else; a block of many threads has fewer of them for each.
  constexpr int64_t mostHeld = 32, fewThreads = 128, manyThreads = 256, mostThreads = 1024;
  // Threads that keep a GPU busy.
  constexpr int64_t enoughThreads = 1 << 15;
  RowMapping mapping;
  std::tie(mapping.slicesAreNeighbours, mapping.together) = findNeighbours(group);
  int64_t elements = 1, bytes = 1, rows = 1;
  for (GenericOp op : group.ops) {
    int64_t own = elementsOf(op);
    elements =
        ShapedType::isDynamic(own) || ShapedType::isDynamic(elements) ? ShapedType::kDynamic : std::max(elements, own);
    for (Value operand : op->getOperands())
      bytes = std::max(bytes, bytesOf(getElementTypeOrSelf(operand.getType())));
  }
  for (OpFoldResult end : group.loop.getMixedUpperBound())
    rows = llvm::SaturatingMultiply<uint64_t>(rows, getConstantIntValue(end).value_or(1024));
  bool known = !ShapedType::isDynamic(elements);
  int64_t chunks = llvm::divideCeil(known ? elements : 512, mapping.together);
  auto held = [&](int64_t slices) { return llvm::divideCeil(chunks, slices); };
  auto fits = [&](int64_t slices) {
    return known && held(slices) * mapping.together * std::max<int64_t>(1, bytes / 4) <=
                        (slices > manyThreads ? mostHeld / 2 : mostHeld);
  };
  // Neighbouring rows are at least a warp's.
  int64_t most = mapping.slicesAreNeighbours ? mostThreads : mostThreads / lanes;
  // Each reduction has its place in shared memory.
  constexpr int64_t sharedBytes = 48 << 10;
  while (!mapping.slicesAreNeighbours && llvm::count_if(group.ops, isReduction) * most * lanes * bytes > sharedBytes)
    most /= 2;
  int64_t slices = mapping.slicesAreNeighbours ? std::min<int64_t>(lanes, llvm::PowerOf2Ceil(chunks)) : 1;
  while (slices < most && !fits(slices) && held(slices) > 1)
    slices *= 2;
  if (!fits(slices)) // Whoever walks a row again and again needs no registers.
    slices = std::min(most, mapping.slicesAreNeighbours ? (known ? 2 * manyThreads : fewThreads) : lanes / 4);
  while (slices < most && rows * slices < enoughThreads && held(slices) > 1)
    slices *= 2;
  mapping.slices = slices;
  mapping.held = fits(slices) ? held(slices) : 0;
  mapping.rows = std::max<int64_t>(mapping.slicesAreNeighbours ? 1 : lanes, fewThreads / slices);
  return mapping;
}
