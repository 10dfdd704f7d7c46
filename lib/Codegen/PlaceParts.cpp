//===- PlaceParts.cpp - parts of an image are written where they belong ---===//
//
// A transposed convolution in steps of several pixels is a convolution for each
// of those pixels, and DepthToSpace behind a convolution is as many of its
// filters. Both come as channels, which a transpose spreads over the pixels:
// everything is written, read and written again. A part that has all channels of
// every other pixel is inserted there instead, and what follows it element by
// element becomes part of its kernel.
//
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Codegen/Passes.h"
#include "LinalgQueries.h"
#include "ProductSums.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

namespace strata {
#define GEN_PASS_DEF_PLACEPARTS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {
/// A dimension of the image of which a part has every `count`-th element.
struct Spread {
  int64_t dim, count;
  int64_t channels; ///< from one of its elements to the next, in those that the channels were
};

/// collapse_shape(transpose(expand_shape(source))), where the expansion is that of one dimension, `channels`.
struct SpreadImage {
  tensor::CollapseShapeOp result;
  Value source;
  int64_t channels, kept, keptStep; ///< the dimension; how many of it a part has, and which: every `keptStep`-th
  SmallVector<Spread> spreads;      ///< the last one changes fastest from part to part

  static std::optional<SpreadImage> match(tensor::CollapseShapeOp result);
  /// Where part `number` begins along each of the spreads.
  SmallVector<int64_t> placeOf(int64_t number) const {
    SmallVector<int64_t> place(spreads.size());
    for (size_t i = spreads.size(); i-- > 0; number /= spreads[i].count)
      place[i] = number % spreads[i].count;
    return place;
  }
  int64_t parts() const {
    int64_t product = 1;
    for (const Spread &spread : spreads)
      product *= spread.count;
    return product;
  }
};

/// Elements first, first + step, .. of a dimension, `count` of them.
struct Cut {
  int64_t first, step, count;
};
} // namespace

std::optional<SpreadImage> SpreadImage::match(tensor::CollapseShapeOp result) {
  auto transpose = result.getSrc().getDefiningOp<linalg::TransposeOp>();
  auto expand = transpose ? transpose.getInput().getDefiningOp<tensor::ExpandShapeOp>() : nullptr;
  if (!expand || !strata::onlyReader(transpose->getResult(0)) || !strata::onlyReader(expand))
    return std::nullopt;
  SpreadImage found{result, expand.getSrc(), -1, 0, 0, {}};
  // Of each dimension of the expansion, that of the source.
  SmallVector<int64_t> sourceOf;
  SmallVector<ReassociationIndices> groups = expand.getReassociationIndices();
  for (auto [dim, group] : llvm::enumerate(groups)) {
    sourceOf.append(group.size(), dim);
    if (group.size() == 1)
      continue;
    if (found.channels >= 0)
      return std::nullopt;
    found.channels = dim;
  }
  if (found.channels < 0)
    return std::nullopt;
  ArrayRef<int64_t> shape = expand.getResultType().getShape(), own(groups[found.channels]);
  if (ShapedType::isDynamicShape(shape.slice(own.front(), own.size())))
    return std::nullopt;
  auto stepOf = [&](int64_t dim) { return ShapedType::getNumElements(shape.slice(dim + 1, own.back() - dim)); };
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  // All dimensions of the image in their order, some with one of the channels' behind them.
  for (auto [dim, group] : llvm::enumerate(result.getReassociationIndices())) {
    int64_t first = permutation[group[0]];
    if (group.size() > 2 || sourceOf[first] != static_cast<int64_t>(dim))
      return std::nullopt;
    if (sourceOf[first] == found.channels) {
      if (group.size() > 1)
        return std::nullopt;
      found.kept = shape[first];
      found.keptStep = stepOf(first);
    } else if (group.size() == 2) {
      int64_t second = permutation[group[1]];
      if (sourceOf[second] != found.channels)
        return std::nullopt;
      found.spreads.push_back({static_cast<int64_t>(dim), shape[second], stepOf(second)});
    }
  }
  return found.spreads.size() + 1 == own.size() ? std::optional(found) : std::nullopt;
}

