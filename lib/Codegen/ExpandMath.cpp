//===- ExpandMath.cpp - polynomials before anything is folded -------------===//
//
// Upstream folds sin(0.5) with the C library of the machine that compiles, whose bits
// are not those that our polynomials give at run time. Sums, products and comparisons
// have one result each, wherever they are computed. So a function is expanded while its
// operand is not yet a constant: where constants of one number are about to be written
// into the bodies of operations, functions of such numbers; before loops of few steps
// are unrolled, all.
//
//===----------------------------------------------------------------------===//
#include "ApproximateMath.h"
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"
#include "FloatBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace strata {
#define GEN_PASS_DEF_EXPANDMATH
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {
/// Values that folding may find to be one number, or many times the same. Operations are told in their order.
class KnownNumbers {
public:
  void visit(Operation *op) {
    // Elementwise, each result is by itself.
    if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && generic.getNumReductionLoops() == 0) {
      for (auto [result, yielded] : llvm::zip(generic.getResults(), generic.getBody()->getTerminator()->getOperands()))
        if (contains(yielded))
          numbers.insert(result);
    } else if (isKnown(op)) {
      numbers.insert(op->result_begin(), op->result_end());
    }
  }

  bool contains(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    auto generic = argument ? dyn_cast<linalg::GenericOp>(argument.getOwner()->getParentOp()) : nullptr;
    return numbers.contains(generic ? generic.getMatchingOpOperand(argument)->get() : value);
  }

private:
  bool isKnown(Operation *op) const {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto list = dyn_cast<ElementsAttr>(constant.getValue());
      return !list || isa<SplatElementsAttr>(list);
    }
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      return op->getParentOfType<linalg::GenericOp>().getStaticLoopRanges()[index.getDim()] == 1;
    // One of a list.
    if (auto element = dyn_cast<tensor::ExtractOp>(op); element && matchPattern(element.getTensor(), m_Constant()))
      return llvm::all_of(element.getIndices(), [&](Value position) { return contains(position); });
    if (isa<tensor::EmptyOp, tensor::DimOp>(op))
      return true;
    if (!op->getNumResults() || !isMemoryEffectFree(op))
      return false;
    SetVector<Value> read = strata::valuesReadBy(op);
    return !read.empty() && llvm::all_of(read, [&](Value value) { return contains(value); });
  }

  DenseSet<Value> numbers;
};

/// What GPUs have no polynomial for, as their library computes it.
struct ByWayOfF64 : RewritePattern {
  ByWayOfF64(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/0, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto extended = llvm::map_to_vector(op->getOperands(), [&](Value operand) -> Value {
      return rewriter.create<arith::ExtFOp>(op->getLoc(), rewriter.getF64Type(), operand);
    });
    Operation *wide =
        rewriter.create(op->getLoc(), op->getName().getIdentifier(), extended, {rewriter.getF64Type()}, op->getAttrs());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, rewriter.getF32Type(), wide->getResult(0));
    return success();
  }
};

struct FoldFusedProduct : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op, PatternRewriter &rewriter) const override {
    APFloat x(0.0), y(0.0), z(0.0);
    if (!isa<FloatType>(op.getType()) || !matchPattern(op.getA(), m_ConstantFloat(&x)) ||
        !matchPattern(op.getB(), m_ConstantFloat(&y)) || !matchPattern(op.getC(), m_ConstantFloat(&z)))
      return failure();
    x.fusedMultiplyAdd(y, z, APFloat::rmNearestTiesToEven);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getFloatAttr(op.getType(), x));
    return success();
  }
};

/// Upstream folds exact ones only.
struct FoldTruncation : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    APFloat x(0.0);
    auto type = dyn_cast<FloatType>(op.getType());
    if (!type || op.getRoundingmode() || !matchPattern(op.getIn(), m_ConstantFloat(&x)))
      return failure();
    bool inexact;
    x.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getFloatAttr(type, x));
    return success();
  }
};

/// What is one number everywhere is a fill, which upstream writes into the bodies of its readers.
struct ConstantToFill : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    Attribute number;
    if (!op.hasPureTensorSemantics() || op.getNumResults() != 1 ||
        !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation() ||
        !matchPattern(op.getBody()->getTerminator()->getOperand(0), m_Constant(&number)))
      return failure();
    Value constant = rewriter.create<arith::ConstantOp>(op.getLoc(), cast<TypedAttr>(number));
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, constant, op.getDpsInits()[0]);
    return success();
  }
};

} // namespace

