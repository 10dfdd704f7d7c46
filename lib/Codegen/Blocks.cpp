//===- Blocks.cpp - a dimension of a tensor in blocks ---------------------===//
#include "Blocks.h"
#include "Conversions.h"
#include "LinalgQueries.h"
#include "ProductSums.h"
#include "Transposed.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace {
/// `count` elements of dimension `dim` from `first` on.
struct Part {
  int64_t dim, first, count;
};
} // namespace

SmallVector<ReassociationIndices> strata::withNext(int64_t rank, int64_t dim) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t at = i + (i > dim);
    groups.push_back(i == dim ? ReassociationIndices{at, at + 1} : ReassociationIndices{at});
  }
  return groups;
}

Value strata::inGroups(OpBuilder &b, Location loc, Value value, int64_t dim, int64_t group, int64_t size) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, value);
  sizes.insert(sizes.begin() + dim + 1, b.getIndexAttr(group));
  if (ShapedType::isDynamic(shape[dim])) {
    AffineExpr all = b.getAffineSymbolExpr(0);
    sizes[dim] = affine::makeComposedFoldedAffineApply(b, loc, all.floorDiv(group), {sizes[dim]});
    shape.insert(shape.begin() + dim + 1, group);
    return b.create<tensor::ExpandShapeOp>(loc, type.clone(shape), value, withNext(type.getRank(), dim), sizes);
  }
  size = size ? size : llvm::alignTo(shape[dim], group);
  if (int64_t more = size - shape[dim]) {
    SmallVector<OpFoldResult> low(type.getRank(), b.getIndexAttr(0)), high = low;
    high[dim] = b.getIndexAttr(more);
    shape[dim] = size;
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type.getElementType()));
    value = b.create<tensor::PadOp>(loc, type.clone(shape), value, low, high, zero);
  }
  shape[dim] = size / group;
  shape.insert(shape.begin() + dim + 1, group);
  sizes[dim] = b.getIndexAttr(shape[dim]);
  return b.create<tensor::ExpandShapeOp>(loc, type.clone(shape), value, withNext(type.getRank(), dim), sizes);
}

Value strata::sliceOf(OpBuilder &b, Location loc, Value value, int64_t dim, int64_t first, int64_t count,
                      int64_t step) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, value);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)), strides(sizes.size(), b.getIndexAttr(1));
  offsets[dim] = b.getIndexAttr(first);
  sizes[dim] = b.getIndexAttr(count);
  strides[dim] = b.getIndexAttr(step);
  return b.create<tensor::ExtractSliceOp>(loc, value, offsets, sizes, strides);
}

Value strata::sliceExpanded(OpBuilder &b, tensor::ExpandShapeOp expand, int64_t dim, int64_t first, int64_t count,
                            function_ref<Value(Value, int64_t, int64_t, int64_t)> ofSource) {
  SmallVector<ReassociationIndices> groups = expand.getReassociationIndices();
  auto own = llvm::find_if(groups, [&](ArrayRef<int64_t> dims) { return dims.front() == dim; });
  RankedTensorType type = expand.getResultType();
  SmallVector<int64_t> shape(type.getShape());
  if (own == groups.end() || ShapedType::isDynamicShape(ArrayRef(shape).slice(dim, own->size())))
    return {};
  // Elements of the reshaped dimension in one of this one.
  int64_t inner = ShapedType::getNumElements(ArrayRef(shape).slice(dim + 1, own->size() - 1));
  Value part = ofSource(expand.getSrc(), own - groups.begin(), first * inner, count * inner);
  if (!part)
    return {};
  SmallVector<OpFoldResult> sizes = getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), b);
  sizes[dim] = b.getIndexAttr(count);
  shape[dim] = count;
  return b.create<tensor::ExpandShapeOp>(expand.getLoc(), type.clone(shape), part, groups, sizes);
}

void strata::splitLoop(linalg::GenericOp &op, unsigned loop, int64_t group) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<Value> inputs(op.getDpsInputs());
  unsigned within = kinds.size();
  OpBuilder b(op);
  for (auto [i, map] : llvm::enumerate(maps)) {
    SmallVector<AffineExpr> results(map.getResults());
    if (std::optional<unsigned> at = positionOf(map, loop)) {
      inputs[i] = inGroups(b, op.getLoc(), inputs[i], *at, group);
      results.insert(results.begin() + *at + 1, b.getAffineDimExpr(within));
    }
    map = AffineMap::get(within + 1, 0, results, op.getContext());
  }
  kinds.push_back(utils::IteratorType::reduction);
  replaceLoops(op, inputs, maps, kinds);
}

/// The part of what a conversion or a reshape made is made of a part: large weights are never there as a whole twice.
static Value slice(OpBuilder &b, Location loc, Value value, Part range) {
  auto type = cast<RankedTensorType>(value.getType());
  if (range.count == type.getDimSize(range.dim))
    return value;
  if (auto op = value.getDefiningOp<linalg::GenericOp>(); op && strata::isConversion(op)) {
    Value source = slice(b, loc, op.getDpsInputs()[0], range);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, source);
    Value empty = b.create<tensor::EmptyOp>(op.getLoc(), sizes, type.getElementType());
    return clone(b, op, empty.getType(), {source, empty})->getResult(0);
  }
  if (auto op = value.getDefiningOp<tensor::ExpandShapeOp>())
    if (Value part = strata::sliceExpanded(b, op, range.dim, range.first, range.count,
                                           [&](Value source, int64_t dim, int64_t first, int64_t count) {
                                             return slice(b, loc, source, {dim, first, count});
                                           }))
      return part;
  return strata::sliceOf(b, loc, value, range.dim, range.first, range.count);
}

