//===- DeepProducts.cpp - products in parts of their depth ----------------===//
//
// All tiles of rows read the same block of lanes of the weights, from the first
// row of it to the last. Of 12544 rows a block of 64 lanes is 3 MB: read from
// beyond the second-level cache by every tile, it takes longer than the products.
// In parts, sums go to memory and come back, which is little beside it. Upstream's
// splitReduction makes the parts side by side instead, with a sum of them behind.
//
//===----------------------------------------------------------------------===//
#include "DeepProducts.h"
#include "ProductSums.h"
#include "RegisterTile.h"

#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using linalg::GenericOp;

/// Elements first .. first + count of the dimension of `operand` that `loop` walks.
static Value slice(OpBuilder &b, OpOperand &operand, unsigned loop, int64_t first, int64_t count) {
  auto op = cast<GenericOp>(operand.getOwner());
  Value value = operand.get();
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), strides(rank, b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), value);
  AffineExpr dim = getAffineDimExpr(loop, op.getContext());
  std::optional<unsigned> at = op.getMatchingIndexingMap(&operand).getResultPosition(dim);
  offsets[*at] = b.getIndexAttr(first);
  sizes[*at] = b.getIndexAttr(count);
  return b.create<tensor::ExtractSliceOp>(op.getLoc(), value, offsets, sizes, strides);
}

SmallVector<GenericOp> strata::splitDeepProduct(GenericOp op, const TargetFacts &target,
                                                const ConstantExpressions &constants) {
  std::optional<ProductSum> sum = matchProductSum(op);
  SmallVector<unsigned> depths;
  op.getReductionDims(depths);
  if (!sum || depths.size() != 1 || !sum->sum.isIntOrFloat() ||
      !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isProjectedPermutation(); }))
    return {op};
  OpOperand *data = op.getDpsInputOperand(0), *weights = op.getDpsInputOperand(1);
  std::optional<unsigned> lane = getLaneOf(op, 1);
  auto type = dyn_cast<RankedTensorType>(weights->get().getType());
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t depth = ranges[depths[0]];
  if (!lane || !type || type.getRank() != 2 || !type.hasStaticShape() || ShapedType::isDynamic(depth) ||
      !constants.isConstant(weights->get()) || constants.isConstant(data->get()))
    return {op};
  int64_t rows = 1;
  for (auto [loop, size] : llvm::enumerate(ranges))
    if (loop != *lane && loop != depths[0])
      rows = ShapedType::isDynamic(size) || rows > INT32_MAX ? INT32_MAX : rows * size;
  int64_t bits = sum->elements[1].getIntOrFloatBitWidth(), width = std::max<int64_t>(1, target.vectorBits / 32);
  RegisterTile tile = chooseRegisterTile(target, std::nullopt, std::nullopt);
  // A few tiles read the weights not much more often than once; of all others the next block comes to the cache while
  // this one is used.
  int64_t bytes = depth * std::min(type.getDimSize(1) * type.getDimSize(0) / depth, width * tile.vectors) * bits / 8;
  if (rows < 8 * tile.rows || 2 * bytes <= target.cacheBytes)
    return {op};
  int64_t parts = llvm::divideCeil(bytes, target.cacheBytes / 4), count = llvm::divideCeil(depth, parts);
  count = llvm::alignTo(count, 2 * width);
  SmallVector<GenericOp> result;
  OpBuilder b(op);
  Value sums = op.getDpsInits()[0];
  for (int64_t first = 0; first < depth; first += count) {
    int64_t own = std::min(count, depth - first);
    SmallVector<Value> operands{slice(b, *data, depths[0], first, own), slice(b, *weights, depths[0], first, own),
                                sums};
    auto part = cast<GenericOp>(clone(b, op, op->getResultTypes(), operands));
    result.push_back(part);
    sums = part->getResult(0);
  }
  op->getResult(0).replaceAllUsesWith(sums);
  op->erase();
  return result;
}
