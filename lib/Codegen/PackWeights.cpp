//===- PackWeights.cpp - operands of contractions in the order of use -----===//
//
// The vector lanes of a contraction go along the last dimension of its result.
// An operand that depends on it must have it last, too; constant weights are also
// blocked, so that the vectors of one register tile lie one after another over
// the whole reduction.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "ConstantExpressions.h"

namespace strata {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

static Value transposed(OpBuilder &b, Location loc, Value value,
                        ArrayRef<int64_t> permutation) {
  if (isIdentityPermutation(permutation))
    return value;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, value);
  applyPermutationToVector(sizes, permutation);
  Value empty = b.create<tensor::EmptyOp>(
      loc, sizes, cast<RankedTensorType>(value.getType()).getElementType());
  return b.create<linalg::TransposeOp>(loc, value, empty, permutation)
      .getResult()[0];
}

static bool isPlain(AffineMap map) {
  return llvm::all_of(map.getResults(), [](AffineExpr e) {
    return isa<AffineDimExpr, AffineConstantExpr>(e);
  });
}

namespace {
struct PackWeightsPass : strata::impl::PackWeightsBase<PackWeightsPass> {
  using PackWeightsBase::PackWeightsBase;

  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && op.getNumReductionLoops() &&
          op.getNumDpsInits() == 1 && op.getNumDpsInputs() == 2)
        ops.push_back(op);
    });
    for (linalg::GenericOp op : ops) {
      foldTransposes(op, constants);
      arrange(op, constants);
    }
  }

