//===- QuantisedBodies.cpp - quantised values between operations ----------===//
//
// A model in the QDQ form quantises and dequantises at every border between two
// operators, and says in f32 what lies between. Here what can be is kept, moved and
// compared as integers.
//
//===----------------------------------------------------------------------===//
#include "QuantisedBodies.h"
#include "Conversions.h"
#include "KeptElements.h"
#include "LinalgQueries.h"
#include "LoopNest.h"
#include "ProductSums.h"
#include "Transposed.h"
#include "WholeNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using linalg::GenericOp;
using strata::floatOf, strata::integerOf, strata::matchQuotient, strata::rangeOf, strata::rangeOfInteger;
using strata::WholeRange;

//===----------------------------------------------------------------------===//
// In bodies
//===----------------------------------------------------------------------===//

namespace {
/// An integral float that goes through a narrow integer which holds it: itself, moved by the zero point.
struct SkipInteger : OpRewritePattern<arith::SIToFPOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SIToFPOp op, PatternRewriter &rewriter) const override {
    Value integer = op.getIn();
    int64_t zero = 0;
    if (auto moved = integer.getDefiningOp<arith::SubIOp>()) {
      std::optional<int64_t> by = integerOf(moved.getRhs());
      if (!by || std::abs(*by) > 65536)
        return failure();
      zero = *by;
      integer = moved.getLhs();
    }
    Operation *extension = integer.getDefiningOp();
    std::optional<WholeRange> held = rangeOfInteger(integer);
    if (!held || !isa<arith::ExtUIOp, arith::ExtSIOp>(extension))
      return failure();
    auto narrow = extension->getOperand(0).getDefiningOp<arith::TruncIOp>();
    auto converted = narrow ? narrow.getIn().getDefiningOp<arith::FPToSIOp>() : nullptr;
    if (!converted || converted.getIn().getType() != op.getType() || !op.getType().isF32())
      return failure();
    std::optional<WholeRange> range = rangeOf(converted.getIn());
    if (!range || range->low < held->low || range->high > held->high)
      return failure();
    Value number = converted.getIn();
    if (zero) {
      Value by = rewriter.create<arith::ConstantOp>(op.getLoc(), rewriter.getF32FloatAttr(zero));
      number = rewriter.create<arith::SubFOp>(op.getLoc(), number, by);
    }
    rewriter.replaceOp(op, number);
    return success();
  }
};

/// clamp(n + zero) - zero of an integral n, whose sum with a small zero is exact or far outside: a clamp of n.
struct MoveClamp : OpRewritePattern<arith::SubFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SubFOp op, PatternRewriter &rewriter) const override {
    std::optional<double> zero = floatOf(op.getRhs());
    std::optional<WholeRange> range = rangeOf(op.getLhs());
    if (!zero || !range || !op.getType().isF32())
      return failure();
    auto upper = op.getLhs().getDefiningOp<arith::MinNumFOp>();
    auto lower = upper ? upper.getLhs().getDefiningOp<arith::MaxNumFOp>() : nullptr;
    auto sum = lower ? lower.getLhs().getDefiningOp<arith::AddFOp>() : nullptr;
    if (!sum || floatOf(sum.getRhs()) != zero || !sum.getLhs().getDefiningOp<math::RoundEvenOp>() ||
        !upper->hasOneUse() || !lower->hasOneUse() || std::abs(*zero) > 65536)
      return failure();
    auto number = [&](double value) -> Value {
      return rewriter.create<arith::ConstantOp>(op.getLoc(), rewriter.getF32FloatAttr(value));
    };
    Value low = number(range->low - *zero), high = number(range->high - *zero);
    Value clamped = rewriter.create<arith::MaxNumFOp>(op.getLoc(), sum.getLhs(), low);
    rewriter.replaceOpWithNewOp<arith::MinNumFOp>(op, clamped, high);
    return success();
  }
};

