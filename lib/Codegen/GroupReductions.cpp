//===- GroupReductions.cpp - narrow elements side by side, 32 bits at once ===//
//
// A matrix unit, or a vector instruction for dot products, takes the elements of 32
// bits of a row, two of bf16 or four of 8 bits, as one step of the reduction; the weights of such a step must lie side
// by side, too. So the step is a loop of its own.
//
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Codegen/Passes.h"
#include "ComputedWeights.h"
#include "ConstantExpressions.h"
#include "LinalgQueries.h"
#include "Padding.h"
#include "ProductSums.h"
#include "Transposed.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace strata {
#define GEN_PASS_DEF_GROUPREDUCTIONS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

/// Groups of one tile at most; and what most of a tile is.
static constexpr int64_t tileGroups = 16, wellFilled = 12;

/// The size that a dimension of the reduction is filled up to: whole groups, and whole `tiles` where the groups have no
/// divisor that nearly fills one.
static int64_t filledUp(int64_t size, int64_t group, bool tiles) {
  int64_t groups = llvm::divideCeil(size, group);
  if (tiles && groups > tileGroups) {
    int64_t step = tileGroups;
    while (groups % step)
      --step;
    if (step < wellFilled || 6 * llvm::divideCeil(groups, tileGroups) <= 5 * (groups / step))
      groups = llvm::alignTo(groups, tileGroups);
  }
  return groups * group;
}

namespace {
struct GroupReductionsPass : strata::impl::GroupReductionsBase<GroupReductionsPass> {
  using GroupReductionsBase::GroupReductionsBase;

  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      if (std::optional<strata::ComputedWeights> weights = computedHalves(op, constants)) {
        groupComputed(op, *weights);
        continue;
      }
      if (isOfKeys(op)) {
        groupKeys(op);
        continue;
      }
      for (unsigned weights : {0u, 1u})
        if (canGroup(op, weights, constants)) {
          unsigned depth = *strata::innermost(op.getMatchingIndexingMap(op.getDpsInputOperand(1 - weights)));
          // A matrix unit's tiles have rows of several lines.
          if (!tiles) {
            mergeTaps(op, weights, depth);
            strata::markPadding(op);
          }
          group(op, weights, depth);
          break;
        }
    }
  }

