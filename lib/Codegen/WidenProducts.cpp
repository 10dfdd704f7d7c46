//===- WidenProducts.cpp - operands of products in what is multiplied -----===//
//
// Vectors that multiply 16-bit integers only would extend the same bytes in each
// step of a reduction, and those that multiply f32 the same f16. Where many rows
// share the weights, both operands are kept as they are multiplied: the weights from
// the start, the data from where it is made.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"
#include "Conversions.h"
#include "EqualSizes.h"
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

/// What vectors multiply: f32, or integers of 16 bits.
static Type widerThan(Type element) {
  if (isa<FloatType>(element))
    return Float32Type::get(element.getContext());
  return IntegerType::get(element.getContext(), 16);
}

static Value extend(OpBuilder &b, Location loc, Value x, Type wide, bool isUnsigned) {
  if (isa<FloatType>(wide)) {
    auto extended = b.create<arith::ExtFOp>(loc, wide, x);
    extended.setFastmath(arith::FastMathFlags::contract); // as the operand's is that it takes the place of
    return extended;
  }
  return isUnsigned ? b.create<arith::ExtUIOp>(loc, wide, x).getResult()
                    : b.create<arith::ExtSIOp>(loc, wide, x).getResult();
}

static TypedAttr extend(TypedAttr padding, Type wide, bool isUnsigned) {
  if (auto number = dyn_cast<FloatAttr>(padding))
    return FloatAttr::get(wide, number.getValueAsDouble());
  APInt bits = cast<IntegerAttr>(padding).getValue();
  return IntegerAttr::get(wide, isUnsigned ? bits.zext(16) : bits.sext(16));
}

namespace {
struct WidenProductsPass : strata::impl::WidenProductsBase<WidenProductsPass> {
  using WidenProductsBase::WidenProductsBase;

  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    SmallVector<std::pair<linalg::GenericOp, strata::ProductSum>> found;
    getOperation().walk([&](linalg::GenericOp op) {
      std::optional<strata::ProductSum> sum = strata::matchProductSum(op);
      if (sum && areExactInPairs(op, *sum, constants))
        op->setAttr(strata::kExactPairs, UnitAttr::get(op.getContext()));
      else if (sum && (sum->sum.isF32() ? areWidened(op, *sum) : areWidened(op, *sum, constants)))
        found.push_back({op, *sum});
    });
    for (auto &[op, sum] : found)
      widen(op, sum);
    for (Value half : reducedHalves())
      widened(half, /*isUnsigned=*/false);
    for (auto [value, wide] : known[false])
      if (isRounded(value))
        readWide(value, wide);
    // Of floats, what computes elements is fused first.
    if (!bytes)
      return;
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

  bool isHalf(Type element) const { return (f16 && element.isF16()) || (bf16 && element.isBF16()); }

  /// Halves: an operand by itself. Windows read an element several times for each filter.
  bool isWidened(linalg::GenericOp op, const strata::ProductSum &sum, unsigned input) const {
    OpOperand *operand = op.getDpsInputOperand(input);
    int64_t least = strata::isPlain(op.getMatchingIndexingMap(operand)) ? strata::kManyRows : 2;
    return isHalf(sum.elements[input]) && strata::getUses(op, operand) >= least;
  }

  bool areWidened(linalg::GenericOp op, const strata::ProductSum &sum) const {
    return op.hasPureTensorSemantics() && (isWidened(op, sum, 0) || isWidened(op, sum, 1));
  }