/// A signed byte that is kept unsigned: the zero point and the ends of the range are greater by 128.
struct QuantiseUnsigned : OpRewritePattern<arith::XOrIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::XOrIOp op, PatternRewriter &rewriter) const override {
    constexpr double moved = 128;
    auto narrow = op.getLhs().getDefiningOp<arith::TruncIOp>();
    auto converted = narrow ? narrow.getIn().getDefiningOp<arith::FPToSIOp>() : nullptr;
    auto upper = converted ? converted.getIn().getDefiningOp<arith::MinNumFOp>() : nullptr;
    auto lower = upper ? upper.getLhs().getDefiningOp<arith::MaxNumFOp>() : nullptr;
    std::optional<WholeRange> range = lower ? rangeOf(upper) : std::nullopt;
    if (!op.getType().isInteger(8) || integerOf(op.getRhs()) != INT8_MIN || !range || range->low < INT8_MIN ||
        range->high > INT8_MAX || !upper.getType().isF32() || !narrow->hasOneUse() || !converted->hasOneUse() ||
        !upper->hasOneUse() || !lower->hasOneUse())
      return failure();
    Value number = lower.getLhs();
    double zero = 0;
    if (auto sum = number.getDefiningOp<arith::AddFOp>()) {
      std::optional<double> known = floatOf(sum.getRhs());
      zero = known.value_or(0);
      number = known ? sum.getLhs() : number;
    }
    if (!number.getDefiningOp<math::RoundEvenOp>() || std::nearbyint(zero) != zero || std::abs(zero) > 65536)
      return failure();
    Location loc = op.getLoc();
    auto constant = [&](double value) -> Value {
      return rewriter.create<arith::ConstantOp>(loc, rewriter.getF32FloatAttr(static_cast<float>(value)));
    };
    if (zero + moved != 0)
      number = rewriter.create<arith::AddFOp>(loc, number, constant(zero + moved));
    number = rewriter.create<arith::MaxNumFOp>(loc, number, constant(range->low + moved));
    number = rewriter.create<arith::MinNumFOp>(loc, number, constant(range->high + moved));
    Value integer = rewriter.create<arith::FPToSIOp>(loc, converted.getType(), number);
    rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, op.getType(), integer);
    return success();
  }
};

/// Such a byte, extended as a signed one, is a difference, to which others are added.
struct ExtendUnsigned : OpRewritePattern<arith::ExtSIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtSIOp op, PatternRewriter &rewriter) const override {
    auto moved = op.getIn().getDefiningOp<arith::XOrIOp>();
    if (!moved || !moved.getType().isInteger(8) || integerOf(moved.getRhs()) != INT8_MIN)
      return failure();
    Value wide = rewriter.create<arith::ExtUIOp>(op.getLoc(), op.getType(), moved.getLhs());
    Value by = rewriter.create<arith::ConstantOp>(op.getLoc(), rewriter.getIntegerAttr(op.getType(), 128));
    rewriter.replaceOpWithNewOp<arith::SubIOp>(op, wide, by);
    return success();
  }
};

/// max(round(max(x, 0) / s), 0): the first maximum is in the second.
struct DropRectifier : OpRewritePattern<arith::MaxNumFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MaxNumFOp op, PatternRewriter &rewriter) const override {
    auto rounded = op.getLhs().getDefiningOp<math::RoundEvenOp>();
    double factor = 0;
    Value quotient = rounded ? rounded.getOperand() : Value();
    Value divided = quotient ? matchQuotient(quotient, factor) : Value();
    auto rectified = divided ? divided.getDefiningOp<arith::MaximumFOp>() : nullptr;
    if (!rectified || floatOf(op.getRhs()) != 0.0 || floatOf(rectified.getRhs()) != 0.0 || !(factor > 0) ||
        !rectified->hasOneUse() || !quotient.hasOneUse())
      return failure();
    rewriter.replaceOp(rectified, rectified.getLhs());
    return success();
  }
};

/// What was an integer times the scale, divided by the scale and rounded, is the integer.
struct QuantiseAgain : OpRewritePattern<math::RoundEvenOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::RoundEvenOp op, PatternRewriter &rewriter) const override {
    double factor = 0;
    Value divided = matchQuotient(op.getOperand(), factor);
    auto product = divided ? divided.getDefiningOp<arith::MulFOp>() : nullptr;
    std::optional<double> scale = product ? floatOf(product.getRhs()) : std::nullopt;
    // Three roundings of a number below 2^16 do not reach the next half.
    if (!scale || !(std::abs(*scale) > 1e-30) || std::abs(*scale * factor - 1) > std::ldexp(1.0, -22) ||
        !rangeOf(product.getLhs()))
      return failure();
    rewriter.replaceOp(op, product.getLhs());
    return success();
  }
};

