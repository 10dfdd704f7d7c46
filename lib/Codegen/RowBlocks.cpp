//===- RowBlocks.cpp - how many rows of a group run at once ---------------===//
#include "Blocks.h"
#include "FusedRows.h"
#include "LinalgQueries.h"
#include "ProductSums.h"
#include "RowTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using linalg::GenericOp;
using namespace strata;

/// Rows that a product of matrices should have at once: what its tiles read of the other operand comes from the
/// second-level cache, and what is done once for a block is little beside them.
static constexpr int64_t productRows = 64;

/// Elements of so many unknown dimensions of a row, beside so many of the known ones. Rows that may be long shall be
/// many, for threads to share. Of many, the unknown dimensions are those of images, or groups of their channels: the
/// more channels, the fewer pixels.
int64_t FusedRows::usualElements(int64_t known, unsigned unknown) const {
  constexpr int64_t many = 8, leastPixels = 64;
  int64_t rows = 1;
  for (int64_t extent : extents)
    rows *= ShapedType::isDynamic(extent) ? 1 : extent;
  int64_t elements = 1;
  for (unsigned i = 0; i < unknown; ++i)
    elements *= i && rows >= many ? limits.furtherExtent : usualExtent;
  return unknown > 1 && rows >= many ? std::max(elements / std::max<int64_t>(1, known), leastPixels) : elements;
}

/// Of the tensors that members have in common, for one row; with `shared`, of those that have places of their own.
int64_t FusedRows::rowBytes(const Places *shared) const {
  llvm::SmallDenseSet<Value> seen;
  int64_t bytes = 0;
  for (auto [op, rows] : loops) {
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      bool isInit = op.isDpsInit(&operand);
      Value value = isInit ? Value(op.getTiedOpResult(&operand)) : operand.get();
      auto type = dyn_cast<RankedTensorType>(value.getType());
      bool hasRows = type && llvm::all_of(rows, [&](unsigned row) { return map.isFunctionOfDim(row); });
      auto result = dyn_cast<OpResult>(value);
      if (!hasRows || !seen.insert(value).second)
        continue;
      if (shared && result && isMember(result.getOwner()) && (shared->contains(result) || isPartOfReduction(result)))
        continue;
      int64_t known = 1;
      unsigned unknown = 0;
      for (auto [expr, size] : llvm::zip(map.getResults(), type.getShape())) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (dim && llvm::is_contained(rows, dim.getPosition()))
          continue;
        known *= ShapedType::isDynamic(size) ? 1 : size;
        unknown += ShapedType::isDynamic(size);
      }
      bytes += bytesOf(type.getElementType()) * known * usualElements(known, unknown);
    }
  }
  return bytes;
}

/// The row that lies contiguously, if one does.
std::optional<int64_t> FusedRows::contiguousRow() const {
  std::optional<int64_t> found;
  for (auto [op, rows] : loops)
    for (OpResult value : op->getResults()) {
      AffineMap map = mapOf(value);
      if (map.getNumResults() <= rows.size())
        continue;
      for (auto [number, row] : llvm::enumerate(rows))
        if (positionOf(map, row) == map.getNumResults() - 1)
          found = number;
    }
  return found;
}

/// Whether a row lies right around another one wherever that is contiguous.
bool FusedRows::isAround(int64_t outer, int64_t inner) const {
  for (auto [op, rows] : loops)
    for (OpResult value : op->getResults()) {
      AffineMap map = mapOf(value);
      std::optional<unsigned> around = positionOf(map, rows[outer]), within = positionOf(map, rows[inner]);
      if (within && *within == map.getNumResults() - 1 && (!around || *around + 1 != *within))
        return false;
    }
  return true;
}

