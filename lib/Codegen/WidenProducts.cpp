//===- WidenProducts.cpp - operands of products extended to 16 bits -------===//
//
// Vectors that multiply 16-bit integers only would extend the same bytes in each
// step of a reduction. Where many rows share the weights, both operands are kept in
// 16 bits: the weights from the start, the data from where it is made.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"
#include "Conversions.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace strata {
#define GEN_PASS_DEF_WIDENPRODUCTS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

/// Rows that read the weights: of few, the bytes of the weights are what takes time.
static constexpr int64_t leastRows = 16;

namespace {
struct WidenProductsPass : strata::impl::WidenProductsBase<WidenProductsPass> {
  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    SmallVector<std::pair<linalg::GenericOp, strata::ProductSum>> found;
    getOperation().walk([&](linalg::GenericOp op) {
      std::optional<strata::ProductSum> sum = strata::matchProductSum(op);
      if (!sum || !sum->sum.isInteger(32) || !sum->elements[0].isInteger(8) || !sum->elements[1].isInteger(8))
        return;
      auto isWorthWidening = [&](unsigned weights) {
        return strata::canGroup(op, weights, constants) &&
               strata::getUses(op, op.getDpsInputOperand(weights)) >= leastRows;
      };
      if (isWorthWidening(0) || isWorthWidening(1))
        found.push_back({op, *sum});
    });
    for (auto &[op, sum] : found)
      widen(op, sum);
    for (linalg::GenericOp conversion : conversions)
      strata::joinWithProducer(conversion);
    if (conversions.empty())
      return;
    // Bytes that nobody reads any more.
    RewritePatternSet patterns(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    (void)applyPatternsAndFoldGreedily(getOperation(), std::move(patterns));
  }

private:
  SmallVector<linalg::GenericOp> conversions;
  DenseMap<Value, Value> known[2]; ///< what has been extended: as signed, as unsigned

  static Value extend(OpBuilder &b, Location loc, Value value, AffineMap map, bool isUnsigned) {
    auto type = cast<RankedTensorType>(value.getType());
    Type wide = b.getI16Type();
    SmallVector<OpFoldResult> sizes(type.getRank()), from = tensor::getMixedSizes(b, loc, value);
    for (auto [size, expr] : llvm::zip_equal(from, map.getResults()))
      sizes[cast<AffineDimExpr>(expr).getPosition()] = size;
    Value empty = b.create<tensor::EmptyOp>(loc, sizes, wide);
    SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
    AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
    return b
        .create<linalg::GenericOp>(loc, empty.getType(), value, empty, ArrayRef{map, identity}, kinds,
                                   [&](OpBuilder &b, Location loc, ValueRange arguments) {
                                     Value x = arguments[0];
                                     x = isUnsigned ? b.create<arith::ExtUIOp>(loc, wide, x).getResult()
                                                    : b.create<arith::ExtSIOp>(loc, wide, x).getResult();
                                     b.create<linalg::YieldOp>(loc, x);
                                   })
        .getResult(0);
  }

  /// `value` in 16 bits, extended where it is made: before it is padded or put beside others.
  Value widened(Value value, bool isUnsigned) {
    if (Value done = known[isUnsigned].lookup(value))
      return done;
    OpBuilder b(value.getContext());
    b.setInsertionPointAfterValue(value);
    Location loc = value.getLoc();
    auto type = cast<RankedTensorType>(value.getType());
    Operation *maker = value.getDefiningOp();
    APInt padding;
    Value result;
    if (auto pad = dyn_cast_or_null<tensor::PadOp>(maker);
        pad && pad.getConstantPaddingValue() && matchPattern(pad.getConstantPaddingValue(), m_ConstantInt(&padding))) {
      padding = isUnsigned ? padding.zext(16) : padding.sext(16);
      Value source = widened(pad.getSource(), isUnsigned);
      Value constant = b.create<arith::ConstantOp>(loc, b.getIntegerAttr(b.getI16Type(), padding));
      result = b.create<tensor::PadOp>(loc, type.clone(b.getI16Type()), source, pad.getMixedLowPad(),
                                       pad.getMixedHighPad(), constant);
    } else if (isa_and_nonnull<tensor::ConcatOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(maker)) {
      IRMapping mapping;
      for (Value operand : maker->getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          mapping.map(operand, widened(operand, isUnsigned));
      Operation *moved = b.clone(*maker, mapping);
      moved->getResult(0).setType(type.clone(b.getI16Type()));
      result = moved->getResult(0);
    } else if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(maker)) {
      // The permutation is from the result's dimensions to the operand's.
      auto map = AffineMap::getPermutationMap(transpose.getPermutation(), b.getContext());
      result = extend(b, loc, transpose.getInput(), inversePermutation(map), isUnsigned);
    } else {
      result = extend(b, loc, value, b.getMultiDimIdentityMap(type.getRank()), isUnsigned);
      conversions.push_back(result.getDefiningOp<linalg::GenericOp>());
    }
    return known[isUnsigned][value] = result;
  }

  void widen(linalg::GenericOp op, const strata::ProductSum &sum) {
    SmallVector<Value> inputs;
    for (auto [input, isUnsigned] : llvm::zip_equal(op.getDpsInputs(), sum.isUnsigned))
      inputs.push_back(widened(input, isUnsigned));
    OpBuilder b(op);
    auto product = b.create<linalg::GenericOp>(
        op.getLoc(), op.getResultTypes(), inputs, op.getDpsInits(), op.getIndexingMapsArray(),
        op.getIteratorTypesArray(), [](OpBuilder &b, Location loc, ValueRange arguments) {
          Type i32 = arguments[2].getType();
          Value x = b.create<arith::ExtSIOp>(loc, i32, arguments[0]),
                y = b.create<arith::ExtSIOp>(loc, i32, arguments[1]);
          Value sum = b.create<arith::AddIOp>(loc, arguments[2], b.create<arith::MulIOp>(loc, x, y));
          b.create<linalg::YieldOp>(loc, sum);
        });
    auto largest = [&](unsigned input) -> int64_t { return sum.isUnsigned[input] ? 255 : 128; };
    product->setAttr(strata::kLargestProduct, b.getI64IntegerAttr(largest(0) * largest(1)));
    op.replaceAllUsesWith(product);
    op.erase();
  }
};
} // namespace
