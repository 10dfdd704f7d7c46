//===- AttentionParts.cpp - keys of one query among several blocks --------===//
#include "AttentionParts.h"
#include "Integers.h"
#include "SharedTile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace strata;

// Four warps for each of about 128 multiprocessors: one for each of their schedulers.
static constexpr int64_t wantedWarps = 512;
// A part's keys take longer to read than what it leaves does to write and to read again.
static constexpr int64_t leastKeys = 64;
// One block walks fewer in the time in which a second kernel starts.
static constexpr int64_t worthwhileKeys = 512;
static constexpr int64_t mostParts = 128;

static int64_t warpsOf(const AttentionTile &tile) { return std::max<int64_t>(1, tile.threads() / 32); }

int64_t strata::chooseKeyParts(const Attention &a, const AttentionTile &tile) {
  SmallVector<int64_t> ranges = linalg::GenericOp(a.scores).getStaticLoopRanges();
  int64_t rows = 1, blocks = 1;
  for (int loop : a.rows)
    rows = llvm::SaturatingMultiply<uint64_t>(rows, ranges[loop]);
  // Any number of queries is a prompt's more often than the next token's.
  if (llvm::any_of(a.rows, [&](int loop) { return ShapedType::isDynamic(ranges[loop]); }))
    return 1;
  blocks = llvm::divideCeil(rows, tile.rows);
  for (int loop : a.batch)
    blocks = llvm::SaturatingMultiply<uint64_t>(blocks, ShapedType::isDynamic(ranges[loop]) ? 1 : ranges[loop]);
  int64_t keys = ranges[a.key], parts = wantedWarps / std::max<int64_t>(1, blocks) / warpsOf(tile);
  parts = std::clamp<int64_t>(parts, 1, mostParts);
  if (ShapedType::isDynamic(keys))
    return parts;
  if (keys < worthwhileKeys)
    return 1;
  int64_t length = std::max<int64_t>(leastKeys, llvm::divideCeil(keys, parts));
  return llvm::divideCeil(keys, llvm::alignTo(length, tile.keys));
}

KeyParts strata::divideKeys(OpBuilder &b, Location loc, const AttentionTile &tile, Value blocks, Value keys) {
  auto number = [&](int64_t value) { return b.createOrFold<arith::ConstantIndexOp>(loc, value); };
  Value one = number(1), tileKeys = number(tile.keys);
  auto clamp = [&](Value value, Value least) { return b.createOrFold<arith::MaxUIOp>(loc, value, least); };
  // More blocks than was known want fewer parts.
  Value parts = b.createOrFold<arith::DivUIOp>(loc, number(wantedWarps / warpsOf(tile)), clamp(blocks, one));
  parts = clamp(b.createOrFold<arith::MinUIOp>(loc, parts, number(tile.parts)), one);
  Value length = clamp(b.createOrFold<arith::CeilDivUIOp>(loc, keys, parts), number(leastKeys));
  length = b.createOrFold<arith::CeilDivUIOp>(loc, length, tileKeys);
  length = b.createOrFold<arith::MulIOp>(loc, length, tileKeys);
  return {clamp(b.createOrFold<arith::CeilDivUIOp>(loc, keys, length), one), length};
}

/// Writes as many neighbouring numbers at once as there are.
static void storeTogether(OpBuilder &b, Location loc, Value buffer, ArrayRef<Value> at, ArrayRef<Value> values) {
  Integers index{b, loc, b.getIndexType()}, i32{b, loc, b.getI32Type()};
  auto type = cast<MemRefType>(buffer.getType());
  Value position = at[0];
  for (int64_t dim = 1; dim < type.getRank(); ++dim) {
    position = index.mul(position, type.getDimSize(dim));
    if (dim < static_cast<int64_t>(at.size()))
      position = index.add(position, at[dim]);
  }
  Value base = pointerTo(b, loc, buffer, NVVM::kGlobalMemorySpace);
  Value offset = b.create<arith::IndexCastOp>(loc, b.getI64Type(), position);
  Value to = b.create<LLVM::GEPOp>(loc, base.getType(), b.getF32Type(), base, offset);
  Value all = values[0];
  if (values.size() > 1) {
    all = b.create<LLVM::UndefOp>(loc, VectorType::get(values.size(), b.getF32Type()));
    for (auto [i, value] : llvm::enumerate(values))
      all = b.create<LLVM::InsertElementOp>(loc, all, value, i32.number(i));
  }
  b.create<LLVM::StoreOp>(loc, all, to, values.size() * 4);
}

void PartBuffers::storeSums(OpBuilder &b, Location loc, ArrayRef<Value> at, ArrayRef<Value> values) const {
  storeTogether(b, loc, sums, at, values);
}

void PartBuffers::storeMarks(OpBuilder &b, Location loc, ArrayRef<Value> at, Value maximum, Value total) const {
  storeTogether(b, loc, marks, at, {maximum, total});
}