/// One, as many as fit the cache, or all: along the row that lies contiguously, if one does, else along the last one.
/// If that is short, several of the row around it.
SmallVector<int64_t> FusedRows::blocks(const Places &shared) const {
  SmallVector<int64_t> result(extents.size(), 1);
  if (!limits.blocks)
    return result;
  std::optional<int64_t> contiguous = contiguousRow();
  int64_t blocked = contiguous.value_or(extents.size() - 1);
  int64_t ofRow = rowBytes(hasProduct && limits.sharedPlaces ? &shared : nullptr);
  int64_t fits =
      std::max<int64_t>(1, (hasProduct ? limits.productBytes : limits.blockBytes) / std::max<int64_t>(1, ofRow));
  int64_t most = hasProduct ? productRows : contiguous ? 256 : kMostRows, least = hasProduct ? 16 : contiguous ? 64 : 1;
  int64_t block = std::clamp<int64_t>(llvm::bit_floor(static_cast<uint64_t>(fits)), least, most);
  int64_t extent = extents[blocked];
  if (!ShapedType::isDynamic(extent)) {
    block = std::min(block, extent);
    // Full blocks only, if that is nearly as good; or all rows as one, where there are not many more.
    int64_t full = block;
    while (2 * full > block && extent % full != 0)
      --full;
    if (2 * full > block)
      block = full;
    else if (extent < 2 * block && extent <= fits)
      block = extent;
    else if (hasProduct)
      block = llvm::divideCeil(extent, llvm::divideCeil(extent, block));
  }
  result[blocked] = block;
  if (contiguous && block == extent && blocked > 0 && !hasProduct && isAround(blocked - 1, blocked))
    result[blocked - 1] =
        linesOfBlock(extents[blocked - 1], block * bytesOf(getElementTypeOrSelf(loops.front().first->getResult(0))),
                     limits.rowBytes / std::max<int64_t>(1, block * ofRow));
  return result;
}

/// The row whose number only the run tells where full blocks of it are a loop of their own, and what is left others of
/// few rows: if these are few, do not share a product's operands, and do not lie along vectors.
std::optional<unsigned> FusedRows::peeledRow(ArrayRef<int64_t> block) const {
  std::optional<unsigned> found;
  for (auto [row, extent, size] : llvm::enumerate(extents, block))
    if (size > 1 && size != extent) {
      // A matrix unit's tiles of a known number of rows gain most.
      bool pays = hasProduct ? llvm::any_of(members(), [](GenericOp op) { return op->hasAttr(kPaddedKeys); })
                             : size <= kMostRows && contiguousRow() != static_cast<int64_t>(row);
      bool isPeeled = pays && !found && ShapedType::isDynamic(extent);
      if (!isPeeled)
        return std::nullopt;
      found = row;
    }
  return found;
}

/// Where only the run tells how long the rows of the first reduction are: as many as blocks() would give for that
/// length. Null if they are `block` as always.
Value FusedRows::rowsThatFit(OpBuilder &b, Location loc, int64_t block) const {
  auto [seed, rows] = loops.front();
  SmallVector<int64_t> ranges = seed.getStaticLoopRanges();
  if (!limits.blocks || hasProduct || contiguousRow() || block >= kMostRows || extents.back() == block)
    return {};
  auto index = [&](int64_t number) -> Value { return b.create<arith::ConstantIndexOp>(loc, number); };
  int64_t known = 1;
  unsigned unknown = 0;
  Value length = index(1);
  for (OpOperand *input : seed.getDpsInputOperands()) {
    // Of a member, which the loop will replace, the tensor that it writes.
    auto made = dyn_cast<OpResult>(input->get());
    bool isOwn = made && isMember(made.getOwner());
    Value source = isOwn ? emptyBehind(cast<GenericOp>(made.getOwner()).getTiedOpOperand(made)->get()) : input->get();
    for (auto [i, expr] : llvm::enumerate(mapOf(*input).getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || llvm::is_contained(rows, dim.getPosition()))
        continue;
      int64_t size = std::exchange(ranges[dim.getPosition()], 1); // counted
      if (!ShapedType::isDynamic(size)) {
        known *= size;
        continue;
      }
      ++unknown;
      length = b.create<arith::MulIOp>(loc, length, b.createOrFold<tensor::DimOp>(loc, source, i));
    }
  }
  if (!unknown)
    return {};
  int64_t usual = usualElements(known, unknown);
  int64_t together = std::max<int64_t>(1, limits.blockBytes * usual / std::max<int64_t>(1, rowBytes()));
  Value fit = b.create<arith::DivUIOp>(loc, index(together), b.create<arith::MaxUIOp>(loc, length, index(1)));
  return b.create<arith::MaxUIOp>(loc, b.create<arith::MinUIOp>(loc, fit, index(kMostRows)), index(1));
}
