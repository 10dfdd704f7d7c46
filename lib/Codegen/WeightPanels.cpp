//===- WeightPanels.cpp - computed weights, once for all rows -------------===//
#include "WeightPanels.h"
#include "LinalgQueries.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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
  return block;
}

/// The same product of the data and a panel: the loops of the reduction in the order of the data, then the lanes. It
/// stands in front of `op`; what it reads has no base yet.
static linalg::GenericOp multiplyByPanel(linalg::GenericOp op, const ComputedWeights &weights, ArrayRef<int64_t> order,
                                         int64_t block) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  AffineExpr lane = b.getAffineDimExpr(weights.lane);
  SmallVector<int64_t> shape{static_cast<int64_t>(llvm::divideCeil(ranges[weights.lane], block))}, strides{1};
  SmallVector<AffineExpr> exprs{lane.floorDiv(block)};
  for (int64_t loop : order) {
    shape.push_back(ranges[loop]);
    exprs.push_back(b.getAffineDimExpr(loop));
  }
  shape.push_back(block);
  exprs.push_back(lane % block);
  // One panel, for all blocks by turns.
  for (int64_t size : llvm::reverse(ArrayRef(shape).drop_front(1)))
    strides.insert(strides.begin(), size * strides.front());
  strides.front() = 0;
  auto layout = StridedLayoutAttr::get(b.getContext(), /*offset=*/0, strides);
  auto type = MemRefType::get(shape, b.getF32Type(), layout);
  Value panel = b.create<UnrealizedConversionCastOp>(loc, type, ValueRange()).getResult(0);
  auto read = AffineMap::get(op.getNumLoops(), 0, exprs, b.getContext());
  return b.create<linalg::GenericOp>(loc, TypeRange(), ValueRange{op.getDpsInputs()[weights.data], panel},
                                     op.getDpsInits(), ArrayRef<AffineMap>{maps[weights.data], read, maps.back()},
                                     op.getIteratorTypesArray(), buildProductSum);
}

std::optional<double> strata::emitWithPanels(OpBuilder &b, Location loc, ArrayRef<linalg::GenericOp> ops,
                                             LoopNest &nest, const NestOptions &options) {
  std::optional<ComputedWeights> weights = nest.reduce ? matchComputedWeights(nest.reduce->op) : std::nullopt;
  if (!weights)
    return std::nullopt;
  linalg::GenericOp op = nest.reduce->op;
  int64_t block = blockOf(nest, *weights), elements = block;
  AffineMap read = op.getIndexingMapsArray()[weights->data];
  SmallVector<int64_t> order;
  int64_t rows = 1;
  Value manyRows;
  for (auto [dim, loop] : llvm::enumerate(nest.loops)) {
    if (loop.reduction) {
      if (!loop.size.isKnown() || !positionOf(read, dim))
        return std::nullopt;
      order.push_back(dim);
      elements *= loop.size.known;
    } else if (dim != weights->lane) {
      rows *= loop.size.isKnown() ? loop.size.known : 1;
      if (!loop.size.isKnown())
        manyRows = manyRows ? b.create<arith::MulIOp>(loc, manyRows, loop.size.value).getResult() : loop.size.value;
    }
  }
  if (!block || order.empty() || !nest.loops[weights->lane].size.isKnown())
    return std::nullopt;
  llvm::sort(order, [&](int64_t x, int64_t y) { return *positionOf(read, x) < *positionOf(read, y); });

  LoopNest few = nest;
  simplify(b, loc, few);
  NestOptions without = options;
  if (manyRows)
    without.mostRows = std::max<int64_t>(1, fewRows / std::max<int64_t>(rows, 1));
  else if (rows <= planNest(few, options).rowTile)
    return emitLoopNest(b, loc, few, options);

  linalg::GenericOp product = multiplyByPanel(op, *weights, order, block);
  SmallVector<linalg::GenericOp> all(ops);
  std::replace(all.begin(), all.end(), op, product);
  FailureOr<LoopNest> many = buildLoopNest(b, all);
  if (failed(many))
    return std::nullopt;
  simplify(b, loc, *many);
  WeightPanel panel{nest, *weights, many->reduce->inputs[1], elements};
  panel.panel.strides.assign(nest.loops.size(), Extent());
  panel.panel.inside.assign(nest.loops.size(), -1);
  panel.panel.blockedLoop = weights->lane;
  for (int64_t dim : llvm::reverse(order)) {
    panel.panel.strides[dim] = {block, {}};
    block *= nest.loops[dim].size.known;
  }
  double ns = 0;
  if (manyRows) {
    if (rows != 1)
      manyRows = b.create<arith::MulIOp>(loc, manyRows, b.create<arith::ConstantIndexOp>(loc, rows));
    Value limit = b.create<arith::ConstantIndexOp>(loc, fewRows);
    Value areFew = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, manyRows, limit);
    auto choice = b.create<scf::IfOp>(loc, areFew, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    emitLoopNest(b, loc, few, without);
    b.setInsertionPointToStart(choice.elseBlock());
    ns = emitLoopNest(b, loc, *many, options, &panel);
  } else {
    ns = emitLoopNest(b, loc, *many, options, &panel);
  }
  product.erase();
  return ns;
}