/// Scaled sums of products are rounded once where the f32 model rounds each product: how their quotient is rounded says
/// nothing, so scale and bias may be one instruction, and are divided instead of the sums where they are constants or
/// shared by many; otherwise one product of f32 gives the quotient.
struct DivideSums : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    double factor = 0;
    Value divided = matchQuotient(op, factor);
    if (!divided || !divided.getType().isF32())
      return failure();
    auto biased = divided.getDefiningOp<arith::AddFOp>();
    auto scaled = (biased ? biased.getLhs() : divided).getDefiningOp<arith::MulFOp>();
    if (!scaled || !isSum(scaled.getLhs()))
      return failure();
    if (biased)
      for (Operation *part : {scaled.getOperation(), biased.getOperation()})
        rewriter.modifyOpInPlace(part, [&] {
          part->setAttr("fastmath", arith::FastMathFlagsAttr::get(op.getContext(), arith::FastMathFlags::contract));
        });
    SmallVector<OpOperand *> factors{&scaled->getOpOperand(1)};
    if (biased)
      factors.push_back(&biased->getOpOperand(1));
    if (divided.hasOneUse() && scaled->hasOneUse() && llvm::all_of(factors, isShared)) {
      for (OpOperand *shared : factors)
        multiply(rewriter, *shared, factor);
      rewriter.replaceOp(op, divided);
      return success();
    }
    Value by = rewriter.create<arith::ConstantOp>(op.getLoc(), rewriter.getF32FloatAttr(factor));
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, divided, by);
    return success();
  }

  /// The tensor whose element it is, if only here.
  static OpOperand *tensorOf(OpOperand &number) {
    auto argument = dyn_cast<BlockArgument>(number.get());
    auto generic = argument ? dyn_cast<GenericOp>(argument.getOwner()->getParentOp()) : nullptr;
    return generic && argument.hasOneUse() ? &generic->getOpOperand(argument.getArgNumber()) : nullptr;
  }

  static bool isShared(OpOperand *number) {
    if (floatOf(number->get()))
      return true;
    OpOperand *tensor = tensorOf(*number);
    auto generic = tensor ? cast<GenericOp>(tensor->getOwner()) : nullptr;
    return tensor && generic.isDpsInput(tensor) && isa<RankedTensorType>(tensor->get().getType()) &&
           generic.getMatchingIndexingMap(tensor).getNumResults() < generic.getNumLoops();
  }

  static void multiply(PatternRewriter &rewriter, OpOperand &number, double factor) {
    OpBuilder::InsertionGuard guard(rewriter);
    Location loc = number.getOwner()->getLoc();
    auto times = [&](OpBuilder &b, Value x) -> Value {
      return b.create<arith::MulFOp>(loc, x, b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(factor)));
    };
    OpOperand *tensor = floatOf(number.get()) ? nullptr : tensorOf(number);
    if (!tensor) {
      rewriter.setInsertionPoint(number.getOwner());
      Value product = times(rewriter, number.get());
      rewriter.modifyOpInPlace(number.getOwner(), [&] { number.set(product); });
      return;
    }
    Operation *generic = tensor->getOwner();
    rewriter.setInsertionPoint(generic);
    GenericOp product = strata::mapElements(rewriter, loc, tensor->get(), rewriter.getF32Type(), times);
    rewriter.modifyOpInPlace(generic, [&] { tensor->set(product.getResult(0)); });
  }

  static bool isSum(Value value) {
    auto sum = value.getDefiningOp<arith::SIToFPOp>();
    if (!sum)
      return false;
    value = sum.getIn();
    if (auto corrected = value.getDefiningOp<arith::AddIOp>())
      value = corrected.getLhs();
    auto argument = dyn_cast<BlockArgument>(value);
    auto generic = argument ? dyn_cast<GenericOp>(argument.getOwner()->getParentOp()) : nullptr;
    if (!generic)
      return false;
    auto product = generic->getOperand(argument.getArgNumber()).getDefiningOp<GenericOp>();
    return product && strata::matchProductSum(product);
  }
};
} // namespace

void strata::simplifyQuantisedBodies(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  patterns.add<SkipInteger, MoveClamp, QuantiseUnsigned, ExtendUnsigned, DropRectifier, QuantiseAgain, DivideSums>(
      root->getContext());
  (void)applyPatternsAndFoldGreedily(root, std::move(patterns));
}

//===----------------------------------------------------------------------===//
// Between operations
//===----------------------------------------------------------------------===//

static bool isElementwise(GenericOp op) {
  return op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 && op.getNumDpsInits() == 1 &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation();
}

/// One operand, of which each element is read once.
static bool isOfOne(GenericOp op) {
  return isElementwise(op) && op.getNumDpsInputs() == 1 && isa<RankedTensorType>(op.getDpsInputs()[0].getType()) &&
         op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isPermutation();
}

