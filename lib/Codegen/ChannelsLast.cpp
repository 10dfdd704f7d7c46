//===- ChannelsLast.cpp - channels become the contiguous dimension --------===//
//
// Convolutions and pools over N, C, spatial tensors compute on N, spatial, C;
// the transposes around them sink through what follows until they meet the next
// one and vanish.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "Codegen/Target.h"
#include "ConstantExpressions.h"
#include "LinalgQueries.h"
#include "PixelProducts.h"
#include "ProductSums.h"
#include "SinkThroughGather.h"
#include "Transposed.h"
#include "UnknownReshapes.h"
#include "WinogradCost.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace strata {
#define GEN_PASS_DEF_CHANNELSLAST
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using strata::positionOf;
using strata::transposeBefore;
using strata::transposed;

/// What a sum of a window reads: an expression of a parallel and a reduction
/// dimension; gives the parallel one.
static std::optional<unsigned> windowDim(AffineExpr expr, ArrayRef<utils::IteratorType> kinds) {
  if (!isa<AffineBinaryOpExpr>(expr))
    return std::nullopt;
  std::optional<unsigned> parallel;
  expr.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      if (kinds[dim.getPosition()] == utils::IteratorType::parallel)
        parallel = dim.getPosition();
  });
  return parallel;
}

/// The input that is read in windows, if there is exactly one.
static std::optional<unsigned> windowedInput(linalg::GenericOp op) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  std::optional<unsigned> data;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (llvm::none_of(map.getResults(), [&](AffineExpr expr) { return windowDim(expr, kinds).has_value(); }))
      continue;
    if (data)
      return std::nullopt;
    data = input->getOperandNumber();
  }
  return data;
}

/// What a step of loop `dim` adds to a window's position.
static int64_t strideOf(AffineExpr window, unsigned dim, unsigned dims) {
  SmallVector<AffineExpr> at(dims, getAffineConstantExpr(0, window.getContext()));
  at[dim] = getAffineConstantExpr(1, window.getContext());
  auto sum = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(window.replaceDims(at), dims, 0));
  return sum ? sum.getValue() : 0;
}

/// Whether vectors along the rows of an image serve windows of single channels: otherwise it is transposed twice, while
/// at the end of a row vectors get narrower.
static bool isFastAlongRows(linalg::GenericOp op, unsigned data, const strata::TargetFacts &target) {
  int64_t lanes = target.vectorBits / 32;
  // What the transposes cost, in elements of a window: about five operations of vectors for each element.
  int64_t transposes = 5 * lanes;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(data));
  int64_t elements = 1;
  for (auto [dim, kind] : llvm::enumerate(kinds)) {
    if (kind == utils::IteratorType::parallel)
      continue;
    if (ShapedType::isDynamic(ranges[dim]) || positionOf(map, dim))
      return false;
    elements *= ranges[dim];
  }
  AffineExpr last = map.getResults().back();
  std::optional<unsigned> row = windowDim(last, kinds);
  if (!row || ranges[*row] == 0)
    return false;
  // What lies some steps apart is read with what is between.
  int64_t steps = strideOf(last, *row, kinds.size());
  if (steps < 1 || steps > strata::kMostApart)
    return false;
  int64_t columns = ranges[*row];
  if (ShapedType::isDynamic(columns)) { // what is left of them takes longer, and they are padded as a whole
    int64_t channels = cast<ShapedType>(op.getDpsInputs()[data].getType()).getDimSize(1);
    columns = strata::usualSide(ShapedType::isDynamic(channels) ? 1 : channels) / 2;
  }
  int64_t vectors = columns / lanes + llvm::popcount<uint64_t>(columns % lanes);
  return steps * elements * vectors * lanes < (elements + transposes) * columns;
}

static bool isElementwise(linalg::GenericOp op) { return op.getNumParallelLoops() == op.getNumLoops(); }

