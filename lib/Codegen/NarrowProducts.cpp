//===- NarrowProducts.cpp - operands of products rounded to bf16 ----------===//
//
// What a matrix unit would not speed up, or would not take, keeps its f32.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace strata {
#define GEN_PASS_DEF_NARROWPRODUCTS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

/// Products per result and results per weight below which the conversion would cost what the unit gains.
static constexpr int64_t leastDepth = 32, leastLanes = 16;

namespace {
struct NarrowProductsPass : strata::impl::NarrowProductsBase<NarrowProductsPass> {
  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    SmallVector<std::pair<linalg::GenericOp, unsigned>> found;
    for (auto op : getOperation().getOps<linalg::GenericOp>())
      for (unsigned weights : {0u, 1u})
        if (isWorthNarrowing(op, weights, constants))
          found.push_back({op, weights});
    for (auto [op, weights] : found)
      narrow(op);
  }

private:
  DenseMap<Value, Value> known; ///< what has been narrowed

  static bool isWorthNarrowing(linalg::GenericOp op, unsigned weights, const strata::ConstantExpressions &constants) {
    std::optional<strata::ProductSum> sum = strata::matchProductSum(op);
    if (!sum || !op.hasPureTensorSemantics() || !sum->sum.isF32() || !sum->elements[0].isF32() ||
        !sum->elements[1].isF32())
      return false;
    OpOperand *w = op.getDpsInputOperand(weights), *data = op.getDpsInputOperand(1 - weights);
    AffineMap map = op.getMatchingIndexingMap(w), dataMap = op.getMatchingIndexingMap(data);
    if (!constants.isConstant(w->get()) || constants.isConstant(data->get()) || !strata::isPlain(map) ||
        !op.getIndexingMapsArray().back().isProjectedPermutation())
      return false;
    // The channels of a window become the last dimension, those of a product are it.
    bool windowed = !strata::isPlain(dataMap);
    std::optional<unsigned> lane = strata::getLaneOf(op, weights);
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    int64_t lanes = 1, depth = 1, inner = 1;
    for (auto [dim, size] : llvm::enumerate(ranges)) {
      bool shared = map.isFunctionOfDim(dim) && dataMap.isFunctionOfDim(dim);
      if (kinds[dim] == utils::IteratorType::reduction) {
        if (!shared || ShapedType::isDynamic(size))
          return false;
        depth *= size;
        if (llvm::is_contained(dataMap.getResults(), getAffineDimExpr(dim, op.getContext())))
          inner = std::max(inner, size);
      } else if (windowed ? map.isFunctionOfDim(dim) && !shared : lane == dim) {
        lanes = std::max(lanes, size);
      }
    }
    return lanes >= leastLanes && depth >= leastDepth && inner > 1;
  }

  /// `value` in bf16, converted where it is made; the padding of an operand pads what is converted.
  Value narrowed(Value value) {
    if (Value done = known.lookup(value))
      return done;
    OpBuilder b(value.getContext());
    b.setInsertionPointAfterValue(value);
    Location loc = value.getLoc();
    auto type = cast<RankedTensorType>(value.getType());
    auto bf16 = b.getBF16Type();
    Value result;
    auto pad = value.getDefiningOp<tensor::PadOp>();
    FloatAttr padding;
    if (pad && pad.getConstantPaddingValue() && matchPattern(pad.getConstantPaddingValue(), m_Constant(&padding))) {
      Value constant = b.create<arith::ConstantOp>(loc, b.getFloatAttr(bf16, padding.getValueAsDouble()));
      result = b.create<tensor::PadOp>(loc, type.clone(bf16), narrowed(pad.getSource()), pad.getMixedLowPad(),
                                       pad.getMixedHighPad(), constant);
    } else {
      Value empty = b.create<tensor::EmptyOp>(loc, tensor::getMixedSizes(b, loc, value), bf16);
      AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
      SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
      result = b.create<linalg::GenericOp>(loc, empty.getType(), value, empty, ArrayRef{identity, identity}, kinds,
                                           [&](OpBuilder &b, Location loc, ValueRange arguments) {
                                             Value rounded = b.create<arith::TruncFOp>(loc, bf16, arguments[0]);
                                             b.create<linalg::YieldOp>(loc, rounded);
                                           })
                   .getResult(0);
    }
    return known[value] = result;
  }

  void narrow(linalg::GenericOp op) {
    SmallVector<Value> inputs;
    for (Value input : op.getDpsInputs())
      inputs.push_back(narrowed(input));
    OpBuilder b(op);
    auto product = b.create<linalg::GenericOp>(
        op.getLoc(), op.getResultTypes(), inputs, op.getDpsInits(), op.getIndexingMapsArray(),
        op.getIteratorTypesArray(), [](OpBuilder &b, Location loc, ValueRange arguments) {
          Type f32 = arguments[2].getType();
          Value x = b.create<arith::ExtFOp>(loc, f32, arguments[0]),
                y = b.create<arith::ExtFOp>(loc, f32, arguments[1]);
          Value sum = b.create<arith::AddFOp>(loc, b.create<arith::MulFOp>(loc, x, y), arguments[2]);
          b.create<linalg::YieldOp>(loc, sum);
        });
    op.replaceAllUsesWith(product);
    op.erase();
  }
};
} // namespace