/// In the order of the result.
static bool isUnary(GenericOp op) {
  return isOfOne(op) &&
         op.getMatchingIndexingMap(op.getDpsInputOperand(0)) == op.getMatchingIndexingMap(op.getDpsInitOperand(0));
}

static unsigned bitsOf(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
}

/// What the body of an operation of one operand makes of an element; of a constant a constant, if it folds.
static Value bodyOn(OpBuilder &b, Block *body, Value element) {
  IRMapping mapping;
  mapping.map(body->getArgument(0), element);
  for (Operation &inner : body->without_terminator()) {
    Operation *copy = b.clone(inner, mapping);
    SmallVector<Value> folded;
    if (failed(b.tryFold(copy, folded)) || folded.empty())
      continue;
    mapping.map(inner.getResults(), folded);
    copy->erase();
  }
  return mapping.lookupOrDefault(body->getTerminator()->getOperand(0));
}

static GenericOp cloneOn(OpBuilder &b, GenericOp op, Value input) {
  Type element = getElementTypeOrSelf(op.getResult(0).getType());
  return strata::mapElements(b, op.getLoc(), input, element,
                             [&](OpBuilder &b, Value x) { return bodyOn(b, op.getBody(), x); });
}

/// What `op` makes of numbers, if it never makes less of more, and integers of at most eight bits: their range.
static std::optional<WholeRange> matchMonotone(GenericOp op) {
  for (Operation &inner : op.getBody()->without_terminator()) {
    bool fits = isa<arith::ExtFOp, arith::TruncFOp, math::RoundEvenOp, arith::FPToSIOp, arith::TruncIOp>(inner);
    if (isa<arith::AddFOp, arith::SubFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp>(
            inner))
      fits = floatOf(inner.getOperand(1)).has_value();
    if (isa<arith::MulFOp>(inner))
      fits = floatOf(inner.getOperand(1)).value_or(-1) > 0;
    if (!fits)
      return std::nullopt;
  }
  auto narrow = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::TruncIOp>();
  auto converted = narrow ? narrow.getIn().getDefiningOp<arith::FPToSIOp>() : nullptr;
  std::optional<WholeRange> range = converted ? rangeOf(converted.getIn()) : std::nullopt;
  if (!range || !narrow.getType().isInteger(8) || range->high - range->low > 255 || range->low < -128 ||
      (range->low < 0 && range->high > 127) || range->high > 255)
    return std::nullopt;
  return range;
}

/// Whether a constant is less than all other numbers.
static bool isLeast(Value value) {
  FloatAttr attribute;
  return matchPattern(value, m_Constant(&attribute)) && attribute.getValue().isInfinity() &&
         attribute.getValue().isNegative();
}

/// The largest of some numbers, quantised, is the largest of the quantised ones.
static bool quantiseBeforePool(GenericOp op) {
  auto pool = isUnary(op) ? op.getDpsInputs()[0].getDefiningOp<GenericOp>() : nullptr;
  if (!pool || !pool->hasOneUse() || !pool.hasPureTensorSemantics() || !pool.getNumReductionLoops() ||
      pool.getNumDpsInits() != 1 || !pool.getNumDpsInputs() || pool.getBody()->getOperations().size() != 2)
    return false;
  std::optional<WholeRange> range = matchMonotone(op);
  std::optional<strata::Combiner> combiner = strata::matchCombiner(pool);
  auto fill = pool.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!range || !combiner || !fill || !isLeast(fill.getInputs()[0]) ||
      (combiner->kind != vector::CombiningKind::MAXIMUMF && combiner->kind != vector::CombiningKind::MAXNUMF) ||
      !llvm::is_contained(combiner->op->getOperands(), pool.getBody()->getArgument(0)))
    return false;
  Value source = pool.getDpsInputs()[0];
  auto pad = source.getDefiningOp<tensor::PadOp>();
  if (pad && (!pad.getConstantPaddingValue() || !isLeast(pad.getConstantPaddingValue())))
    return false;
  OpBuilder b(pool);
  Location loc = pool.getLoc();
  Value least = b.create<arith::ConstantOp>(loc, b.getI8IntegerAttr(static_cast<int64_t>(range->low)));
  Value integers = cloneOn(b, op, pad ? pad.getSource() : source).getResult(0);
  if (pad)
    integers = b.create<tensor::PadOp>(loc, pad.getResultType().clone(b.getI8Type()), integers, pad.getMixedLowPad(),
                                       pad.getMixedHighPad(), least);
  Value init = b.create<tensor::EmptyOp>(loc, tensor::getMixedSizes(b, loc, fill.getOutputs()[0]), b.getI8Type());
  init = b.create<linalg::FillOp>(loc, least, init).getResult(0);
  SmallVector<Value> inputs(pool.getDpsInputs());
  inputs[0] = integers;
  auto largest =
      b.create<GenericOp>(loc, init.getType(), inputs, init, pool.getIndexingMapsArray(), pool.getIteratorTypesArray(),
                          [&](OpBuilder &b, Location loc, ValueRange arguments) {
                            Value x = arguments.front(), y = arguments.back();
                            Value more = range->low < 0 ? b.create<arith::MaxSIOp>(loc, y, x).getResult()
                                                        : b.create<arith::MaxUIOp>(loc, y, x).getResult();
                            b.create<linalg::YieldOp>(loc, more);
                          });
  op.replaceAllUsesWith(largest);
  op.erase();
  pool.erase();
  return true;
}