namespace {

/// Moves the channels of a windowed operation to the end.
struct MoveChannels : OpRewritePattern<linalg::GenericOp> {
  /// Windows of one pixel move always, or only where their data was moved.
  MoveChannels(MLIRContext *context, bool movesPixels, const strata::TargetFacts &target)
      : OpRewritePattern(context), movesPixels(movesPixels), target(target) {}

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1)
      return failure();
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineMap out = maps.back();
    if (!out.isProjectedPermutation() || out.getNumResults() < 3)
      return failure();
    int data = -1;
    llvm::SmallDenseSet<unsigned> spatial;
    for (auto [i, map] : llvm::enumerate(ArrayRef(maps).drop_back())) {
      bool windowed = false;
      for (AffineExpr expr : map.getResults())
        if (std::optional<unsigned> dim = windowDim(expr, kinds)) {
          spatial.insert(*dim);
          windowed = true;
        }
      if (windowed && data >= 0)
        return failure();
      if (windowed)
        data = i;
    }
    if (data < 0 || !spatial.contains(out.getDimPosition(out.getNumResults() - 1)))
      return failure();
    // Transposes only for its sake would cost more than they save.
    bool isMoved = op.getDpsInputs()[data].getDefiningOp<linalg::TransposeOp>();
    if (!movesPixels && !isMoved && strata::isPixelProduct(op, data, target))
      return failure();
    // The batch is the first dimension, unless the filter has it, too.
    unsigned first = out.getDimPosition(0);
    bool batch = !spatial.contains(first);
    for (auto [i, map] : llvm::enumerate(ArrayRef(maps).drop_back()))
      if (static_cast<int>(i) != data && map.isFunctionOfDim(first))
        batch = false;
    auto order = [&](AffineMap map) {
      SmallVector<int64_t> head, middle, tail;
      for (auto [i, expr] : llvm::enumerate(map.getResults())) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (windowDim(expr, kinds) || (dim && spatial.contains(dim.getPosition())))
          middle.push_back(i);
        else if (dim && batch && dim.getPosition() == first)
          head.push_back(i);
        else
          tail.push_back(i);
      }
      head.append(middle);
      head.append(tail);
      return head;
    };
    SmallVector<int64_t> dataOrder = order(maps[data]), outOrder = order(out);
    Location loc = op.getLoc();
    auto reorder = [&](AffineMap map, ArrayRef<int64_t> permutation) {
      SmallVector<AffineExpr> results(map.getResults());
      applyPermutationToVector(results, permutation);
      return AffineMap::get(map.getNumDims(), 0, results, getContext());
    };
    maps[data] = reorder(maps[data], dataOrder);
    maps.back() = reorder(out, outOrder);
    SmallVector<Value> inputs(op.getDpsInputs());
    inputs[data] = transposed(rewriter, loc, inputs[data], dataOrder);
    Value init = transposed(rewriter, loc, op.getDpsInits()[0], outOrder);
    auto moved = rewriter.create<linalg::GenericOp>(loc, init.getType(), inputs, init, maps, kinds);
    rewriter.inlineRegionBefore(op.getRegion(), moved.getRegion(), moved.getRegion().begin());
    rewriter.replaceOp(op, transposed(rewriter, loc, moved.getResult(0), invertPermutationVector(outOrder)));
    return success();
  }

private:
  bool movesPixels;
  strata::TargetFacts target;
};

/// transpose(transpose(x)) and transposes of what is the same everywhere.
struct ComposeTransposes : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    ArrayRef<int64_t> permutation = op.getPermutation();
    Location loc = op.getLoc();
    if (isIdentityPermutation(permutation)) {
      rewriter.replaceOp(op, op.getInput());
      return success();
    }
    Operation *source = op.getInput().getDefiningOp();
    if (auto fill = dyn_cast_or_null<linalg::FillOp>(source)) {
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, op.getInit());
      Value empty = rewriter.create<tensor::EmptyOp>(loc, sizes, getElementTypeOrSelf(op.getInit().getType()));
      rewriter.replaceOpWithNewOp<linalg::FillOp>(op, fill.getInputs(), empty);
      return success();
    }
    if (isa_and_nonnull<tensor::EmptyOp>(source)) {
      rewriter.replaceOp(op, op.getInit());
      return success();
    }
    if (auto inner = dyn_cast_or_null<linalg::TransposeOp>(source)) {
      SmallVector<int64_t> composed;
      for (int64_t i : permutation)
        composed.push_back(inner.getPermutation()[i]);
      rewriter.replaceOp(op, transposed(rewriter, loc, inner.getInput(), composed));
      return success();
    }
    return failure();
  }
};

