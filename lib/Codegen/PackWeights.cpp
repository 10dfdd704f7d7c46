//===- PackWeights.cpp - operands of contractions in the order of use -----===//
//
// The vector lanes of a contraction go along the last dimension of its result.
// An operand that depends on it must have it last, too; constant weights are also
// blocked, so that the vectors of one register tile lie one after another over
// the whole reduction.
//
//===----------------------------------------------------------------------===//
#include "BlockDots.h"
#include "Blocks.h"
#include "Codegen/Passes.h"
#include "Codegen/Target.h"
#include "ConstantExpressions.h"
#include "Conversions.h"
#include "DeepProducts.h"
#include "DepthSteps.h"
#include "LinalgQueries.h"
#include "LoopNest.h"
#include "Padding.h"
#include "ProductRows.h"
#include "ProductSums.h"
#include "RegisterTile.h"
#include "Transposed.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace strata {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using strata::isPlain;
using strata::transposed;

namespace {
struct PackWeightsPass : strata::WithTarget<strata::impl::PackWeightsBase<PackWeightsPass>> {
  using WithTarget::WithTarget;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> products, ops;
    SmallVector<std::pair<linalg::GenericOp, strata::ComputedWeights>> computed;
    SmallVector<std::pair<linalg::GenericOp, strata::BlockDots>> blocks;
    getOperation().walk([&](linalg::GenericOp op) {
      if (!op.hasPureTensorSemantics() || !op.getNumReductionLoops() || op.getNumDpsInits() != 1)
        return;
      if (std::optional<strata::ComputedWeights> weights = strata::matchComputedWeights(op))
        computed.push_back({op, *weights});
      else if (std::optional<strata::BlockDots> dots = strata::matchBlockDots(op))
        blocks.push_back({op, *dots});
      else if (op.getNumDpsInputs() == 2)
        products.push_back(op);
    });
    strata::ConstantExpressions whole(getOperation());
    for (linalg::GenericOp op : products) {
      strata::markPadding(op);
      foldTransposes(op, whole);
      llvm::append_range(ops, strata::splitDeepProduct(op, target(), whole));
    }
    // Parts of weights are constants, too.
    strata::ConstantExpressions constants(getOperation());
    for (linalg::GenericOp op : ops) {
      std::optional<unsigned> steps = strata::cutDepthInSteps(op, target(), constants);
      arrange(op, constants, steps);
    }
    for (auto &[op, weights] : computed)
      cutLanes(op, weights.data, llvm::map_to_vector(weights.inputs, [](BlockArgument i) { return i.getArgNumber(); }),
               constants);
    for (auto &[op, dots] : blocks) {
      SmallVector<unsigned> inputs{dots.words};
      for (int input : {dots.scale, dots.zero})
        if (input >= 0)
          inputs.push_back(input);
      cutLanes(op, dots.data, inputs, constants);
    }
  }

private:
  static constexpr int64_t tileLanes = 16; ///< of a matrix unit
  static constexpr int64_t fewRows = 4;    ///< so few sums of two vectors wait for each other

  /// Two vectors of lanes, or two tiles of a matrix unit, unless one has them all.
  int64_t blockOfUnit(int64_t lanes) const {
    return !ShapedType::isDynamic(lanes) && lanes <= tileLanes ? tileLanes : 2 * vectorBits / 32;
  }

  /// The result's last dimension.
  static std::optional<unsigned> laneOf(linalg::GenericOp op) {
    AffineMap out = op.getIndexingMapsArray().back();
    if (!out.getNumResults())
      return std::nullopt;
    auto dim = dyn_cast<AffineDimExpr>(out.getResults().back());
    return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
  }

  static bool hasLast(AffineMap map, unsigned lane) {
    return map.getNumResults() && map.getResults().back() == getAffineDimExpr(lane, map.getContext());
  }