private:
  bool isMultiplied(const strata::ProductSum &sum) const {
    if (bf16 && sum.sum.isF32())
      return sum.elements[0].isBF16() && sum.elements[1].isBF16();
    return int8 && sum.sum.isInteger(32) && sum.elements[0] == sum.elements[1] &&
           (sum.elements[0].isInteger(8) || sum.elements[0].isInteger(16));
  }

  bool canGroup(linalg::GenericOp op, unsigned weights, const strata::ConstantExpressions &constants) const {
    std::optional<strata::ProductSum> sum = strata::matchProductSum(op);
    return sum && isMultiplied(*sum) && strata::canGroup(op, weights, constants);
  }

  /// Weights that a body makes of constants, as the unit takes them.
  std::optional<strata::ComputedWeights> computedHalves(linalg::GenericOp op,
                                                        const strata::ConstantExpressions &constants) const {
    std::optional<strata::ComputedWeights> weights =
        bf16 && tiles && op.hasPureTensorSemantics() ? strata::matchComputedWeights(op) : std::nullopt;
    if (!weights || !weights->areHalves())
      return std::nullopt;
    AffineMap data = op.getIndexingMapsArray()[weights->data];
    std::optional<unsigned> depth = strata::innermost(data);
    bool fits = depth && strata::isPlain(data) && weights->areConstant(op, constants) &&
                op.getIteratorTypesArray()[*depth] == utils::IteratorType::reduction &&
                op.getStaticLoopRanges()[*depth] % 2 == 0;
    for (BlockArgument input : weights->inputs)
      fits &= strata::isPlain(op.getIndexingMapsArray()[input.getArgNumber()]);
    return fits ? weights : std::nullopt;
  }

  /// The last loop of the data becomes two, also where weights depend on it or the body asks for its number.
  static void groupComputed(linalg::GenericOp op, const strata::ComputedWeights &weights) {
    constexpr int64_t group = 2;
    unsigned depth = *strata::innermost(op.getIndexingMapsArray()[weights.data]), within = op.getNumLoops();
    strata::splitLoop(op, depth, group);
    OpBuilder b(op);
    SmallVector<linalg::IndexOp> numbers(op.getBody()->getOps<linalg::IndexOp>());
    for (linalg::IndexOp number : numbers) {
      if (number.getDim() != depth)
        continue;
      b.setInsertionPointAfter(number);
      Location loc = number.getLoc();
      Value size = b.create<arith::ConstantIndexOp>(loc, group);
      auto first = b.create<arith::MulIOp>(loc, number, size);
      Value each = b.create<arith::AddIOp>(loc, first, b.create<linalg::IndexOp>(loc, within));
      number.getResult().replaceAllUsesExcept(each, first);
    }
  }

  /// A sum over an unknown number of keys, in whole blocks.
  bool isOfKeys(linalg::GenericOp op) const {
    if (!op->hasAttr(strata::kPaddedKeys) || !op.hasPureTensorSemantics() || op.getNumReductionLoops() != 1)
      return false;
    std::optional<strata::ProductSum> sum = strata::matchProductSum(op);
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    return sum && isMultiplied(*sum) && ShapedType::isDynamic(op.getStaticLoopRanges()[reduced.front()]);
  }

  /// The loop over the keys becomes three: over the blocks, and in each as any other.
  static void groupKeys(linalg::GenericOp op) {
    int64_t group = groupOf(op);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    SmallVector<Value> inputs(op.getDpsInputs());
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    unsigned dims = kinds.size();
    OpBuilder b(op);
    Transposes folded;
    for (auto [i, map] : llvm::enumerate(maps)) {
      if (i < inputs.size())
        folded.append(foldTransposes(inputs[i], map));
      SmallVector<AffineExpr> results(map.getResults());
      if (std::optional<unsigned> at = strata::positionOf(map, reduced.front())) {
        inputs[i] = strata::inGroups(b, op.getLoc(), inputs[i], *at, strata::kKeyBlock);
        inputs[i] = strata::inGroups(b, op.getLoc(), inputs[i], *at + 1, group);
        results.insert(results.begin() + *at + 1, {b.getAffineDimExpr(dims), b.getAffineDimExpr(dims + 1)});
      }
      map = AffineMap::get(dims + 2, 0, results, op.getContext());
    }
    kinds.append(2, utils::IteratorType::reduction);
    strata::replaceLoops(op, inputs, maps, kinds);
    eraseUnused(folded);
  }

  using Transposes = SmallVector<linalg::TransposeOp, 1>;

  /// Where weights that are given in each run are transposed, their copy does it, too.
  static Transposes foldTransposes(Value &input, AffineMap &map) {
    Transposes folded;
    while (auto transpose = input.getDefiningOp<linalg::TransposeOp>()) {
      folded.push_back(transpose);
      map = strata::mapBehind(transpose, map);
      input = transpose.getInput();
    }
    return folded;
  }

  static void eraseUnused(ArrayRef<linalg::TransposeOp> transposes) {
    for (linalg::TransposeOp transpose : transposes)
      if (transpose->use_empty())
        transpose.erase();
  }

  static int64_t groupOf(linalg::GenericOp op) {
    return 32 / getElementTypeOrSelf(op.getDpsInputs()[0].getType()).getIntOrFloatBitWidth();
  }

  /// Of the first convolution of a network, whose pixels have three channels, a group would be filled up for each tap.
  /// Where whole groups lie between the windows of neighbours, their taps and channels along a line are one loop,
  /// `depth`, as they lie one behind the other.
  static void mergeTaps(linalg::GenericOp &op, unsigned weights, unsigned &depth) {
    OpOperand *data = op.getDpsInputOperand(1 - weights);
    AffineMap map = op.getMatchingIndexingMap(data),
              weightsMap = op.getMatchingIndexingMap(op.getDpsInputOperand(weights));
    auto type = cast<RankedTensorType>(data->get().getType());
    int64_t rank = type.getRank(), group = groupOf(op);
    SmallVector<int64_t> ranges = op.getStaticLoopRanges(), steps;
    if (rank < 2 || failed(getFlattenedAffineExpr(map.getResult(rank - 2), map.getNumDims(), 0, &steps)) ||
        steps.size() != map.getNumDims() + 1 || type.isDynamicDim(rank - 2) || type.isDynamicDim(rank - 1) ||
        ranges[depth] != type.getDimSize(rank - 1))
      return;
    std::optional<unsigned> tap;
    // Lines and beginnings of windows of whole groups: no window that is filled up ends beyond its line.
    int64_t channels = ranges[depth], line = channels * type.getDimSize(rank - 2);
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
      if (!steps[loop])
        continue;
      if (kind == utils::IteratorType::reduction) {
        if (tap || steps[loop] != 1 || !strata::positionOf(weightsMap, loop) || ShapedType::isDynamic(ranges[loop]) ||
            llvm::count_if(map.getResults(), [&](AffineExpr e) { return e.isFunctionOfDim(loop); }) != 1)
          return;
        tap = loop;
        continue;
      }
      if (steps[loop] < 0 || steps[loop] * channels % group)
        return;
    }
    if (!tap || steps.back())
      return;
    int64_t merged = llvm::alignTo(ranges[*tap] * channels, group);
    // What fills up the weights is zero, but not the data that it is multiplied with: no infinity must be.
    bool isFilled = merged != ranges[*tap] * channels;
    if ((isFilled && !getElementTypeOrSelf(type).isInteger()) || line % group ||
        merged >= ranges[*tap] * static_cast<int64_t>(llvm::alignTo(channels, group)))
      return;
    OpBuilder b(op);
    Location loc = op.getLoc();
    // Of weights, too, the taps come before the channels.
    Value w = op.getDpsInputs()[weights];
    SmallVector<int64_t> order;
    SmallVector<AffineExpr> read;
    for (auto [i, expr] : llvm::enumerate(weightsMap.getResults())) {
      if (expr == b.getAffineDimExpr(*tap))
        continue;
      if (expr == b.getAffineDimExpr(depth))
        order.push_back(*strata::positionOf(weightsMap, *tap));
      order.push_back(i);
      read.push_back(expr);
    }
    int64_t at = llvm::find(read, b.getAffineDimExpr(depth)) - read.begin();
    w = collapseWithNext(b, loc, strata::transposed(b, loc, w, order), at);
    Value x = collapseWithNext(b, loc, data->get(), rank - 2);
    SmallVector<AffineExpr> results(map.getResults());
    AffineExpr window = results[rank - 2].replace(b.getAffineDimExpr(*tap), b.getAffineConstantExpr(0));
    results.pop_back();
    results.back() = simplifyAffineExpr(window * channels + b.getAffineDimExpr(depth), map.getNumDims(), 0);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[weights] = AffineMap::get(map.getNumDims(), 0, read, op.getContext());
    maps[1 - weights] = AffineMap::get(map.getNumDims(), 0, results, op.getContext());
    // The loop over the taps is no more.
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    kinds.erase(kinds.begin() + *tap);
    llvm::SmallBitVector unused(map.getNumDims());
    unused.set(*tap);
    for (AffineMap &each : maps)
      each = compressDims(each, unused);
    depth -= *tap < depth;
    Value inputs[2];
    inputs[weights] = w;
    inputs[1 - weights] = x;
    strata::replaceLoops(op, inputs, maps, kinds);
  }

  static Value collapseWithNext(OpBuilder &b, Location loc, Value value, int64_t dim) {
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    return b.create<tensor::CollapseShapeOp>(loc, value, strata::withNext(rank - 1, dim));
  }

  void group(linalg::GenericOp op, unsigned weights, unsigned depth) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    SmallVector<Value> inputs(op.getDpsInputs());
    unsigned dims = kinds.size();
    int64_t group = groupOf(op);
    int64_t size = filledUp(op.getStaticLoopRanges()[depth], group, tiles);
    Transposes folded = foldTransposes(inputs[weights], maps[weights]);
    OpBuilder b(op);
    Location loc = op.getLoc();
    for (auto [i, map] : llvm::enumerate(maps)) {
      SmallVector<AffineExpr> results(map.getResults());
      if (i < inputs.size()) {
        int64_t at = llvm::find_if(results, [&](AffineExpr e) { return e.isFunctionOfDim(depth); }) - results.begin();
        // Of merged taps, the window begins with a group.
        AffineExpr step = b.getAffineDimExpr(depth), window = results[at].replace(step, b.getAffineConstantExpr(0));
        results[at] = simplifyAffineExpr(window.floorDiv(group) + step, dims, 0);
        results.insert(results.begin() + at + 1, b.getAffineDimExpr(dims));
        inputs[i] = strata::inGroups(b, loc, inputs[i], at, group, window.isSymbolicOrConstant() ? size : 0);
      }
      map = AffineMap::get(dims + 1, 0, results, op.getContext());
    }
    kinds.push_back(utils::IteratorType::reduction);
    SmallVector<strata::PaddedLoop> padded = strata::getPaddedLoops(op);
    strata::replaceLoops(op, inputs, maps, kinds);
    strata::setPaddedLoops(op, padded);
    eraseUnused(folded);
  }
};
} // namespace