/// Whether a value comes from sums of products, as near as it matters, and so has the order that these gave it.
static bool isMadeByProducts(Value value) {
  constexpr size_t few = 16;
  llvm::SetVector<Value> seen;
  seen.insert(value);
  for (size_t i = 0; i < seen.size() && seen.size() <= few; ++i) {
    Operation *maker = seen[i].getDefiningOp();
    auto generic = dyn_cast_or_null<linalg::GenericOp>(maker);
    if (generic && strata::matchProductSum(generic))
      return true;
    SmallVector<Value> sources;
    if (generic)
      sources = generic.getDpsInputs();
    else if (isa_and_nonnull<linalg::TransposeOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(maker))
      sources = {maker->getOperand(0)};
    seen.insert(sources.begin(), sources.end());
  }
  return false;
}

/// generic(transpose(x)): the indexing map reads x. An elementwise operation, or a
/// reduction of x alone, then writes in x's order, and the transpose goes behind it.
/// That of a constant stays if other inputs are none: it costs nothing, and what is computed has its own order. So does
/// that of what is added to products in theirs, such as a bias that is looked up.
struct SinkThroughGeneric : OpRewritePattern<linalg::GenericOp> {
  SinkThroughGeneric(MLIRContext *context, int64_t lanes) : OpRewritePattern(context), lanes(lanes) {}

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    bool elementwise = isElementwise(op);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (AffineMap map : maps)
      if (llvm::any_of(map.getResults(), [](AffineExpr e) { return isa<AffineBinaryOpExpr>(e); }))
        return failure();
    if (!elementwise && isProduct(op))
      return failure();
    SmallVector<Value> inputs(op.getDpsInputs());
    std::optional<AffineMap> leader;
    bool changed = false;
    // `read`: how the input is read without its transpose.
    auto follows = [&](Value input, AffineMap read) {
      auto isProductInOtherOrder = [&](OpOperand *other) {
        AffineMap map = op.getMatchingIndexingMap(other);
        return map != read && map.isPermutation() && !transposeBefore(op, other->get()) &&
               isMadeByProducts(other->get());
      };
      return (strata::isMadeOfConstants(input) && !llvm::all_of(inputs, strata::isMadeOfConstants)) ||
             (elementwise && llvm::any_of(op.getDpsInputOperands(), isProductInOtherOrder) && !isMadeByProducts(input));
    };
    for (auto [i, input] : llvm::enumerate(inputs)) {
      auto transpose = transposeBefore(op, input);
      if (!transpose)
        continue;
      AffineMap read = strata::mapBehind(transpose, maps[i]);
      if (follows(transpose.getInput(), read))
        continue;
      maps[i] = read;
      input = transpose.getInput();
      changed = true;
      if (!leader && (maps[i].isPermutation() || (elementwise && interleaves(op, maps[i]))))
        leader = maps[i];
    }
    if (!changed)
      return failure();
    Location loc = op.getLoc();
    SmallVector<Value> inits(op.getDpsInits());
    SmallVector<SmallVector<int64_t>> back;
    if (leader)
      for (auto [o, init] : llvm::enumerate(inits)) {
        AffineMap &map = maps[inputs.size() + o];
        SmallVector<int64_t> order = orderOf(*leader, map);
        if (order.size() != map.getNumResults()) {
          back.push_back({});
          continue;
        }
        init = transposed(rewriter, loc, init, order);
        map = AffineMap::get(map.getNumDims(), 0, applyPermutation(map.getResults(), order), getContext());
        back.push_back(invertPermutationVector(order));
      }
    auto moved = rewriter.create<linalg::GenericOp>(loc, ValueRange(inits).getTypes(), inputs, inits, maps,
                                                    op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getRegion(), moved.getRegion(), moved.getRegion().begin());
    // Loops in the order of the first result: what reads it finds an identity.
    SmallVector<Value> results(moved.getResults());
    for (auto [o, permutation] : llvm::enumerate(back))
      if (!permutation.empty())
        results[o] = transposed(rewriter, loc, results[o], permutation);
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  /// A contraction: which operand may be read how is decided elsewhere.
  static bool isProduct(linalg::GenericOp op) { return op.getNumDpsInputs() > 1; }