  /// Whether what the steps of the reduction read lies in as many pages, in more lines than the first-level cache has
  /// room for until the next rows read the rest of them.
  bool liesFarApart(linalg::GenericOp op, linalg::TransposeOp transpose, AffineMap folded) const {
    auto type = cast<RankedTensorType>(transpose.getInput().getType());
    auto row = dyn_cast<AffineDimExpr>(folded.getResults().back());
    if (!row || op.getIteratorTypesArray()[row.getPosition()] == utils::IteratorType::reduction)
      return false;
    int64_t rows = type.getShape().back();
    return termsOf(op) * lineBytes > nearCacheBytes &&
           (ShapedType::isDynamic(rows) || rows * strata::bytesOf(type.getElementType()) >= pageBytes);
  }

  /// Whether a window reads the data several times that `sumsAlongLanes` needs to lie along its terms.
  bool isReadOften(linalg::GenericOp op, OpOperand *data, unsigned lane,
                   const strata::ConstantExpressions &constants) const {
    constexpr int64_t often = 4;
    return llvm::all_of(op.getDpsInputs(), [&](Value v) { return v == data->get() || constants.isConstant(v); }) &&
           sumsAlongLanes(op, data, lane) &&
           termsOf(op) >= often * op.getStaticLoopRanges()[*strata::innermost(op.getMatchingIndexingMap(data))];
  }

  /// A transposed operand is read where it lies, if the lanes stay contiguous, it is packed anyway, or few read it, and
  /// not in too many places.
  void foldTransposes(linalg::GenericOp op, const strata::ConstantExpressions &constants) const {
    std::optional<unsigned> lane = laneOf(op);
    if (!lane)
      return;
    for (OpOperand *input : op.getDpsInputOperands())
      while (auto transpose = input->get().getDefiningOp<linalg::TransposeOp>()) {
        AffineMap map = op.getMatchingIndexingMap(input);
        AffineMap folded = strata::mapBehind(transpose, map);
        if (map.isFunctionOfDim(*lane) && hasLast(map, *lane) && !hasLast(folded, *lane) &&
            !constants.isConstant(input->get()) && isWorthMoving(op, input, *lane) && !isWorthPacking(op, input))
          break;
        if (!map.isFunctionOfDim(*lane) && !constants.isConstant(input->get()) &&
            (liesFarApart(op, transpose, folded) || isReadOften(op, input, *lane, constants)))
          break;
        SmallVector<AffineMap> maps = op.getIndexingMapsArray();
        maps[input->getOperandNumber()] = folded;
        op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
        input->set(transpose.getInput());
      }
  }

  void arrange(linalg::GenericOp op, const strata::ConstantExpressions &constants, std::optional<unsigned> steps) {
    std::optional<unsigned> lane = laneOf(op);
    if (!lane)
      return;
    OpOperand *a = op.getDpsInputOperand(0), *w = op.getDpsInputOperand(1);
    auto depends = [&](OpOperand *operand) { return op.getMatchingIndexingMap(operand).isFunctionOfDim(*lane); };
    if (!depends(w))
      std::swap(a, w);
    for (OpOperand *operand : {a, w}) {
      AffineMap map = op.getMatchingIndexingMap(operand);
      if (!depends(operand) || !isPlain(map))
        continue;
      bool constant = constants.isConstant(operand->get());
      bool weights = operand == w && !depends(a);
      if (constant || (weights && (isGrouped(op, operand, a) || (!hasLast(map, *lane) && isWorthPacking(op, operand)))))
        reorder(op, operand, a, *lane, weights, steps);
      else if (!hasLast(map, *lane) && isWorthMoving(op, operand, *lane))
        moveLaneLast(op, operand, *lane);
    }
  }

  /// All that weights are computed of, in the same blocks of lanes.
  void cutLanes(linalg::GenericOp op, unsigned dataInput, ArrayRef<unsigned> inputs,
                const strata::ConstantExpressions &constants) const {
    OpOperand *data = op.getDpsInputOperand(dataInput);
    std::optional<unsigned> lane = laneOf(op);
    auto operands = llvm::map_to_vector(inputs, [&](unsigned input) { return op.getDpsInputOperand(input); });
    if (!lane || !llvm::all_of(operands, [&](OpOperand *operand) {
          AffineMap map = op.getMatchingIndexingMap(operand);
          return isPlain(map) && map.isFunctionOfDim(*lane) && constants.isConstant(operand->get());
        }))
      return;
    int64_t lanes = op.getStaticLoopRanges()[*lane], width = vectorBits / 32;
    int64_t mostRows = strata::mostRowsInCache(target(), strata::rowDistance(op, operands[0], data, *lane));
    // Each vector of weights is several while it is computed.
    int64_t mostVectors = std::max<int64_t>(1, registers / 8);
    int64_t block = width * strata::chooseRegisterTile(target(), strata::rowsOf(op, operands[0], data), lanes / width,
                                                       mostVectors, mostRows)
                                .vectors;
    if (bf16Tiles && getElementTypeOrSelf(data->get()).isBF16())
      block = blockOfUnit(lanes);
    for (OpOperand *operand : operands)
      cutLanes(op, operand, op.getMatchingIndexingMap(data), *lane, block);
  }

