//===- RowCopies.cpp - what all rows of a product read --------------------===//
#include "RowCopies.h"
#include "LinalgQueries.h"
#include "RowLoop.h"

using namespace mlir;
using namespace strata;

/// How many lanes a block of `input` has, if a copy in such blocks serves: where it is what the lanes read of a product
/// of f32 with several rows. Else the first rows of every block would read vectors that lie far apart, and copy them
/// for the others. 0: none.
static int64_t lanesOfBlocks(linalg::GenericOp op, OpOperand *input, ArrayRef<unsigned> rows, ArrayRef<int64_t> block,
                             const RowLimits &limits) {
  AffineMap map = op.getMatchingIndexingMap(input), out = op.getIndexingMapsArray().back();
  auto type = cast<RankedTensorType>(input->get().getType());
  auto lane = out.getNumResults() ? dyn_cast<AffineDimExpr>(out.getResults().back()) : nullptr;
  if (!lane || op.getNumDpsInputs() != 2 || op->getNumResults() != 1 || op.getNumReductionLoops() != 1 ||
      !type.getElementType().isF32() || !type.hasStaticShape() || llvm::is_contained(rows, lane.getPosition()) ||
      !map.isProjectedPermutation() || !map.isFunctionOfDim(lane.getPosition()))
    return 0;
  SmallVector<unsigned> reduction;
  op.getReductionDims(reduction);
  if (!map.isFunctionOfDim(reduction[0]))
    return 0;
  int64_t lanes = op.getStaticLoopRanges()[lane.getPosition()];
  for (auto [row, size] : llvm::zip(rows, block))
    if (size > 1 && !map.isFunctionOfDim(row))
      if (int64_t together = limits.packedLanes(size, lanes); together > 0 && together < lanes)
        return together;
  return 0;
}

/// Whether several blocks of rows read `input`, one after the other.
static bool isReadByMany(AffineMap map, ArrayRef<unsigned> rows, ArrayRef<int64_t> extents, ArrayRef<int64_t> block) {
  return llvm::any_of(llvm::zip(rows, extents, block), [&](auto row) {
    auto [loop, extent, size] = row;
    return size > 1 && !map.isFunctionOfDim(loop) && !ShapedType::isDynamic(extent) && extent >= 2 * size;
  });
}

/// Whether what one iteration reads stays in the cache if it is copied in the loop, where a copy of the whole would be
/// written to memory and come back from there. Blocks of rows that follow each other may share it, where threads have
/// enough else to share.
static bool isCopiedInLoop(AffineMap map, RankedTensorType type, ArrayRef<unsigned> rows, ArrayRef<int64_t> extents,
                           ArrayRef<int64_t> block, const RowLimits &limits) {
  int64_t parts = 1, bytes = bytesOf(type.getElementType());
  for (int64_t size : type.getShape())
    bytes *= usualSize(size);
  bool isShared = false, isBehind = false;
  for (auto [row, extent, size] : llvm::zip(rows, extents, block)) {
    if (!map.isFunctionOfDim(row)) {
      isShared |= ShapedType::isDynamic(extent) || extent > size;
      isBehind = true;
      continue;
    }
    if (size > 1 || isBehind)
      return false;
    bytes /= usualSize(extent);
    parts *= ShapedType::isDynamic(extent) ? 1 : extent;
  }
  return parts >= (isShared ? fewestSharedTasks : 2) && bytes <= limits.copiedBytes;
}

std::optional<RowCopy> strata::planCopy(linalg::GenericOp op, OpOperand *input, ArrayRef<unsigned> rows,
                                        ArrayRef<int64_t> extents, ArrayRef<int64_t> block, const RowLimits &limits) {
  if (!limits.packedLanes)
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(input);
  auto type = dyn_cast<RankedTensorType>(input->get().getType());
  if (!type)
    return std::nullopt;
  RowCopy copy;
  copy.inLoop = isCopiedInLoop(map, type, rows, extents, block, limits);
  // A transpose that moves elements apart, and that nobody else reads.
  auto transpose = input->get().getDefiningOp<linalg::TransposeOp>();
  if (copy.inLoop && transpose && transpose->hasOneUse() && transpose.getPermutation().back() != type.getRank() - 1)
    copy.transpose = transpose;
  if (copy.transpose || isReadByMany(map, rows, extents, block))
    copy.lanes = lanesOfBlocks(op, input, rows, block, limits);
  return copy.transpose || copy.lanes ? std::optional(copy) : std::nullopt;
}