  /// Elements are repeated one by one, as a larger image has them channel by channel; with the channels last they are
  /// repeated in whole vectors.
  bool interleaves(linalg::GenericOp op, AffineMap read) const {
    AffineMap result = op.getIndexingMapsArray().back();
    std::optional<unsigned> channels = strata::innermost(read), last = strata::innermost(result);
    return op->getNumResults() == 1 && result.isPermutation() && channels && last && !read.isFunctionOfDim(*last) &&
           read.isProjectedPermutation(/*allowZeroInResults=*/true) && op.getStaticLoopRanges()[*channels] >= lanes &&
           !strata::isReturned(op->getResult(0));
  }

  /// The result's dimensions in the order in which the source has them, each with those behind it that repeat it.
  static SmallVector<int64_t> orderOf(AffineMap source, AffineMap result) {
    SmallVector<int64_t> order;
    for (AffineExpr expr : source.getResults())
      if (std::optional<unsigned> position = result.getResultPosition(expr); position && isa<AffineDimExpr>(expr)) {
        order.push_back(*position);
        for (unsigned next = *position + 1;
             next < result.getNumResults() && !source.isFunctionOfDim(result.getDimPosition(next)); ++next)
          order.push_back(next);
      }
    return order;
  }

  int64_t lanes;
};

/// A product of f32 between two transposes: what lies contiguously in its data, and shall in what reads its result, are
/// channels that the other operand knows nothing of. They become the last dimension of the result, and both transposes
/// vanish.
struct MoveThroughProduct : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    std::optional<strata::ProductSum> product = strata::matchProductSum(op);
    if (!product || !op.hasPureTensorSemantics() || !product->elements[0].isF32() || !product->elements[1].isF32())
      return failure();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (unsigned data : {0u, 1u}) {
      auto transpose = transposeBefore(op, op.getDpsInputs()[data]);
      if (!transpose || !strata::getLaneOf(op, 1 - data))
        continue;
      AffineMap source = strata::mapBehind(transpose, maps[data]);
      auto channels = dyn_cast<AffineDimExpr>(source.getResults().back());
      std::optional<unsigned> position = channels ? maps[2].getResultPosition(channels) : std::optional<unsigned>();
      if (!position || maps[1 - data].isFunctionOfDim(channels.getPosition()) || !comesLast(op.getResult(0), *position))
        continue;
      auto order = llvm::to_vector(llvm::seq<int64_t>(0, maps[2].getNumResults()));
      std::rotate(order.begin() + *position, order.begin() + *position + 1, order.end());
      SmallVector<AffineExpr> results(maps[2].getResults());
      applyPermutationToVector(results, order);
      maps[data] = source;
      maps[2] = AffineMap::get(maps[2].getNumDims(), 0, results, getContext());
      SmallVector<Value> inputs(op.getDpsInputs());
      inputs[data] = transpose.getInput();
      Location loc = op.getLoc();
      Value init = transposed(rewriter, loc, op.getDpsInits()[0], order);
      auto moved =
          rewriter.create<linalg::GenericOp>(loc, init.getType(), inputs, init, maps, op.getIteratorTypesArray());
      rewriter.inlineRegionBefore(op.getRegion(), moved.getRegion(), moved.getRegion().begin());
      rewriter.replaceOp(op, transposed(rewriter, loc, moved.getResult(0), invertPermutationVector(order)));
      return success();
    }
    return failure();
  }

private:
  /// Whether all that is done with a value, element by element, is to transpose it so that this dimension is the last.
  static bool comesLast(Value value, unsigned dim) {
    while (OpOperand *use = strata::onlyReader(value)) {
      if (auto transpose = dyn_cast<linalg::TransposeOp>(use->getOwner()))
        return transpose.getPermutation().back() == dim;
      if (auto pad = dyn_cast<tensor::PadOp>(use->getOwner())) {
        value = pad;
        continue;
      }
      auto op = dyn_cast<linalg::GenericOp>(use->getOwner());
      if (!op || !isElementwise(op) || op->getNumResults() != 1)
        return false;
      AffineExpr loop = op.getMatchingIndexingMap(use).getResult(dim);
      std::optional<unsigned> position = op.getIndexingMapsArray().back().getResultPosition(loop);
      if (!position)
        return false;
      dim = *position;
      value = op->getResult(0);
    }
    return false;
  }
};