namespace {
/// What an operation makes of each element, narrower than it is.
class Narrowed : public strata::KeptElements {
public:
  explicit Narrowed(GenericOp op) : op(op), body(op.getBody()), type(getElementTypeOrSelf(op.getResult(0).getType())) {}

  /// Whether its data is moved, or repeated, and is read so by nothing else. Of what is read at computed places all is
  /// to be narrow anyway: it may be more than what is read. What is put in another order is computed before: then it is
  /// made narrow there, else while its order changes.
  bool isOfMoved() {
    DenseSet<Value> found, gathered, readSo;
    SmallVector<Value> rest{op.getDpsInputs()[0]};
    bool keepsData = !isUnary(op), isTransposed = keepsData, isComputed = true;
    while (!rest.empty()) {
      Value value = rest.pop_back_val();
      Operation *maker = value.getDefiningOp();
      if (!isa<RankedTensorType>(value.getType()) || !found.insert(value).second)
        continue;
      if (!maker || !moves(maker)) {
        auto computed = dyn_cast_or_null<GenericOp>(maker);
        isComputed &= computed && value.hasOneUse() && !strata::isIrregular(computed) &&
                      (computed.getNumReductionLoops() || computed.getBody()->getOperations().size() > 1);
        continue;
      }
      isTransposed |= isa<linalg::TransposeOp>(maker);
      if (!isa<tensor::EmptyOp>(maker) && !canAllRead(value, readSo))
        return false;
      keepsData |= !isa<tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(maker);
      if (gatherOf(maker))
        gathered.insert(movedBy(maker)[0]);
      else
        llvm::append_range(rest, movedBy(maker));
    }
    return keepsData && (isComputed || !isTransposed) &&
           llvm::all_of(gathered, [&](Value value) { return found.contains(value); });
  }

protected:
  Type typeOf(Type) const override { return type; }
  Value convert(OpBuilder &b, Location, Value element) const override { return bodyOn(b, body, element); }
  TypedAttr convert(TypedAttr constant) const override {
    Block scratch;
    OpBuilder b(constant.getContext());
    b.setInsertionPointToStart(&scratch);
    Value element = b.create<arith::ConstantOp>(body->getTerminator()->getLoc(), constant);
    TypedAttr result;
    matchPattern(bodyOn(b, body, element), m_Constant(&result));
    return result;
  }
  Value restore(OpBuilder &, Location, Value) const override {
    llvm_unreachable("all that reads elements makes them narrower");
  }
  bool moves(Operation *op) const override {
    // Of a part that is most of the whole all is made narrower.
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return slice.getSourceType().hasStaticShape() && slice.getType().hasStaticShape() &&
             2 * slice.getType().getNumElements() >= slice.getSourceType().getNumElements();
    if (!KeptElements::moves(op))
      return false;
    auto pad = dyn_cast<tensor::PadOp>(op);
    TypedAttr padding;
    return !pad || (matchPattern(pad.getConstantPaddingValue(), m_Constant(&padding)) && convert(padding));
  }
  bool canRead(GenericOp reader, OpOperand &) const override { return reader == op; }

private:
  GenericOp op;
  Block *body;
  Type type;
};
} // namespace

static bool makesNarrower(GenericOp op) {
  return bitsOf(op.getResult(0)) < bitsOf(op.getDpsInputs()[0]) && !op.hasIndexSemantics();
}

