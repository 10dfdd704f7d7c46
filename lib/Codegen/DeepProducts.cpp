//===- DeepProducts.cpp - products in parts of their depth ----------------===//
//
// All tiles of rows read the same block of lanes of the weights, from the first
// row of it to the last. Of 12544 rows a block of 64 lanes is 3 MB, of windows of
// 3x3 with 512 channels 1.2 MB: read from beyond the second-level cache by every
// tile, it takes longer than the products. In parts, sums go to memory and come
// back, which is little beside it. Upstream's splitReduction makes the parts side
// by side instead, with a sum of them behind.
//
//===----------------------------------------------------------------------===//
#include "DeepProducts.h"
#include "Blocks.h"
#include "MatrixUnit.h"
#include "ProductRows.h"
#include "ProductSums.h"
#include "RegisterTile.h"

#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"

using namespace mlir;
using linalg::GenericOp;

/// Elements first .. first + count of dimension `dim` of what is padded, and perhaps in groups then, in a place of
/// their own: the part is padded. Null of anything else.
static Value sliceOfPadded(OpBuilder &b, Location loc, Value value, int64_t dim, int64_t first, int64_t count) {
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>())
    return strata::sliceExpanded(b, expand, dim, first, count,
                                 [&](Value source, int64_t dim, int64_t first, int64_t count) {
                                   return sliceOfPadded(b, loc, source, dim, first, count);
                                 });
  auto pad = value.getDefiningOp<tensor::PadOp>();
  if (!pad)
    return {};
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, value);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
  offsets[dim] = b.getIndexAttr(first);
  sizes[dim] = b.getIndexAttr(count);
  auto part = tensor::bubbleUpPadSlice(b, pad, offsets, sizes, /*generateZeroSliceGuard=*/false);
  return succeeded(part) ? part->tiledValues[0] : Value();
}

/// Whether what neighbouring rows read lies in too few lines of the first-level cache for as many as a tile would have:
/// every other pixel of 512 channels does, which are a page apart.
static bool isCrowded(GenericOp op, OpOperand *weights, OpOperand *data, unsigned lane,
                      const strata::TargetFacts &target) {
  int64_t vectors = op.getStaticLoopRanges()[lane] / std::max<int64_t>(1, target.vectorBits / 32);
  std::optional<int64_t> rows = strata::rowsOf(op, weights, data);
  int64_t fitting = strata::mostRowsInCache(target, strata::rowDistance(op, weights, data, lane));
  if (strata::isForMatrixUnit(op, data, target))
    return fitting < std::min(rows.value_or(INT64_MAX), 2 * strata::MatrixUnit::mostRows);
  auto rowsWith = [&](int64_t most) {
    return strata::chooseRegisterTile(target, rows, vectors, /*mostVectors=*/8, most).rows;
  };
  return rowsWith(fitting) < rowsWith(INT64_MAX);
}

/// The reduction dimension with most elements of those that are a dimension of both inputs, and nothing else of them:
/// of a convolution its channels.
static std::optional<unsigned> findDepth(GenericOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<unsigned> depths;
  op.getReductionDims(depths);
  std::optional<unsigned> best;
  for (unsigned depth : depths) {
    AffineExpr dim = getAffineDimExpr(depth, op.getContext());
    bool isPlain =
        !ShapedType::isDynamic(ranges[depth]) && llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
          AffineMap map = op.getMatchingIndexingMap(input);
          return map.getResultPosition(dim) &&
                 llvm::count_if(map.getResults(), [&](AffineExpr at) { return at.isFunctionOfDim(depth); }) == 1;
        });
    if (isPlain && (!best || ranges[depth] > ranges[*best]))
      best = depth;
  }
  return best;
}

SmallVector<GenericOp> strata::splitDeepProduct(GenericOp op, const TargetFacts &target,
                                                const ConstantExpressions &constants) {
  std::optional<ProductSum> sum = matchProductSum(op);
  std::optional<unsigned> found = findDepth(op), lane = getLaneOf(op, 1);
  OpOperand *data = op.getDpsInputOperand(0), *weights = op.getDpsInputOperand(1);
  auto type = dyn_cast<RankedTensorType>(weights->get().getType());
  if (!sum || !found || !lane || !sum->sum.isIntOrFloat() || !type || !type.hasStaticShape() ||
      !op.getMatchingIndexingMap(weights).isProjectedPermutation() || !constants.isConstant(weights->get()) ||
      constants.isConstant(data->get()))
    return {op};
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  AffineMap map = op.getMatchingIndexingMap(weights);
  int64_t rows = 1, terms = 1;
  for (auto [loop, kind, size] : llvm::enumerate(op.getIteratorTypesArray(), ranges)) {
    if (!map.isFunctionOfDim(loop))
      rows = ShapedType::isDynamic(size) || rows > INT32_MAX ? INT32_MAX : rows * size;
    else if (kind == utils::IteratorType::reduction)
      terms *= size;
  }
  int64_t bits = sum->elements[1].getIntOrFloatBitWidth(), width = std::max<int64_t>(1, target.vectorBits / 32);
  RegisterTile tile = chooseRegisterTile(target, std::nullopt, std::nullopt);
  // A few tiles read the weights not much more often than once; of all others the next block comes to the cache while
  // this one is used.
  int64_t depth = ranges[*found], bytes = terms * std::min(ranges[*lane], width * tile.vectors) * bits / 8;
  if (rows < 8 * tile.rows || 2 * bytes <= target.cacheBytes)
    return {op};
  int64_t parts = llvm::divideCeil(bytes, target.cacheBytes / 4), count = llvm::divideCeil(depth, parts);
  count = llvm::alignTo(count, 2 * width);
  bool close = isCrowded(op, weights, data, *lane, target);
  SmallVector<GenericOp> result;
  OpBuilder b(op);
  Value sums = op.getDpsInits()[0];
  for (int64_t first = 0; first < depth; first += count) {
    int64_t own = std::min(count, depth - first);
    auto of = [&](OpOperand *input, bool ofPadded) {
      unsigned dim = *op.getMatchingIndexingMap(input).getResultPosition(getAffineDimExpr(*found, op.getContext()));
      Value part = ofPadded ? sliceOfPadded(b, op.getLoc(), input->get(), dim, first, own) : Value();
      return part ? part : sliceOf(b, op.getLoc(), input->get(), dim, first, own);
    };
    SmallVector<Value> operands{of(data, close), of(weights, /*ofPadded=*/false), sums};
    auto part = cast<GenericOp>(clone(b, op, op->getResultTypes(), operands));
    result.push_back(part);
    sums = part->getResult(0);
  }
  op->getResult(0).replaceAllUsesWith(sums);
  op->erase();
  return result;
}