  /// [lanes / block, reduction.., block], the loops of the reduction in the order in which the data has them.
  static void cutLanes(linalg::GenericOp op, OpOperand *operand, AffineMap read, unsigned lane, int64_t block) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    auto keyOf = [&](int64_t position) -> int64_t {
      auto dim = dyn_cast<AffineDimExpr>(map.getResult(position));
      return dim && strata::positionOf(read, dim.getPosition()) ? *strata::positionOf(read, dim.getPosition()) : -1;
    };
    auto cut = static_cast<int64_t>(*strata::positionOf(map, lane));
    SmallVector<int64_t> order;
    for (int64_t i = 0, e = map.getNumResults(); i < e; ++i)
      if (i != cut)
        order.push_back(i);
    llvm::stable_sort(order, [&](int64_t x, int64_t y) { return keyOf(x) < keyOf(y); });
    for (int64_t &position : order)
      position += position > cut;
    order.insert(order.begin(), cut);
    order.push_back(cut + 1);
    SmallVector<AffineExpr> exprs(map.getResults());
    AffineExpr d = exprs[cut];
    exprs[cut] = d % block;
    exprs.insert(exprs.begin() + cut, d.floorDiv(block));
    OpBuilder b(op);
    Value value = strata::inBlocks(b, op.getLoc(), operand->get(), cut, block, order);
    applyPermutationToVector(exprs, order);
    replace(op, operand, value, AffineMap::get(map.getNumDims(), 0, exprs, op.getContext()));
  }

  /// By `strata-group-reductions`, which wants the groups of weights last.
  static bool isGrouped(linalg::GenericOp op, OpOperand *operand, OpOperand *data) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    std::optional<unsigned> group = strata::getGroup(op, data);
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    return group && map.isFunctionOfDim(*group) && llvm::count_if(llvm::seq(map.getNumDims()), [&](unsigned dim) {
                                                     return kinds[dim] == utils::IteratorType::reduction &&
                                                            map.isFunctionOfDim(dim);
                                                   }) > 1;
  }

  /// A right-hand side that is given in each run, and has to be transposed: a large one that many rows use comes in
  /// blocks. (Those of a batch are small, and what attention fuses with.)
  bool isWorthPacking(linalg::GenericOp op, OpOperand *operand) const {
    constexpr double copied = 0.65;
    auto type = cast<RankedTensorType>(operand->get().getType());
    if (!type.hasStaticShape() || type.getRank() < 2 || !type.getElementType().isIntOrFloat() ||
        type.getNumElements() * type.getElementTypeBitWidth() / 8 <= nearCacheBytes ||
        !llvm::all_of(type.getShape().drop_back(2), [](int64_t size) { return size == 1; }))
      return false;
    if (std::optional<double> cycles = cyclesOfUses(op, operand))
      return *cycles >= copied;
    // The rows of one tile read everything once, as a copy does.
    return strata::getUses(op, operand) > strata::chooseRegisterTile(target(), std::nullopt, std::nullopt).rows;
  }

  /// How many elements a product reads of an operand; of an unknown number of products, each has its own.
  static int64_t elementsOfOne(linalg::GenericOp op, OpOperand *operand) {
    int64_t elements = 1;
    for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
      auto reads = [&](AffineMap map) { return map.isFunctionOfDim(loop); };
      bool isUnknown = ShapedType::isDynamic(size);
      if (!reads(op.getMatchingIndexingMap(operand)) || (isUnknown && llvm::all_of(op.getIndexingMapsArray(), reads)))
        continue;
      if (isUnknown)
        return ShapedType::kDynamic;
      elements *= size;
    }
    return elements;
  }

  /// Each element is used often enough to pay for a copy, which takes as many cycles for each.
  bool isWorthMoving(linalg::GenericOp op, OpOperand *operand, unsigned lane) const {
    constexpr int64_t fewest = 4;
    constexpr double copied = 1, copiedFar = 4;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    if ((!ShapedType::isDynamic(ranges[lane]) && ranges[lane] < fewest) || strata::getUses(op, operand) < fewest)
      return false;
    std::optional<double> cycles = cyclesOfUses(op, operand);
    int64_t elements = elementsOfOne(op, operand);
    bool isNear = !ShapedType::isDynamic(elements) && elements * 4 <= 2 * cacheBytes;
    return !cycles || *cycles >= (isNear ? copied : copiedFar);
  }

  /// What it costs that sums of products lie along the lanes, for each element of an operand: each use takes half a
  /// cycle of a vector more, and the lanes of each sum are added up. None where they cannot, or the uses are not known.
  std::optional<double> cyclesOfUses(linalg::GenericOp op, OpOperand *operand) const {
    constexpr double addUp = 3;
    AffineMap map = op.getMatchingIndexingMap(operand);
    for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges()))
      if (ShapedType::isDynamic(size) && !map.isFunctionOfDim(loop))
        return std::nullopt;
    if (!areRowsOfSums(op))
      return std::nullopt;
    double each = 16.0 / vectorBits + addUp / static_cast<double>(termsOf(op));
    return static_cast<double>(strata::getUses(op, operand)) * each;
  }

  /// Whether both operands of a product of f32 lie along its terms, whose vectors then are multiplied as they are.
  static bool areRowsOfSums(linalg::GenericOp op) {
    std::optional<strata::ProductSum> product = strata::matchProductSum(op);
    if (!product || !product->elements[0].isF32() || !product->elements[1].isF32() || op.getNumReductionLoops() != 1)
      return false;
    return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      AffineMap map = op.getMatchingIndexingMap(input);
      if (auto transpose = input->get().getDefiningOp<linalg::TransposeOp>())
        map = strata::mapBehind(transpose, map);
      std::optional<unsigned> last = strata::innermost(map);
      return last && map.isProjectedPermutation() &&
             op.getIteratorTypesArray()[*last] == utils::IteratorType::reduction;
    });
  }

  /// Whether vectors add the products of groups, of which each lane has one.
  bool areDotProducts(Type element) const {
    return element.isBF16() ? bf16Dots && !bf16Tiles : element.isInteger(8) ? byteDots && !int8Tiles : pairDots;
  }

  static void replace(linalg::GenericOp op, OpOperand *operand, Value value, AffineMap map) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[operand->getOperandNumber()] = map;
    op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
    operand->set(value);
  }

  static void moveLaneLast(linalg::GenericOp op, OpOperand *operand, unsigned lane) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    SmallVector<int64_t> order;
    int64_t last = -1;
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (expr == getAffineDimExpr(lane, op.getContext()))
        last = i;
      else
        order.push_back(i);
    order.push_back(last);
    OpBuilder b(op);
    Value moved = transposed(b, op.getLoc(), operand->get(), order);
    SmallVector<AffineExpr> results(map.getResults());
    applyPermutationToVector(results, order);
    replace(op, operand, moved, AffineMap::get(map.getNumDims(), 0, results, op.getContext()));
  }

  /// What is converted, reshaped and then transposed is converted while it is transposed.
  static void convertOnTheWay(linalg::TransposeOp transpose) {
    Value source = transpose.getInput(), whole = transpose.getResult()[0];
    SmallVector<tensor::ExpandShapeOp> reshapes;
    while (auto reshape = source.getDefiningOp<tensor::ExpandShapeOp>()) {
      if (!reshape->hasOneUse())
        return;
      reshapes.push_back(reshape);
      source = reshape.getSrc();
    }
    auto conversion = source.getDefiningOp<linalg::GenericOp>();
    if (!conversion || !conversion->hasOneUse() || !strata::isConversion(conversion))
      return;
    OpBuilder b(transpose);
    source = conversion.getDpsInputs()[0];
    Type element = getElementTypeOrSelf(source.getType());
    for (tensor::ExpandShapeOp reshape : llvm::reverse(reshapes))
      source = b.create<tensor::ExpandShapeOp>(
          reshape.getLoc(), reshape.getResultType().clone(element), source, reshape.getReassociationIndices(),
          getMixedValues(reshape.getStaticOutputShape(), reshape.getOutputShape(), b));
    SmallVector<AffineMap> maps = transpose.getIndexingMapsArray();
    SmallVector<utils::IteratorType> kinds(maps[0].getNumDims(), utils::IteratorType::parallel);
    auto moved =
        b.create<linalg::GenericOp>(conversion.getLoc(), whole.getType(), source, transpose.getInit(), maps, kinds);
    b.cloneRegionBefore(conversion.getRegion(), moved.getRegion(), moved.getRegion().begin());
    whole.replaceAllUsesWith(moved.getResult(0));
    transpose.erase();
  }

  /// Of one sum, as far as they are known.
  static int64_t termsOf(linalg::GenericOp op) {
    int64_t terms = 1;
    for (auto [range, kind] : llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction && !ShapedType::isDynamic(range))
        terms *= range;
    return terms;
  }

  /// Whether so few results share data that a vector is better filled with terms of one sum: the terms then come last.
  bool sumsAlongLanes(linalg::GenericOp op, OpOperand *data, unsigned lane) const {
    // To add up the lanes of a vector, in multiplications of vectors.
    constexpr int64_t addUp = 10;
    std::optional<strata::ProductSum> product = strata::matchProductSum(op);
    std::optional<unsigned> last = strata::innermost(op.getMatchingIndexingMap(data));
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    int64_t width = vectorBits / 32, results = ranges[lane], terms = termsOf(op);
    AffineMap weights = op.getMatchingIndexingMap(op.getDpsInputOperand(1 - data->getOperandNumber()));
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::parallel && loop != lane && weights.isFunctionOfDim(loop))
        return false;
    return product && product->elements[0].isF32() && product->elements[1].isF32() && last &&
           op.getIteratorTypesArray()[*last] == utils::IteratorType::reduction && ranges[*last] >= width &&
           !ShapedType::isDynamic(results) && results <= width / 2 && results * (terms / width + addUp) < terms;
  }

  /// The loop over the groups of a convolution that has few results in each, along `lane`, which share vectors: the one
  /// that walks the result's last dimension but one.
  std::optional<unsigned> groupsOf(linalg::GenericOp op, OpOperand *weights, OpOperand *data, unsigned lane) const {
    AffineMap out = op.getIndexingMapsArray().back(), map = op.getMatchingIndexingMap(weights);
    auto dim = out.getNumResults() > 1 ? dyn_cast<AffineDimExpr>(out.getResult(out.getNumResults() - 2)) : nullptr;
    int64_t size = op.getStaticLoopRanges()[lane];
    if (!dim || ShapedType::isDynamic(size) || !strata::canShareVectors(target(), size) ||
        !strata::positionOf(map, dim.getPosition()) ||
        !strata::positionOf(op.getMatchingIndexingMap(data), dim.getPosition()))
      return std::nullopt;
    return dim.getPosition();
  }

  /// Parallel dimensions first, then those of the reduction in the order in which
  /// the data has them, then the lanes: [.., lanes / block, reduction.., block].
  /// Behind them, if there is one, the group: [.., lanes / block, reduction.., block, group]. Where several groups of a
  /// convolution share vectors, `block` is groups and their lanes. The loop over `steps` of the depth, if there is one,
  /// comes before that over the dimension of the data before it.
  void reorder(linalg::GenericOp op, OpOperand *operand, OpOperand *data, unsigned lane, bool weights,
               std::optional<unsigned> steps) {
    MLIRContext *context = op.getContext();
    AffineMap map = op.getMatchingIndexingMap(operand);
    AffineMap dataMap = op.getMatchingIndexingMap(data);
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    auto type = cast<RankedTensorType>(operand->get().getType());
    SmallVector<std::pair<int64_t, int64_t>> head, middle; // (key, position)
    std::optional<unsigned> groupDim = weights ? strata::getGroup(op, data) : std::nullopt;
    std::optional<unsigned> groups = weights ? groupsOf(op, operand, data, lane) : std::nullopt;
    unsigned cutLoop = groups.value_or(lane);
    int64_t last = -1, group = -1, cut = -1; // cut: what is in blocks
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim && dim.getPosition() == cutLoop)
        cut = i;
      if (dim && dim.getPosition() == lane) {
        last = i;
      } else if (dim && groups == dim.getPosition()) {
        continue;
      } else if (dim && groupDim == dim.getPosition()) {
        group = i;
      } else if (dim && kinds[dim.getPosition()] == utils::IteratorType::reduction) {
        int64_t key = 0;
        for (auto [p, e] : llvm::enumerate(dataMap.getResults()))
          if (e.isFunctionOfDim(dim.getPosition()))
            key = steps == dim.getPosition() ? 2 * p - 3 : 2 * p;
        middle.push_back({key, i});
      } else {
        head.push_back({i, i});
      }
    }
    llvm::sort(middle);
    int64_t groupLanes = groups ? type.getDimSize(last) : 1, lanes = groupLanes * type.getDimSize(cut);
    int64_t bits = type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 32;
    int64_t width = vectorBits / std::max<int64_t>(bits, 32);
    std::optional<int64_t> rows = strata::rowsOf(op, operand, data);
    int64_t mostRows =
        weights ? strata::mostRowsInCache(target(), strata::rowDistance(op, operand, data, lane)) : INT64_MAX;
    int64_t block =
        width * strata::chooseRegisterTile(target(), rows, lanes / width, /*mostVectors=*/8, mostRows).vectors;
    // Tiles take two blocks of lanes, and of many rows two vectors are enough sums for dot products.
    bool isLow = (rows && *rows <= fewRows) || mostRows < registers / 2;
    if (group >= 0 && !(isLow && areDotProducts(type.getElementType())))
      block = blockOfUnit(lanes);
    // Vectors of several groups share no data: one is enough, if it has sums that need not wait for each other.
    if (groups)
      block = (rows && *rows < 2 * fewRows ? 2 : 1) * width / groupLanes;
    bool blocked = weights && !middle.empty() && (type.getDimSize(cut) > block || group >= 0 || groups);
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value value = operand->get();
    SmallVector<AffineExpr> exprs(map.getResults());
    if (blocked) {
      AffineExpr d = getAffineDimExpr(cutLoop, context);
      exprs[cut] = d % block;
      exprs.insert(exprs.begin() + cut, d.floorDiv(block));
      for (auto *list : {&head, &middle})
        for (auto &[key, position] : *list)
          position += position > cut;
      group += group > cut;
      last += last >= cut;
      head.push_back({cut, cut});
      ++cut;
    }
    SmallVector<int64_t> order;
    for (auto &[key, position] : head)
      order.push_back(position);
    for (auto &[key, position] : middle)
      order.push_back(position);
    if (groups)
      order.push_back(cut);
    order.push_back(last);
    if (weights && !blocked && group < 0 && sumsAlongLanes(op, data, lane))
      std::rotate(order.begin() + head.size(), order.end() - 1, order.end());
    if (group >= 0)
      order.push_back(group);
    value = blocked ? strata::inBlocks(b, loc, value, cut - 1, block, order) : transposed(b, loc, value, order);
    applyPermutationToVector(exprs, order);
    replace(op, operand, value, AffineMap::get(map.getNumDims(), 0, exprs, context));
    // Where it is packed part by part, each is inserted into those before it.
    while (auto insert = value.getDefiningOp<tensor::InsertSliceOp>()) {
      if (auto transpose = insert.getSource().getDefiningOp<linalg::TransposeOp>())
        convertOnTheWay(transpose);
      value = insert.getDest();
    }
    if (auto transpose = value.getDefiningOp<linalg::TransposeOp>())
      convertOnTheWay(transpose);
  }
};
} // namespace