/// What is moved and then made narrower is made narrower first.
static bool narrowMoved(GenericOp op) {
  if (!isOfOne(op) || !makesNarrower(op))
    return false;
  Narrowed narrowed(op);
  if (!narrowed.isOfMoved())
    return false;
  Value narrow = narrowed.keep(op.getDpsInputs()[0]);
  AffineMap read = op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
            written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<int64_t> order;
  for (AffineExpr dim : written.getResults())
    order.push_back(*read.getResultPosition(dim));
  // Two changes of the order are one.
  if (auto transpose = narrow.getDefiningOp<linalg::TransposeOp>()) {
    order = applyPermutation(transpose.getPermutation(), order);
    narrow = transpose.getInput();
  }
  OpBuilder b(op);
  op.replaceAllUsesWith(ValueRange(strata::transposed(b, op.getLoc(), narrow, order)));
  op.erase();
  return true;
}

/// So is what is repeated.
static bool narrowRepeated(GenericOp op) {
  if (!isElementwise(op) || op.getNumDpsInputs() != 1 || !makesNarrower(op) ||
      op.getBody()->getOperations().size() == 1 || strata::isIrregular(op))
    return false;
  OpOperand *data = op.getDpsInputOperand(0);
  auto isRepeated = [read = op.getMatchingIndexingMap(data)](auto range) {
    auto [loop, size] = range;
    return size != 1 && !read.isFunctionOfDim(loop);
  };
  if (!strata::readsAll(op, *data) || llvm::none_of(llvm::enumerate(op.getStaticLoopRanges()), isRepeated))
    return false;
  OpBuilder b(op);
  Value narrow = cloneOn(b, op, data->get()).getResult(0);
  auto yield = [](OpBuilder &b, Location loc, ValueRange arguments) {
    b.create<linalg::YieldOp>(loc, arguments.front());
  };
  op.replaceAllUsesWith(b.create<GenericOp>(op.getLoc(), op.getResultTypes(), narrow, op.getDpsInits(),
                                            op.getIndexingMapsArray(), op.getIteratorTypesArray(), yield));
  op.erase();
  return true;
}

bool strata::keepQuantised(Operation *root) {
  SmallVector<GenericOp> ops;
  root->walk([&](GenericOp op) {
    if (op.getNumReductionLoops() == 0)
      ops.push_back(op);
  });
  bool changed = false;
  // The last one first: a pool's integers come from a concatenation's.
  for (GenericOp op : llvm::reverse(ops))
    changed |= quantiseBeforePool(op) || narrowMoved(op) || narrowRepeated(op);
  // What moved the data before reads it no longer: what computes it has one reader again, with which it is fused.
  IRRewriter rewriter(root->getContext());
  if (changed)
    (void)runRegionDCE(rewriter, root->getRegions());
  return changed;
}

static bool readsSums(GenericOp op) {
  return llvm::any_of(op.getDpsInputs(), [](Value input) {
    auto product = input.getDefiningOp<GenericOp>();
    return product && getElementTypeOrSelf(input.getType()).isInteger(32) && strata::matchProductSum(product);
  });
}

/// Sums of f32, or what is made of them for it alone; not by `except`.
static bool readsWideSums(GenericOp op, GenericOp except) {
  return llvm::any_of(op.getDpsInputs(), [&](Value input) {
    auto maker = input.getDefiningOp<GenericOp>();
    return maker && maker != except && getElementTypeOrSelf(input.getType()).isF32() &&
           (strata::matchProductSum(maker) ||
            (input.hasOneUse() && isElementwise(maker) && readsWideSums(maker, except)));
  });
}

bool strata::finishesSums(GenericOp producer, GenericOp consumer) {
  if (!isElementwise(producer))
    return false;
  if (getElementTypeOrSelf(producer.getResult(0).getType()).isBF16())
    return readsWideSums(producer, nullptr) && readsWideSums(consumer, producer);
  if (bitsOf(producer.getResult(0)) > 8 || !readsSums(producer))
    return false;
  // With its own sums, or the first of the others' reader: what waits meanwhile are bytes.
  if (readsSums(consumer))
    return true;
  // What dequantises joins its reader first, which shows how many sums that one has.
  Operation *reader = consumer->hasOneUse() ? *consumer->user_begin() : nullptr;
  auto next = dyn_cast_or_null<GenericOp>(reader);
  return next && next.getNumReductionLoops() == 0 && bitsOf(consumer.getResult(0)) > 8;
}