/// The parts of `type` that are packed one by one. Only the last block, if it is not full, is copied more than once;
/// large weights are cut along their first dimension, so that what has been read can be given up.
static SmallVector<SmallVector<Part>> partsOf(RankedTensorType type, int64_t dim, int64_t block) {
  constexpr int64_t partBytes = 32 << 20;
  auto cut = [](int64_t dim, int64_t first, int64_t end, int64_t step) {
    SmallVector<Part> parts;
    for (; first < end; first += step)
      parts.push_back({dim, first, std::min(step, end - first)});
    return parts;
  };
  int64_t size = type.getDimSize(dim), full = size - size % block, rows = type.getDimSize(0);
  Type element = type.getElementType();
  int64_t bytes =
      type.getNumElements() * (element.isIntOrFloat() ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) : 8);
  int64_t step = bytes < 2 * partBytes ? rows : std::max<int64_t>(1, partBytes / (bytes / rows));
  SmallVector<Part> lanes = cut(dim, 0, full, dim == 0 ? std::max(block, step - step % block) : full);
  llvm::append_range(lanes, cut(dim, full, size, block));
  SmallVector<SmallVector<Part>> parts;
  for (Part rowsOfPart : dim == 0 ? SmallVector<Part>{{0, 0, rows}} : cut(0, 0, rows, step))
    for (Part lanesOfPart : lanes)
      parts.push_back(dim == 0 ? SmallVector<Part>{lanesOfPart} : SmallVector<Part>{rowsOfPart, lanesOfPart});
  return parts;
}

Value strata::inBlocks(OpBuilder &b, Location loc, Value value, int64_t dim, int64_t block, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<SmallVector<Part>> parts;
  if (type.hasStaticShape())
    parts = partsOf(type, dim, block);
  if (parts.size() < 2)
    return transposed(b, loc, inGroups(b, loc, value, dim, block), order);
  SmallVector<int64_t> packed(type.getShape());
  packed[dim] = llvm::divideCeil(packed[dim], block);
  packed.insert(packed.begin() + dim + 1, block);
  applyPermutationToVector(packed, order);
  Value result = b.create<tensor::EmptyOp>(loc, packed, type.getElementType());
  for (ArrayRef<Part> part : parts) {
    // Each part is written where it belongs.
    SmallVector<OpFoldResult> offsets(packed.size(), b.getIndexAttr(0)), strides(packed.size(), b.getIndexAttr(1));
    Value source = value;
    for (Part range : part) {
      source = slice(b, loc, source, range);
      bool isLanes = range.dim == dim;
      int64_t to = llvm::find(order, range.dim + (range.dim > dim)) - order.begin();
      offsets[to] = b.getIndexAttr(isLanes ? range.first / block : range.first);
    }
    source = inGroups(b, loc, source, dim, block);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, source);
    applyPermutationToVector(sizes, order);
    Value place = b.create<tensor::ExtractSliceOp>(loc, result, offsets, sizes, strides);
    Value moved = b.create<linalg::TransposeOp>(loc, source, place, order).getResult()[0];
    result = b.create<tensor::InsertSliceOp>(loc, moved, result, offsets, sizes, strides);
  }
  return result;
}

std::pair<Value, AffineMap> strata::copyInBlocks(OpBuilder &b, linalg::GenericOp op, OpOperand *input, Value value,
                                                 int64_t block) {
  AffineMap map = op.getMatchingIndexingMap(input), out = op.getIndexingMapsArray().back();
  // A copy may as well be of what was transposed for the lanes.
  if (auto transpose = value.getDefiningOp<linalg::TransposeOp>()) {
    map = mapBehind(transpose, map);
    value = transpose.getInput();
  }
  SmallVector<unsigned> reduction;
  op.getReductionDims(reduction);
  unsigned lane = cast<AffineDimExpr>(out.getResults().back()).getPosition();
  unsigned lanes = *positionOf(map, lane), depth = *positionOf(map, reduction[0]);
  AffineExpr d = getAffineDimExpr(lane, op.getContext());
  SmallVector<AffineExpr> exprs(map.getResults());
  exprs[lanes] = d % block;
  exprs.insert(exprs.begin() + lanes, d.floorDiv(block));
  depth += depth > lanes;
  SmallVector<int64_t> order;
  for (unsigned i = 0; i < exprs.size(); ++i)
    if (i != depth && i != lanes + 1)
      order.push_back(i);
  order.append({depth, lanes + 1});
  applyPermutationToVector(exprs, order);
  return {inBlocks(b, op.getLoc(), value, lanes, block, order),
          AffineMap::get(map.getNumDims(), 0, exprs, op.getContext())};
}

int64_t strata::linesOfBlock(int64_t lines, int64_t bytes, int64_t fits) {
  constexpr int64_t enoughBytes = 1024, mostOfUnknown = 16;
  if (lines == 0 || bytes == 0)
    return 1;
  int64_t least = std::clamp<int64_t>(llvm::divideCeil(enoughBytes, bytes), 1, std::max<int64_t>(1, fits));
  if (ShapedType::isDynamic(lines))
    return std::min<int64_t>(least, mostOfUnknown);
  least = std::min(least, lines);
  for (int64_t full = least; full < 2 * least; ++full)
    if (lines % full == 0)
      return full;
  return least;
}