private:
  /// The result's last dimension.
  static std::optional<unsigned> laneOf(linalg::GenericOp op) {
    AffineMap out = op.getIndexingMapsArray().back();
    if (!out.getNumResults())
      return std::nullopt;
    auto dim = dyn_cast<AffineDimExpr>(out.getResults().back());
    return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
  }

  static bool hasLast(AffineMap map, unsigned lane) {
    return map.getNumResults() &&
           map.getResults().back() == getAffineDimExpr(lane, map.getContext());
  }

  /// A transposed operand is read where it lies, if the lanes stay contiguous or it is packed anyway.
  static void foldTransposes(linalg::GenericOp op, const strata::ConstantExpressions &constants) {
    std::optional<unsigned> lane = laneOf(op);
    if (!lane)
      return;
    for (OpOperand *input : op.getDpsInputOperands())
      while (auto transpose =
                 input->get().getDefiningOp<linalg::TransposeOp>()) {
        AffineMap map = op.getMatchingIndexingMap(input);
        SmallVector<AffineExpr> results(map.getNumResults());
        for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
          results[from] = map.getResult(to);
        AffineMap folded =
            AffineMap::get(map.getNumDims(), 0, results, op.getContext());
        if (map.isFunctionOfDim(*lane) && hasLast(map, *lane) && !hasLast(folded, *lane) &&
            !constants.isConstant(input->get()))
          break;
        SmallVector<AffineMap> maps = op.getIndexingMapsArray();
        maps[input->getOperandNumber()] = folded;
        op.setIndexingMapsAttr(
            Builder(op.getContext()).getAffineMapArrayAttr(maps));
        input->set(transpose.getInput());
      }
  }

  void arrange(linalg::GenericOp op, const strata::ConstantExpressions &constants) {
    std::optional<unsigned> lane = laneOf(op);
    if (!lane)
      return;
    OpOperand *a = op.getDpsInputOperand(0), *w = op.getDpsInputOperand(1);
    auto depends = [&](OpOperand *operand) {
      return op.getMatchingIndexingMap(operand).isFunctionOfDim(*lane);
    };
    if (!depends(w))
      std::swap(a, w);
    for (OpOperand *operand : {a, w}) {
      AffineMap map = op.getMatchingIndexingMap(operand);
      if (!depends(operand) || !isPlain(map))
        continue;
      bool constant = constants.isConstant(operand->get());
      bool weights = operand == w && !depends(a);
      if (constant)
        reorder(op, operand, a, *lane, weights);
      else if (!hasLast(map, *lane) && isWorthMoving(op, operand, *lane))
        moveLaneLast(op, operand, *lane);
    }
  }

  /// Each element is used often enough to pay for a copy.
  static bool isWorthMoving(linalg::GenericOp op, OpOperand *operand,
                            unsigned lane) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    if (!ShapedType::isDynamic(ranges[lane]) && ranges[lane] < 4)
      return false;
    int64_t uses = 1;
    for (unsigned loop = 0; loop < ranges.size(); ++loop)
      if (!map.isFunctionOfDim(loop))
        uses *= ShapedType::isDynamic(ranges[loop]) ? 16 : ranges[loop];
    return uses >= 4;
  }

  static void replace(linalg::GenericOp op, OpOperand *operand, Value value,
                      AffineMap map) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[operand->getOperandNumber()] = map;
    op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
    operand->set(value);
  }

  static void moveLaneLast(linalg::GenericOp op, OpOperand *operand,
                           unsigned lane) {
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
    replace(op, operand, moved,
            AffineMap::get(map.getNumDims(), 0, results, op.getContext()));
  }

  /// Elements `first` to `first + count` of dimension `dim`.
  static Value slice(OpBuilder &b, Location loc, Value value, int64_t dim, int64_t first, int64_t count) {
    auto type = cast<RankedTensorType>(value.getType());
    if (count == type.getDimSize(dim))
      return value;
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, value);
    offsets[dim] = b.getIndexAttr(first);
    sizes[dim] = b.getIndexAttr(count);
    return b.create<tensor::ExtractSliceOp>(loc, value, offsets, sizes, strides);
  }

  /// Dimension `dim` in blocks, the last one filled up with zeros, as dimensions `dim` and `dim + 1`; then transposed.
  /// Only the rest that does not fill a block is copied more than once.
  static Value inBlocks(OpBuilder &b, Location loc, Value value, int64_t dim, int64_t block, ArrayRef<int64_t> order) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t size = type.getDimSize(dim), full = size / block, rest = size % block;
    auto whole = [&](Value part) -> Value {
      auto partType = cast<RankedTensorType>(part.getType());
      SmallVector<int64_t> shape(partType.getShape());
      shape[dim] /= block;
      shape.insert(shape.begin() + dim + 1, block);
      SmallVector<ReassociationIndices> groups;
      for (int64_t i = 0; i < type.getRank(); ++i)
        groups.push_back(i < dim    ? ReassociationIndices{i}
                         : i == dim ? ReassociationIndices{i, i + 1}
                                    : ReassociationIndices{i + 1});
      return b.create<tensor::ExpandShapeOp>(loc, partType.clone(shape), part, groups);
    };
    if (rest == 0)
      return transposed(b, loc, whole(value), order);
    // Each part is written where it belongs. `blocks` is the dimension that the transposition makes of that of the blocks.
    int64_t blocks = llvm::find(order, dim) - order.begin();
    SmallVector<int64_t> packed(type.getShape());
    packed[dim] = full + 1;
    packed.insert(packed.begin() + dim + 1, block);
    applyPermutationToVector(packed, order);
    Value result = b.create<tensor::EmptyOp>(loc, packed, type.getElementType());
    auto insert = [&](Value part, int64_t first) {
      SmallVector<OpFoldResult> offsets(packed.size(), b.getIndexAttr(0)), strides(packed.size(), b.getIndexAttr(1));
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, part);
      applyPermutationToVector(sizes, order);
      offsets[blocks] = b.getIndexAttr(first);
      Value place = b.create<tensor::ExtractSliceOp>(loc, result, offsets, sizes, strides);
      Value moved = b.create<linalg::TransposeOp>(loc, part, place, order).getResult()[0];
      result = b.create<tensor::InsertSliceOp>(loc, moved, result, offsets, sizes, strides);
    };
    insert(whole(slice(b, loc, value, dim, 0, full * block)), 0);
    SmallVector<OpFoldResult> low(type.getRank(), b.getIndexAttr(0)), high = low;
    high[dim] = b.getIndexAttr(block - rest);
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = block;
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type.getElementType()));
    Value tail = slice(b, loc, value, dim, full * block, rest);
    insert(whole(b.create<tensor::PadOp>(loc, type.clone(shape), tail, low, high, zero)), full);
    return result;
  }

  /// Parallel dimensions first, then those of the reduction in the order in which
  /// the data has them, then the lanes: [.., lanes / block, reduction.., block].
  void reorder(linalg::GenericOp op, OpOperand *operand, OpOperand *data,
               unsigned lane, bool weights) {
    MLIRContext *context = op.getContext();
    AffineMap map = op.getMatchingIndexingMap(operand);
    AffineMap dataMap = op.getMatchingIndexingMap(data);
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    auto type = cast<RankedTensorType>(operand->get().getType());
    SmallVector<std::pair<int64_t, int64_t>> head, middle; // (key, position)
    int64_t last = -1;
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim && dim.getPosition() == lane) {
        last = i;
      } else if (dim && kinds[dim.getPosition()] == utils::IteratorType::reduction) {
        int64_t key = 0;
        for (auto [p, e] : llvm::enumerate(dataMap.getResults()))
          if (e.isFunctionOfDim(dim.getPosition()))
            key = p;
        middle.push_back({key, i});
      } else {
        head.push_back({i, i});
      }
    }
    llvm::sort(middle);
    int64_t lanes = type.getDimSize(last);
    int64_t bits = type.getElementType().isIntOrFloat()
                       ? type.getElementTypeBitWidth() : 32;
    int64_t block = 2 * vectorBits / std::max<int64_t>(bits, 32);
    bool blocked = weights && !middle.empty() && lanes > block;
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value value = operand->get();
    SmallVector<AffineExpr> exprs(map.getResults());
    if (blocked) {
      AffineExpr d = getAffineDimExpr(lane, context);
      exprs[last] = d % block;
      exprs.insert(exprs.begin() + last, d.floorDiv(block));
      for (auto *list : {&head, &middle})
        for (auto &[key, position] : *list)
          if (position > last)
            ++position;
      head.push_back({last, last});
      ++last;
    }
    SmallVector<int64_t> order;
    for (auto &[key, position] : head)
      order.push_back(position);
    for (auto &[key, position] : middle)
      order.push_back(position);
    order.push_back(last);
    value = blocked ? inBlocks(b, loc, value, last - 1, block, order) : transposed(b, loc, value, order);
    applyPermutationToVector(exprs, order);
    replace(op, operand, value, AffineMap::get(map.getNumDims(), 0, exprs, context));
  }
};
} // namespace