  /// Products of bytes that vectors add in 16 bits without saturation: of weights of seven bits. Windows are left to
  /// minimal filtering, which wants more.
  bool areExactInPairs(linalg::GenericOp op, const strata::ProductSum &sum,
                       const strata::ConstantExpressions &constants) const {
    if (!bytePairs || !sum.sum.isInteger(32) || !sum.elements[0].isInteger(8) || !sum.elements[1].isInteger(8) ||
        sum.isUnsigned[0] == sum.isUnsigned[1])
      return false;
    SmallVector<unsigned> reductions;
    op.getReductionDims(reductions);
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    if (llvm::count_if(reductions, [&](unsigned loop) { return ranges[loop] != 1; }) > 1)
      return false;
    for (unsigned weights : {0u, 1u}) {
      auto [elements, type] = strata::elementsBehind(op.getDpsInputs()[weights]);
      if (elements.empty() || !type.isInteger(8) || !strata::canGroup(op, weights, constants))
        continue;
      // 2 * 64 * 255 and 2 * 127 * 128.
      int64_t most = sum.isUnsigned[weights] ? 127 : 64;
      return llvm::all_of(elements, [&](char byte) {
        return sum.isUnsigned[weights] ? static_cast<uint8_t>(byte) <= most
                                       : std::abs(static_cast<int64_t>(static_cast<int8_t>(byte))) <= most;
      });
    }
    return false;
  }

  /// Bytes: both, or none.
  bool areWidened(linalg::GenericOp op, const strata::ProductSum &sum,
                  const strata::ConstantExpressions &constants) const {
    if (!bytes || !sum.sum.isInteger(32) || !sum.elements[0].isInteger(8) || !sum.elements[1].isInteger(8))
      return false;
    auto isWorthWidening = [&](unsigned weights) {
      return strata::canGroup(op, weights, constants) &&
             strata::getUses(op, op.getDpsInputOperand(weights)) >= strata::kManyRows;
    };
    return isWorthWidening(0) || isWorthWidening(1);
  }

  static Value extendAll(OpBuilder &b, Location loc, Value value, AffineMap read, bool isUnsigned) {
    Type wide = widerThan(getElementTypeOrSelf(value));
    auto extended = [&](OpBuilder &b, Value x) { return extend(b, loc, x, wide, isUnsigned); };
    return strata::mapElements(b, loc, value, wide, extended, read).getResult(0);
  }

  /// `value` extended where it is made: before it is padded or put beside others.
  Value widened(Value value, bool isUnsigned) {
    if (Value done = known[isUnsigned].lookup(value))
      return done;
    OpBuilder b(value.getContext());
    strata::setInsertionPointBehindChecks(b, value);
    Location loc = value.getLoc();
    auto type = cast<RankedTensorType>(value.getType());
    Type wide = widerThan(type.getElementType());
    Operation *maker = value.getDefiningOp();
    TypedAttr padding;
    Value result;
    if (auto pad = dyn_cast_or_null<tensor::PadOp>(maker);
        pad && pad.getConstantPaddingValue() && matchPattern(pad.getConstantPaddingValue(), m_Constant(&padding))) {
      Value source = widened(pad.getSource(), isUnsigned);
      Value constant = b.create<arith::ConstantOp>(loc, extend(padding, wide, isUnsigned));
      result =
          b.create<tensor::PadOp>(loc, type.clone(wide), source, pad.getMixedLowPad(), pad.getMixedHighPad(), constant);
    } else if (isa_and_nonnull<tensor::ConcatOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(maker)) {
      IRMapping mapping;
      for (Value operand : maker->getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          mapping.map(operand, widened(operand, isUnsigned));
      Operation *moved = b.clone(*maker, mapping);
      moved->getResult(0).setType(type.clone(wide));
      result = moved->getResult(0);
    } else if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(maker)) {
      // The permutation is from the result's dimensions to the operand's.
      auto map = AffineMap::getPermutationMap(transpose.getPermutation(), b.getContext());
      result = extendAll(b, loc, transpose.getInput(), inversePermutation(map), isUnsigned);
    } else {
      result = extendAll(b, loc, value, {}, isUnsigned);
      conversions.push_back(result.getDefiningOp<linalg::GenericOp>());
    }
    return known[isUnsigned][value] = result;
  }