/// tanh(log(1 + exp(x))), the factor of Mish, as exporters write it and as its lowering does, from d = exp(-|x|) alone:
///
///   (s^2 + 2 d) / (s^2 + 2 d + 2 c^2), s = d and c = 1 where x is negative, s = 1 and c = d elsewhere
///
/// which is ((1 + exp(x))^2 - 1) / ((1 + exp(x))^2 + 1), by exp(2 x) where that could be too large. Nothing cancels.
static void simplifyMish(math::TanhOp tanh, bool fused) {
  auto softplus = tanh.getOperand().getDefiningOp<arith::AddFOp>();
  if (!softplus)
    return;
  arith::MaximumFOp largest;
  math::Log1pOp logarithm;
  for (Value part : softplus.getOperands()) {
    largest = largest ? largest : part.getDefiningOp<arith::MaximumFOp>();
    logarithm = logarithm ? logarithm : part.getDefiningOp<math::Log1pOp>();
  }
  if (!largest || !logarithm)
    return;
  Value x = largest.getLhs(), d = logarithm.getOperand();
  auto spread = largest.getRhs().getDefiningOp<vector::BroadcastOp>();
  auto decay = d.getDefiningOp<math::ExpOp>();
  auto negative = decay ? decay.getOperand().getDefiningOp<arith::NegFOp>() : nullptr;
  auto magnitude = negative ? negative.getOperand().getDefiningOp<math::AbsFOp>() : nullptr;
  if (!magnitude || magnitude.getOperand() != x ||
      !matchPattern(spread ? spread.getSource() : largest.getRhs(), m_AnyZeroFloat()))
    return;
  OpBuilder b(tanh);
  strata::Floats f(tanh.getLoc(), b, x.getType());
  f.fused = fused && f.width() >= 32;
  Value one = f.number(1), isNegative = f.is(arith::CmpFPredicate::OLT, x, 0.0);
  Value s = f.select(isNegative, d, one), c = f.select(isNegative, one, d);
  Value above = f.multiplyAdd(s, s, f.add(d, d)), below = f.multiplyAdd(c, f.add(c, c), above);
  tanh.replaceAllUsesWith(f.divide(above, below));
  for (Operation *op : std::initializer_list<Operation *>{tanh, softplus, largest, logarithm})
    if (op->use_empty())
      op->erase();
}

namespace {
struct ExpandMathPass : strata::impl::ExpandMathBase<ExpandMathPass> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    if (device) {
      strata::populateExpErfPatterns(patterns, powerScaling, fusedProducts);
      strata::populateLogarithmPatterns(patterns, fusedProducts);
      patterns.add<ByWayOfF64>(context);
    } else {
      strata::populatePolynomialPatterns(patterns, powerScaling, fusedProducts);
    }
    FrozenRewritePatternSet frozen(std::move(patterns));
    if (!knownNumbers)
      strata::addLargeAngleFunctions(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    parallelForEach(context, functions, [&](func::FuncOp function) { expand(function, frozen); });
  }

private:
  bool isExpanded(Operation &op) const {
    if (!strata::becomesPolynomial(op))
      return false;
    Type type = getElementTypeOrSelf(op.getResult(0));
    return type.isF32() || (type.isF64() && !device);
  }

  void expand(func::FuncOp function, const FrozenRewritePatternSet &patterns) {
    function.walk([&](math::TanhOp tanh) { simplifyMish(tanh, fusedProducts); });
    SmallVector<Operation *> found;
    KnownNumbers known;
    function.walk([&](Operation *op) {
      if (knownNumbers)
        known.visit(op);
      if (isExpanded(*op) && (!knownNumbers || known.contains(op->getResult(0))))
        found.push_back(op);
    });
    // Not by a driver, which would fold first.
    PatternApplicator applicator(patterns);
    applicator.applyDefaultCostModel();
    PatternRewriter rewriter(function.getContext());
    for (Operation *op : found) {
      rewriter.setInsertionPoint(op);
      (void)applicator.matchAndRewrite(op, rewriter);
    }
  }
};
} // namespace

void strata::populateConstantMathPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldFusedProduct, FoldTruncation, ConstantToFill>(patterns.getContext());
  scf::IfOp::getCanonicalizationPatterns(patterns, patterns.getContext());
}