/// The loop of `op` that walks dimension `dim` of its result, if each operand has it as a dimension or not at all.
static std::optional<unsigned> loopOf(linalg::LinalgOp op, int64_t dim) {
  AffineMap out = op.getIndexingMapsArray().back();
  auto loop = dyn_cast<AffineDimExpr>(out.getResult(dim));
  if (!loop || op.hasIndexSemantics() ||
      op.getIteratorTypesArray()[loop.getPosition()] != utils::IteratorType::parallel)
    return std::nullopt;
  for (AffineMap map : op.getIndexingMapsArray())
    if (llvm::count_if(map.getResults(), [&](AffineExpr e) { return e.isFunctionOfDim(loop.getPosition()); }) !=
        strata::positionOf(map, loop.getPosition()).has_value())
      return std::nullopt;
  return loop.getPosition();
}

/// Whether only a cut of what `op` makes is made where nothing else is asked for.
static bool canCut(linalg::LinalgOp op, int64_t dim) {
  return op && op.hasPureTensorSemantics() && op->getNumResults() == 1 && strata::onlyReader(op->getResult(0)) &&
         loopOf(op, dim);
}

/// A cut of dimension `dim` of `value`, by what makes it or of what is there.
static Value cut(OpBuilder &b, Value value, int64_t dim, Cut part) {
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>()) {
    SmallVector<OpFoldResult> sizes = empty.getMixedSizes();
    sizes[dim] = b.getIndexAttr(part.count);
    return b.create<tensor::EmptyOp>(loc, sizes, type.getElementType());
  }
  if (auto op = value.getDefiningOp<linalg::LinalgOp>(); op && canCut(op, dim)) {
    unsigned loop = *loopOf(op, dim);
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      std::optional<unsigned> at = strata::positionOf(op.getMatchingIndexingMap(&operand), loop);
      operands.push_back(at ? cut(b, operand.get(), *at, part) : operand.get());
    }
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = part.count;
    return clone(b, op, TypeRange{type.clone(shape)}, operands)->getResult(0);
  }
  return strata::sliceOf(b, loc, value, dim, part.first, part.count, part.step);
}

/// Whether `value` is made, element by element perhaps, of the results of a convolution with filters along `dim`. One
/// that minimal filtering may compute is better off as a whole.
static bool isConvolution(Value value, int64_t dim) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !canCut(op, dim))
    return false;
  unsigned loop = *loopOf(op, dim);
  if (!op.getNumReductionLoops())
    return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      std::optional<unsigned> at = strata::positionOf(op.getMatchingIndexingMap(input), loop);
      return at && isConvolution(input->get(), *at);
    });
  std::optional<strata::ProductSum> sum = strata::matchProductSum(op);
  auto hasFilter = [&](OpOperand *input) { return op.getMatchingIndexingMap(input).isFunctionOfDim(loop); };
  bool isOfPixels = llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isProjectedPermutation(); });
  return sum && llvm::count_if(op.getDpsInputOperands(), hasFilter) == 1 &&
         (isOfPixels || !sum->elements[0].isF32() || !sum->elements[1].isF32());
}

/// The parts of the image, in the order of the channels.
static SmallVector<Value> partsOf(OpBuilder &b, const SpreadImage &image) {
  constexpr int64_t fewestChannels = 16, mostParts = 16;
  int64_t count = image.parts();
  if (image.kept < fewestChannels || count > mostParts)
    return {};
  auto concat = image.source.getDefiningOp<tensor::ConcatOp>();
  bool isJoined = concat && concat->hasOneUse() && static_cast<int64_t>(concat.getDim()) == image.channels &&
                  image.keptStep == 1 && static_cast<int64_t>(concat.getInputs().size()) == count &&
                  llvm::all_of(concat.getInputs(), [&](Value part) {
                    return cast<RankedTensorType>(part.getType()).getDimSize(image.channels) == image.kept;
                  });
  if (!isJoined && !isConvolution(image.source, image.channels))
    return {};
  SmallVector<Value> parts;
  for (int64_t number = 0; number < count; ++number) {
    int64_t first = 0;
    for (auto [spread, at] : llvm::zip(image.spreads, image.placeOf(number)))
      first += at * spread.channels;
    parts.push_back(isJoined ? concat.getInputs()[first / image.kept]
                             : cut(b, image.source, image.channels, {first, image.keptStep, image.kept}));
  }
  return parts;
}

