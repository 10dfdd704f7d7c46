//===- GroupReductions.cpp - narrow elements side by side, 32 bits at once ===//
//
// A matrix unit, or a vector instruction for dot products, takes the elements of 32
// bits of a row, two of bf16 or four of 8 bits, as one step of the reduction; the weights of such a step must lie side
// by side, too. So the step is a loop of its own.
//
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"
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
    if (step < wellFilled)
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
    for (linalg::GenericOp op : ops)
      for (unsigned weights : {0u, 1u})
        if (canGroup(op, weights, constants)) {
          // A matrix unit's tiles have rows of several lines.
          if (!tiles)
            strata::markPadding(op);
          group(op, weights);
          break;
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

  void group(linalg::GenericOp op, unsigned weights) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    SmallVector<Value> inputs(op.getDpsInputs());
    unsigned depth = *strata::innermost(maps[1 - weights]), dims = kinds.size();
    int64_t group = 32 / getElementTypeOrSelf(inputs[0].getType()).getIntOrFloatBitWidth();
    int64_t size = filledUp(op.getStaticLoopRanges()[depth], group, tiles);
    // Where weights that are given in each run are transposed, their copy does it, too.
    SmallVector<linalg::TransposeOp> folded;
    while (auto transpose = inputs[weights].getDefiningOp<linalg::TransposeOp>()) {
      folded.push_back(transpose);
      maps[weights] = strata::mapBehind(transpose, maps[weights]);
      inputs[weights] = transpose.getInput();
    }
    OpBuilder b(op);
    Location loc = op.getLoc();
    for (auto [i, map] : llvm::enumerate(maps)) {
      SmallVector<AffineExpr> results(map.getResults());
      if (i < inputs.size()) {
        int64_t at = llvm::find(results, b.getAffineDimExpr(depth)) - results.begin();
        results.insert(results.begin() + at + 1, b.getAffineDimExpr(dims));
        inputs[i] = strata::inGroups(b, loc, inputs[i], at, group, size);
      }
      map = AffineMap::get(dims + 1, 0, results, op.getContext());
    }
    kinds.push_back(utils::IteratorType::reduction);
    auto moved = b.create<linalg::GenericOp>(loc, op.getResultTypes(), inputs, op.getDpsInits(), maps, kinds);
    moved.getRegion().takeBody(op.getRegion());
    strata::setPaddedLoops(moved, strata::getPaddedLoops(op));
    op.replaceAllUsesWith(moved);
    op.erase();
    for (linalg::TransposeOp transpose : folded)
      if (transpose->use_empty())
        transpose.erase();
  }
};
} // namespace