struct SinkThroughPad : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp op, PatternRewriter &rewriter) const override {
    auto transpose = transposeBefore(op, op.getSource());
    Value padding = op.getConstantPaddingValue();
    if (!transpose || !padding)
      return failure();
    if (padding.getDefiningOp() && op->isAncestor(padding.getDefiningOp()))
      rewriter.moveOpBefore(padding.getDefiningOp(), op);
    SmallVector<int64_t> back = invertPermutationVector(transpose.getPermutation());
    SmallVector<OpFoldResult> low = op.getMixedLowPad(), high = op.getMixedHighPad();
    applyPermutationToVector(low, back);
    applyPermutationToVector(high, back);
    SmallVector<int64_t> shape(op.getResultType().getShape());
    applyPermutationToVector(shape, back);
    Value padded = rewriter.create<tensor::PadOp>(op.getLoc(), op.getResultType().clone(shape), transpose.getInput(),
                                                  low, high, padding);
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), padded, transpose.getPermutation()));
    return success();
  }
};

struct SinkThroughSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, PatternRewriter &rewriter) const override {
    auto transpose = transposeBefore(op, op.getSource());
    if (!transpose || op.getType().getRank() != op.getSourceType().getRank())
      return failure();
    SmallVector<int64_t> back = invertPermutationVector(transpose.getPermutation());
    Value slice = rewriter.create<tensor::ExtractSliceOp>(
        op.getLoc(), transpose.getInput(), applyPermutation(op.getMixedOffsets(), back),
        applyPermutation(op.getMixedSizes(), back), applyPermutation(op.getMixedStrides(), back));
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), slice, transpose.getPermutation()));
    return success();
  }
};

/// A part of what nothing is in yet, or of what is transposed, as is what a Pad with elements of the data is made of.
struct SinkThroughInsert : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::InsertSliceOp op, PatternRewriter &rewriter) const override {
    auto source = transposeBefore(op, op.getSource()), dest = transposeBefore(op, op.getDest());
    auto leader = dest ? dest : source;
    if (!leader || (!dest && !op.getDest().getDefiningOp<tensor::EmptyOp>()) ||
        op.getSourceType().getRank() != op.getType().getRank())
      return failure();
    SmallVector<int64_t> back = invertPermutationVector(leader.getPermutation());
    auto moved = [&](Value value, linalg::TransposeOp transpose) {
      bool isAlike = transpose && transpose.getPermutation() == leader.getPermutation();
      return isAlike ? transpose.getInput() : transposed(rewriter, op.getLoc(), value, back);
    };
    Value part = moved(op.getSource(), source), whole;
    if (dest)
      whole = dest.getInput();
    else {
      SmallVector<OpFoldResult> room = tensor::getMixedSizes(rewriter, op.getLoc(), op.getDest());
      applyPermutationToVector(room, back);
      whole = rewriter.create<tensor::EmptyOp>(op.getLoc(), room, op.getType().getElementType());
    }
    Value inserted = rewriter.create<tensor::InsertSliceOp>(
        op.getLoc(), part, whole, applyPermutation(op.getMixedOffsets(), back),
        applyPermutation(op.getMixedSizes(), back), applyPermutation(op.getMixedStrides(), back));
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), inserted, leader.getPermutation()));
    return success();
  }
};