/// What is made of each element of `whole`, by what is the same for all parts of it.
static linalg::GenericOp readerOfElements(Value whole, const SpreadImage &image) {
  linalg::GenericOp reader = strata::elementwiseReader(whole);
  if (!reader || reader->getBlock() != image.result->getBlock() || !reader.hasPureTensorSemantics() ||
      reader.hasIndexSemantics() || reader.payloadUsesValueFromOperand(reader.getDpsInitOperand(0)) ||
      !reader.getIndexingMapsArray().back().isIdentity())
    return {};
  auto isForAll = [&](OpOperand *input) {
    AffineMap map = reader.getMatchingIndexingMap(input);
    return input->get() == whole
               ? map.isIdentity()
               : llvm::none_of(image.spreads, [&](const Spread &s) { return map.isFunctionOfDim(s.dim); });
  };
  return llvm::all_of(reader.getDpsInputOperands(), isForAll) ? reader : nullptr;
}

static void place(const SpreadImage &image) {
  OpBuilder b(image.result);
  SmallVector<Value> parts = partsOf(b, image);
  if (parts.empty())
    return;
  Value whole = image.result->getResult(0);
  while (linalg::GenericOp reader = readerOfElements(whole, image)) {
    b.setInsertionPoint(reader);
    for (Value &part : parts) {
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, reader.getLoc(), part);
      Type element = getElementTypeOrSelf(reader->getResult(0).getType());
      SmallVector<Value> operands(reader->getOperands());
      std::replace(operands.begin(), operands.end(), whole, part);
      operands.back() = b.create<tensor::EmptyOp>(reader.getLoc(), sizes, element);
      part = clone(b, reader, TypeRange{operands.back().getType()}, operands)->getResult(0);
    }
    whole = reader->getResult(0);
  }
  Location loc = whole.getLoc();
  auto type = cast<RankedTensorType>(whole.getType());
  SmallVector<OpFoldResult> size = tensor::getMixedSizes(b, loc, parts.front()),
                            steps(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> all(size);
  for (const Spread &spread : image.spreads) {
    steps[spread.dim] = b.getIndexAttr(spread.count);
    all[spread.dim] =
        affine::makeComposedFoldedAffineApply(b, loc, b.getAffineSymbolExpr(0) * spread.count, {all[spread.dim]});
  }
  Value placed = b.create<tensor::EmptyOp>(loc, all, type.getElementType());
  for (auto [number, part] : llvm::enumerate(parts)) {
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
    for (auto [spread, at] : llvm::zip(image.spreads, image.placeOf(number)))
      offsets[spread.dim] = b.getIndexAttr(at);
    placed = b.create<tensor::InsertSliceOp>(loc, part, placed, offsets, size, steps);
  }
  if (placed.getType() != type)
    placed = b.create<tensor::CastOp>(loc, type, placed);
  whole.replaceAllUsesWith(placed);
}

namespace {
struct PlacePartsPass : strata::impl::PlacePartsBase<PlacePartsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // What is read once is read by what has a use.
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
    SmallVector<tensor::CollapseShapeOp> results;
    getOperation().walk([&](tensor::CollapseShapeOp op) { results.push_back(op); });
    for (tensor::CollapseShapeOp result : results)
      if (std::optional<SpreadImage> image = SpreadImage::match(result))
        place(*image);
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};
} // namespace
