//===- SplitGroups.cpp - wide groups of filters become convolutions -------===//
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"
#include "LinalgQueries.h"
#include "Padding.h"
#include "ProductSums.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

namespace strata {
#define GEN_PASS_DEF_SPLITGROUPS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using strata::positionOf;

namespace {
/// A convolution y(n, g, f, h, w) += x(n, g, c, h + kh, w + kw) * weights(g, f, c, kh, kw) between reshapes that make
/// the channels groups and back.
struct GroupedConvolution {
  linalg::GenericOp op;
  unsigned group; ///< the loop
  tensor::ExpandShapeOp data, weights;
  linalg::FillOp start;
  tensor::CollapseShapeOp result;
  int64_t groups, channels, filters; ///< the latter two of a group

  static std::optional<GroupedConvolution> match(linalg::GenericOp op, const strata::ConstantExpressions &constants);
  void split(OpBuilder &b);
};
} // namespace

/// The reshape of `operand` that makes of one dimension `group` and the one behind it.
static tensor::ExpandShapeOp matchGroups(linalg::GenericOp op, unsigned operand, unsigned group) {
  auto expand = op->getOperand(operand).getDefiningOp<tensor::ExpandShapeOp>();
  std::optional<unsigned> at = positionOf(op.getIndexingMapsArray()[operand], group);
  if (!expand || !at)
    return {};
  for (auto [source, parts] : llvm::enumerate(expand.getReassociationIndices()))
    if (parts.size() != (source == *at ? 2 : 1))
      return {};
  return expand;
}

std::optional<GroupedConvolution> GroupedConvolution::match(linalg::GenericOp op,
                                                            const strata::ConstantExpressions &constants) {
  constexpr int64_t leastChannels = 16, manyChannels = 48;
  std::optional<strata::ProductSum> sum = strata::matchProductSum(op);
  if (!sum || !sum->sum.isF32() || !sum->elements[0].isF32() || !sum->elements[1].isF32() ||
      !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  GroupedConvolution found{op, 0, {}, {}, {}, {}, 0, 0, 0};
  std::optional<unsigned> group;
  for (unsigned dim = 0; dim < kinds.size(); ++dim)
    if (kinds[dim] == utils::IteratorType::parallel &&
        llvm::all_of(maps, [&](AffineMap map) { return positionOf(map, dim).has_value(); }))
      group = dim;
  if (!group || !op->hasOneUse())
    return std::nullopt;
  found.group = *group;
  found.data = matchGroups(op, 0, *group);
  found.weights = matchGroups(op, 1, *group);
  found.start = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  found.result = dyn_cast<tensor::CollapseShapeOp>(*op->user_begin());
  std::optional<unsigned> to = positionOf(maps[2], *group);
  if (!found.data || !found.weights || !found.start || !found.result || !constants.isConstant(found.weights.getSrc()))
    return std::nullopt;
  for (auto [dim, parts] : llvm::enumerate(found.result.getReassociationIndices()))
    if (parts.size() != (dim == *to ? 2 : 1))
      return std::nullopt;
  // Steps of one pixel: the windows that minimal filtering computes.
  int64_t taps = 1;
  for (AffineExpr expr : maps[0].getResults())
    if (std::optional<strata::PaddedLoop> window = strata::matchWindow(expr, kinds)) {
      if (window->stride != 1 || ShapedType::isDynamic(ranges[window->tap]))
        return std::nullopt;
      taps *= ranges[window->tap];
    } else if (!isa<AffineDimExpr>(expr)) {
      return std::nullopt;
    }
  found.groups = ranges[*group];
  found.channels = found.data.getResultType().getDimSize(*positionOf(maps[0], *group) + 1);
  found.filters = cast<RankedTensorType>(op.getResult(0).getType()).getDimSize(*to + 1);
  bool isWide = found.channels >= leastChannels && found.filters >= leastChannels;
  int64_t mostGroups = found.channels >= manyChannels ? 32 : 16;
  return taps > 1 && isWide && found.groups >= 2 && found.groups <= mostGroups ? std::optional(found) : std::nullopt;
}

/// The part of `tensor` that is `size` long from `number * size` on in dimension `dim`.
static Value part(OpBuilder &b, Location loc, Value tensor, unsigned dim, int64_t number, int64_t size) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)), strides(sizes.size(), b.getIndexAttr(1));
  offsets[dim] = b.getIndexAttr(number * size);
  sizes[dim] = b.getIndexAttr(size);
  return b.create<tensor::ExtractSliceOp>(loc, tensor, offsets, sizes, strides);
}

void GroupedConvolution::split(OpBuilder &b) {
  Location loc = op.getLoc();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  unsigned from = *positionOf(maps[0], group), of = *positionOf(maps[1], group), to = *positionOf(maps[2], group);
  // Without the loop over groups.
  llvm::SmallBitVector groupLoop(kinds.size());
  groupLoop.set(group);
  for (AffineMap &map : maps)
    map = projectDims(map.dropResult(*positionOf(map, group)), groupLoop, /*compressDimsFlag=*/true);
  kinds.erase(kinds.begin() + group);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, start.getResult(0));
  sizes.erase(sizes.begin() + to);
  Value empty = b.create<tensor::EmptyOp>(loc, sizes, b.getF32Type());
  Value init = b.create<linalg::FillOp>(loc, start.getInputs()[0], empty).getResult(0);
  SmallVector<Value> parts;
  for (int64_t number = 0; number < groups; ++number) {
    SmallVector<Value> inputs{part(b, loc, data.getSrc(), from, number, channels),
                              part(b, loc, weights.getSrc(), of, number, filters)};
    auto convolution = b.create<linalg::GenericOp>(loc, init.getType(), inputs, init, maps, kinds);
    IRMapping mapping;
    op.getRegion().cloneInto(&convolution.getRegion(), mapping);
    parts.push_back(convolution.getResult(0));
  }
  result.replaceAllUsesWith(b.create<tensor::ConcatOp>(loc, to, parts).getResult());
  result.erase();
}

namespace {
struct SplitGroupsPass : strata::impl::SplitGroupsBase<SplitGroupsPass> {
  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    SmallVector<GroupedConvolution> found;
    getOperation().walk([&](linalg::GenericOp op) {
      if (auto convolution = GroupedConvolution::match(op, constants))
        found.push_back(*convolution);
    });
    for (GroupedConvolution &convolution : found) {
      OpBuilder b(convolution.result);
      convolution.split(b);
      convolution.op.erase();
    }
  }
};
} // namespace