  /// Elements that an operator rounds, of which all readers do without that.
  static bool isRounded(Value value) {
    Operation *maker = value.getDefiningOp();
    if (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(maker))
      return isRounded(maker->getOperand(0));
    auto generic = dyn_cast_or_null<linalg::GenericOp>(maker);
    if (!generic || !isa<FloatType>(getElementTypeOrSelf(value)))
      return false;
    Value yielded = generic.getBody()->getTerminator()->getOperand(cast<OpResult>(value).getResultNumber());
    auto rounding = yielded.getDefiningOp<arith::TruncFOp>();
    return rounding && mayBeLeftOut(rounding);
  }

  template <typename Conversion> static bool mayBeLeftOut(Conversion op) {
    std::optional<arith::FastMathFlags> flags = op.getFastmath();
    return flags && arith::bitEnumContainsAll(*flags, arith::FastMathFlags::contract);
  }

  /// The argument that reads `use`, if it is extended and nothing else.
  static BlockArgument extendedArgument(OpOperand &use) {
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!reader || !reader.hasPureTensorSemantics() || !reader.isDpsInput(&use))
      return {};
    BlockArgument argument = reader.getMatchingBlockArgument(&use);
    bool isExtended = llvm::all_of(argument.getUsers(), [](Operation *user) {
      auto extension = dyn_cast<arith::ExtFOp>(user);
      return extension && extension.getType().isF32() && mayBeLeftOut(extension);
    });
    return isExtended ? argument : BlockArgument();
  }

  /// What reads `value` reads `wide` instead, which is stored anyway: where nothing else does, `value` is not.
  static void readWide(Value value, Value wide) {
    for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
      BlockArgument argument = extendedArgument(use);
      if (use.getOwner() == wide.getDefiningOp() || !argument)
        continue;
      use.set(wide);
      SmallVector<Operation *> extensions(argument.getUsers());
      argument.setType(getElementTypeOrSelf(wide));
      for (Operation *extension : extensions) {
        extension->replaceAllUsesWith(ValueRange(argument));
        extension->erase();
      }
    }
  }

  /// A reader that does not mind whether it is given the wide elements: not a product whose operands stay halves.
  bool canReadWide(OpOperand &use) const {
    std::optional<strata::ProductSum> sum;
    if (auto reader = dyn_cast<linalg::GenericOp>(use.getOwner()))
      sum = strata::matchProductSum(reader);
    return extendedArgument(use) && (!sum || isHalf(getElementTypeOrSelf(use.get())));
  }

  /// Halves that a reduction reads, and something else, too: rows of a softmax or a norm.
  SmallVector<Value> reducedHalves() {
    SmallVector<Value> found;
    getOperation().walk([&](linalg::GenericOp op) {
      for (OpOperand *input : op.getNumReductionLoops() ? op.getDpsInputOperands() : SmallVector<OpOperand *>())
        if (Value value = input->get(); isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(value)) &&
                                        isRounded(value) && !value.hasOneUse() &&
                                        llvm::all_of(value.getUses(), [&](OpOperand &use) { return canReadWide(use); }))
          found.push_back(value);
    });
    return found;
  }

  void widen(linalg::GenericOp op, const strata::ProductSum &sum) {
    for (unsigned input : {0u, 1u}) {
      Type element = sum.elements[input];
      if (isa<FloatType>(element) && !isWidened(op, sum, input))
        continue;
      OpOperand *operand = op.getDpsInputOperand(input);
      BlockArgument argument = op.getMatchingBlockArgument(operand);
      Operation *extension = *argument.user_begin();
      operand->set(widened(operand->get(), sum.isUnsigned[input]));
      argument.setType(widerThan(element));
      OpBuilder b(extension);
      Value x = argument;
      if (!isa<FloatType>(element))
        x = b.create<arith::ExtSIOp>(extension->getLoc(), sum.sum, x);
      extension->replaceAllUsesWith(ValueRange(x));
      extension->erase();
    }
    if (!sum.sum.isInteger())
      return;
    auto largest = [&](unsigned input) -> int64_t { return sum.isUnsigned[input] ? 255 : 128; };
    op->setAttr(strata::kLargestProduct, OpBuilder(op).getI64IntegerAttr(largest(0) * largest(1)));
  }
};
} // namespace