/// All parts transposed in the same way (or never written elsewhere).
struct SinkThroughConcat : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> permutation;
    SmallVector<Value> parts;
    for (Value part : op.getInputs()) {
      auto transpose = transposeBefore(op, part);
      if (!transpose || (!permutation.empty() && permutation != transpose.getPermutation()))
        return failure();
      permutation = transpose.getPermutation();
      parts.push_back(transpose.getInput());
    }
    Value joined = rewriter.create<tensor::ConcatOp>(op.getLoc(), permutation[op.getDim()], parts);
    Value result = transposed(rewriter, op.getLoc(), joined, permutation);
    if (result.getType() != op.getType())
      result = rewriter.create<tensor::CastOp>(op.getLoc(), op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Joined dimensions are moved beside the last of them in the source (if they are not there already), and the order of
/// the joined ones becomes a transpose behind.
struct SinkThroughCollapse : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = transposeBefore(op, op.getSrc());
    SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
    if (!transpose || groups.empty())
      return failure();
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    SmallVector<int64_t> from = llvm::to_vector(llvm::seq<int64_t>(0, groups.size()));
    auto lastOf = [&](int64_t group) {
      int64_t last = 0;
      for (int64_t dim : groups[group])
        last = std::max(last, permutation[dim]);
      return last;
    };
    llvm::sort(from, [&](int64_t a, int64_t b) { return lastOf(a) < lastOf(b); });
    if (isIdentityPermutation(from))
      return failure();
    SmallVector<ReassociationIndices> joined;
    SmallVector<int64_t> within;
    for (int64_t group : from) {
      joined.emplace_back();
      for (int64_t dim : groups[group]) {
        joined.back().push_back(within.size());
        within.push_back(permutation[dim]);
      }
    }
    Value source = transposed(rewriter, op.getLoc(), transpose.getInput(), within);
    source = rewriter.create<tensor::CollapseShapeOp>(op.getLoc(), source, joined);
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), source, invertPermutationVector(from)));
    return success();
  }
};

/// transpose(collapse(transpose(x))), left where nothing took the outer one away: one transpose.
struct MergeAroundCollapse : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    auto collapse = op.getInput().getDefiningOp<tensor::CollapseShapeOp>();
    auto inner = collapse ? collapse.getSrc().getDefiningOp<linalg::TransposeOp>() : nullptr;
    if (!inner || !strata::onlyReader(collapse) || !strata::onlyReader(inner->getResult(0)))
      return failure();
    SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices(), joined;
    SmallVector<int64_t> order;
    for (int64_t group : op.getPermutation()) {
      joined.emplace_back();
      for (int64_t dim : groups[group]) {
        joined.back().push_back(order.size());
        order.push_back(inner.getPermutation()[dim]);
      }
    }
    Value source = transposed(rewriter, op.getLoc(), inner.getInput(), order);
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, source, joined);
    return success();
  }
};

/// transpose(pad(x)), where nothing has taken the transpose away: with the padding last, the transpose writes straight
/// into the middle of the padded tensor, and the borders are contiguous.
struct TransposeBeforePad : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getInput().getDefiningOp<tensor::PadOp>();
    Value padding = pad ? pad.getConstantPaddingValue() : nullptr;
    if (!padding || !strata::onlyReader(pad))
      return failure();
    if (padding.getDefiningOp() && pad->isAncestor(padding.getDefiningOp()))
      rewriter.moveOpBefore(padding.getDefiningOp(), pad);
    SmallVector<OpFoldResult> low = pad.getMixedLowPad(), high = pad.getMixedHighPad();
    applyPermutationToVector(low, op.getPermutation());
    applyPermutationToVector(high, op.getPermutation());
    Value source = transposed(rewriter, op.getLoc(), pad.getSource(), op.getPermutation());
    rewriter.replaceOpWithNewOp<tensor::PadOp>(op, op->getResult(0).getType(), source, low, high, padding);
    return success();
  }
};

/// The dimensions that a reshape makes of groups of the transpose's, in the order in which those lie before it; to
/// `parts`, where these then are.
static SmallVector<int64_t> dimsBefore(linalg::TransposeOp transpose, ArrayRef<ReassociationIndices> groups,
                                       SmallVectorImpl<ReassociationIndices> *parts = nullptr) {
  SmallVector<int64_t> dims;
  for (int64_t to : invertPermutationVector(transpose.getPermutation())) {
    int64_t first = dims.size();
    llvm::append_range(dims, groups[to]);
    if (parts)
      parts->push_back(llvm::to_vector<2>(llvm::seq<int64_t>(first, dims.size())));
  }
  return dims;
}

