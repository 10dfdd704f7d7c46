//===- WeightPanels.cpp - computed weights, once for all rows -------------===//
#include "WeightPanels.h"
#include "LinalgQueries.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace strata;

/// Of an unknown number of rows so many are computed without a panel: there is code for each number.
static constexpr int64_t fewRows = 4;

/// The block of lanes in which all that weights are computed of lies; 0: none.
static int64_t blockOf(const LoopNest &nest, const ComputedWeights &weights) {
  int64_t block = 0;
  for (BlockArgument input : weights.inputs) {
    const Access &access = nest.reduce->inputs[input.getArgNumber()];
    if (!access.base || access.blockedLoop != static_cast<int>(weights.lane) || access.withinStride != 1 ||
        (block && block != access.block))
      return 0;
    block = access.block;
  }
  return nest.loops[weights.lane].size.isKnown() ? block : 0;
}

/// The loops of the reduction in the order in which the data lies; none if their sizes are not known.
static SmallVector<int64_t> depthOf(const LoopNest &nest, const ComputedWeights &weights) {
  const Access &data = nest.reduce->inputs[weights.data];
  SmallVector<int64_t> order;
  for (auto [dim, loop] : llvm::enumerate(nest.loops)) {
    if (!loop.reduction)
      continue;
    if (!loop.size.isKnown() || !stride(data, dim).isKnown())
      return {};
    order.push_back(dim);
  }
  llvm::stable_sort(order, [&](int64_t x, int64_t y) { return stride(data, x).known > stride(data, y).known; });
  return order;
}

/// The rows that share the weights.
static Extent countRows(OpBuilder &b, Location loc, const LoopNest &nest, const ComputedWeights &weights) {
  int64_t known = 1;
  Value unknown;
  for (auto [dim, loop] : llvm::enumerate(nest.loops)) {
    if (loop.reduction || dim == weights.lane)
      continue;
    if (loop.size.isKnown())
      known *= loop.size.known;
    else
      unknown = unknown ? b.create<arith::MulIOp>(loc, unknown, loop.size.value).getResult() : loop.size.value;
  }
  if (unknown && known != 1)
    unknown = b.create<arith::MulIOp>(loc, unknown, b.create<arith::ConstantIndexOp>(loc, known));
  return {known, unknown};
}

/// Of halves the loop over the two of 32 bits, which `strata-group-reductions` makes: the last one of `depth`; or -1.
static int pairOf(const LoopNest &nest, const ComputedWeights &weights, ArrayRef<int64_t> depth) {
  return weights.areHalves() && nest.loops[depth.back()].size.is(2) ? static_cast<int>(depth.back()) : -1;
}

/// The same product of the data and a panel: `depth`, then the lanes of a block, behind them, if there are some, the
/// pairs. What it reads has no base yet.
static linalg::GenericOp multiplyByPanel(OpBuilder &b, linalg::GenericOp op, const ComputedWeights &weights,
                                         ArrayRef<int64_t> depth, int pair, int64_t block) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  AffineExpr lane = b.getAffineDimExpr(weights.lane);
  SmallVector<int64_t> shape{static_cast<int64_t>(llvm::divideCeil(ranges[weights.lane], block))};
  SmallVector<AffineExpr> exprs{lane.floorDiv(block)};
  auto walk = [&](int64_t loop) {
    shape.push_back(ranges[loop]);
    exprs.push_back(b.getAffineDimExpr(loop));
  };
  llvm::for_each(pair >= 0 ? depth.drop_back() : depth, walk);
  shape.push_back(block);
  exprs.push_back(lane % block);
  if (pair >= 0)
    walk(pair);
  SmallVector<int64_t> strides = computeSuffixProduct(shape);
  strides.front() = 0; // one panel, for all blocks by turns
  auto layout = StridedLayoutAttr::get(b.getContext(), /*offset=*/0, strides);
  auto type = MemRefType::get(shape, weights.value.getType(), layout);
  Value panel = b.create<UnrealizedConversionCastOp>(op.getLoc(), type, ValueRange()).getResult(0);
  auto read = AffineMap::get(op.getNumLoops(), 0, exprs, b.getContext());
  return b.create<linalg::GenericOp>(op.getLoc(), TypeRange(), ValueRange{op.getDpsInputs()[weights.data], panel},
                                     op.getDpsInits(), ArrayRef<AffineMap>{maps[weights.data], read, maps.back()},
                                     op.getIteratorTypesArray(), buildProductSum);
}

/// The nest of `ops` with its reduction by panels, for any number of rows; or as `inRegisters`, if the panels' would
/// not have rows of a block's lanes.
static double emitByPanels(OpBuilder &b, Location loc, ArrayRef<linalg::GenericOp> ops, const LoopNest &nest,
                           LoopNest &inRegisters, const ComputedWeights &weights, ArrayRef<int64_t> depth,
                           const NestOptions &options) {
  int pair = pairOf(nest, weights, depth);
  linalg::GenericOp op = nest.reduce->op;
  linalg::GenericOp product = multiplyByPanel(b, op, weights, depth, pair, blockOf(nest, weights));
  SmallVector<linalg::GenericOp> all(ops);
  std::replace(all.begin(), all.end(), op, product);
  LoopNest byPanel = *buildLoopNest(b, all); // as it did of `ops`
  auto type = cast<MemRefType>(product.getDpsInputs()[1].getType());
  // The loops are still those of the nest that fills it.
  WeightPanel panel{nest, weights, byPanel.reduce->inputs[1], type.getNumElements() / type.getDimSize(0), pair};
  simplify(b, loc, byPanel);
  NestPlan plan = planNest(byPanel, options);
  bool fits =
      plan.row >= 0 && plan.lane == byPanel.reduce->inputs[1].blockedLoop && plan.matrix.has_value() == (pair >= 0);
  double ns = fits ? emitLoopNest(b, loc, byPanel, options, &panel) : emitLoopNest(b, loc, inRegisters, options);
  product.erase();
  return ns;
}

std::optional<double> strata::emitWithPanels(OpBuilder &b, Location loc, ArrayRef<linalg::GenericOp> ops,
                                             const LoopNest &nest, const NestOptions &options) {
  std::optional<ComputedWeights> weights = nest.reduce ? matchComputedWeights(nest.reduce->op) : std::nullopt;
  SmallVector<int64_t> depth = weights ? depthOf(nest, *weights) : SmallVector<int64_t>();
  if (depth.empty() || !blockOf(nest, *weights))
    return std::nullopt;
  LoopNest inRegisters = nest;
  simplify(b, loc, inRegisters);
  Extent rows = countRows(b, loc, nest, *weights);
  if (rows.isKnown()) {
    if (rows.known <= planNest(inRegisters, options).rowTile)
      return emitLoopNest(b, loc, inRegisters, options);
    return emitByPanels(b, loc, ops, nest, inRegisters, *weights, depth, options);
  }
  NestOptions ofFew = options;
  ofFew.mostRows = fewRows;
  return emitFewOrMany(
      b, loc, rows.value, fewRows, [&] { emitLoopNest(b, loc, inRegisters, ofFew); },
      [&] { return emitByPanels(b, loc, ops, nest, inRegisters, *weights, depth, options); });
}