/// Each dimension of the source is split where it stands.
struct SinkThroughExpand : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = transposeBefore(op, op.getSrc());
    SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
    if (!transpose || groups.empty())
      return failure();
    SmallVector<ReassociationIndices> parts;
    SmallVector<int64_t> dims = dimsBefore(transpose, groups, &parts);
    SmallVector<OpFoldResult> sizes = getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), rewriter);
    Value source = rewriter.create<tensor::ExpandShapeOp>(
        op.getLoc(), op.getResultType().clone(applyPermutation(op.getResultType().getShape(), dims)),
        transpose.getInput(), parts, applyPermutation(ArrayRef(sizes), dims));
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), source, invertPermutationVector(dims)));
    return success();
  }
};

/// As that, where a dimension is split into several whose sizes only the run tells, which no expand_shape does. The
/// ones around it are known to stay as they are.
struct SinkThroughReshape : OpRewritePattern<tensor::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = transposeBefore(op, op.getSource());
    auto sizes = op.getShape().getDefiningOp<tensor::FromElementsOp>();
    auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto to = dyn_cast<RankedTensorType>(op.getResult().getType());
    if (!transpose || !sizes || !from || !to)
      return failure();
    std::optional<SmallVector<ReassociationIndices>> groups = strata::splitOne(from.getShape(), to.getShape());
    if (!groups)
      return failure();
    SmallVector<int64_t> dims = dimsBefore(transpose, *groups);
    SmallVector<Value> elements = applyPermutation(SmallVector<Value>(sizes.getElements()), dims);
    Value shape = rewriter.create<tensor::FromElementsOp>(sizes.getLoc(), elements);
    Value source = rewriter.create<tensor::ReshapeOp>(op.getLoc(), to.clone(applyPermutation(to.getShape(), dims)),
                                                      transpose.getInput(), shape);
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), source, invertPermutationVector(dims)));
    return success();
  }
};

/// Whether all that is done in windows is done faster with the channels where they are. One convolution that adds them
/// up asks for another layout, which then serves the others, too.
static bool allFastAlongRows(func::FuncOp function, const strata::TargetFacts &target) {
  bool fast = true;
  function.walk([&](linalg::GenericOp op) {
    if (std::optional<unsigned> data = windowedInput(op); data && op.hasPureTensorSemantics())
      fast &= isFastAlongRows(op, *data, target);
  });
  return fast;
}

struct ChannelsLastPass : strata::WithTarget<strata::impl::ChannelsLastBase<ChannelsLastPass>> {
  using WithTarget::WithTarget;

  void runOnOperation() override {
    bool moves = !allFastAlongRows(getOperation(), target());
    RewritePatternSet patterns(&getContext());
    if (moves) {
      MoveChannels move(&getContext(), /*movesPixels=*/true, target());
      PatternRewriter rewriter(&getContext());
      SetVector<linalg::GenericOp> pixels;
      for (auto find : {strata::findPixelChains, strata::findPaddedPixels})
        for (linalg::GenericOp op : find(getOperation(), target()))
          pixels.insert(op);
      for (linalg::GenericOp op : pixels) {
        rewriter.setInsertionPoint(op);
        (void)move.matchAndRewrite(op, rewriter);
      }
      patterns.add<MoveChannels>(&getContext(), movesPixels, target());
    }
    patterns.add<ComposeTransposes, SinkThroughPad, SinkThroughSlice, SinkThroughInsert, SinkThroughConcat,
                 SinkThroughCollapse, SinkThroughExpand, SinkThroughReshape, MoveThroughProduct>(&getContext());
    int64_t lanes = target().vectorBits / 32;
    patterns.add<SinkThroughGeneric>(&getContext(), lanes);
    strata::populateSinkThroughGather(patterns, lanes);
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, &getContext());
    GreedyRewriteConfig config;
    config.maxIterations = 100;
    RewritePatternSet merge(&getContext());
    merge.add<MergeAroundCollapse, TransposeBeforePad, ComposeTransposes>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns), config)) ||
        failed(applyPatternsAndFoldGreedily(getOperation(), std::move(merge), config)))
      return signalPassFailure();
  }
};

} // namespace
