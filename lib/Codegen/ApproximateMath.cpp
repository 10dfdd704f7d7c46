//===- ApproximateMath.cpp - transcendental functions ---------------------===//
//
// f32: polynomials where they are accurate everywhere, libm otherwise. The
// narrow float types are computed in f32, f64 by libm but for exponentials.
//
//===----------------------------------------------------------------------===//
#include "ApproximateMath.h"
#include "Codegen/Passes.h"
#include "EachFunction.h"
#include "FloatBuilder.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace strata {
#define GEN_PASS_DEF_APPROXIMATEMATH
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

/// Keeps the patterns whose root operation is one of `Ops`.
template <typename... Ops> static void keepOnly(RewritePatternSet &patterns) {
  llvm::erase_if(patterns.getNativePatterns(), [](const auto &pattern) {
    std::optional<OperationName> root = pattern->getRootKind();
    return !root || !((root->getStringRef() == Ops::getOperationName()) || ...);
  });
}

/// f64 <-> bf16 and f16 by way of f32: there is no instruction for it, and the
/// support library's function is missing on older systems. Truncation rounds to
/// odd first, so that rounding twice equals rounding once.
namespace {
struct TruncateThroughF32 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    if (!getElementTypeOrSelf(from).isF64() || getElementTypeOrSelf(to).isF32())
      return failure();
    Location loc = op.getLoc();
    auto like = [&](Type element) -> Type {
      if (auto vector = dyn_cast<VectorType>(from))
        return vector.clone(element);
      return element;
    };
    Type f32 = like(rewriter.getF32Type()), i32 = like(rewriter.getI32Type());
    auto constant = [&](int64_t value) -> Value {
      Attribute attr = rewriter.getI32IntegerAttr(value);
      if (auto vector = dyn_cast<VectorType>(i32))
        return rewriter.create<arith::ConstantOp>(loc, DenseElementsAttr::get(vector, attr));
      return rewriter.create<arith::ConstantOp>(loc, cast<TypedAttr>(attr));
    };
    // Round to odd: where rounding to f32 moved the value away from zero, step
    // back by one unit; where it lost bits, set the last bit.
    Value rounded = rewriter.create<arith::TruncFOp>(loc, f32, op.getIn());
    Value back = rewriter.create<arith::ExtFOp>(loc, from, rounded);
    Value bits = rewriter.create<arith::BitcastOp>(loc, i32, rounded);
    Value magnitude = rewriter.create<math::AbsFOp>(loc, op.getIn());
    Value backMagnitude = rewriter.create<math::AbsFOp>(loc, back);
    Value away = rewriter.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGT, backMagnitude, magnitude);
    Value inexact = rewriter.create<arith::CmpFOp>(loc, arith::CmpFPredicate::ONE, back, op.getIn());
    Value one = constant(1), zero = constant(0);
    Value step = rewriter.create<arith::SelectOp>(loc, away, one, zero);
    Value odd = rewriter.create<arith::SelectOp>(loc, inexact, one, zero);
    bits = rewriter.create<arith::SubIOp>(loc, bits, step);
    bits = rewriter.create<arith::OrIOp>(loc, bits, odd);
    Value f = rewriter.create<arith::BitcastOp>(loc, f32, bits);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, to, f);
    return success();
  }
};

/// f32 to bf16 where subnormal numbers may be 0: there is an instruction for it wherever operands are rounded to bf16.
struct TruncateByInstruction : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isF32() || !getElementTypeOrSelf(op.getType()).isBF16() ||
        op.getFastmath() != arith::FastMathFlags::afn)
      return failure();
    rewriter.replaceOpWithNewOp<LLVM::FPTruncOp>(op, op.getType(), op.getIn());
    return success();
  }
};

/// Two vectors that are rounded so and lie side by side then: one instruction for both.
struct TruncatePair : OpRewritePattern<vector::ShuffleOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ShuffleOp op, PatternRewriter &rewriter) const override {
    auto left = op.getV1().getDefiningOp<LLVM::FPTruncOp>(), right = op.getV2().getDefiningOp<LLVM::FPTruncOp>();
    constexpr int64_t lanes = 16;
    auto isWide = [&](LLVM::FPTruncOp rounded) {
      return rounded && rounded.getArg().getType() == VectorType::get({lanes}, rewriter.getF32Type());
    };
    if (!isWide(left) || !isWide(right) || !op.getType().getElementType().isBF16() ||
        !llvm::equal(op.getMask().getAsValueRange<IntegerAttr>(), llvm::seq<int64_t>(0, 2 * lanes)))
      return failure();
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(op, op.getType(),
                                                       rewriter.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"),
                                                       ValueRange{right.getArg(), left.getArg()});
    return success();
  }
};

/// f32 to bf16, to nearest even. MLIR's pattern selects what is no number from vectors of bf16, which LLVM takes apart,
/// element by element, where the target has no arithmetic of bf16: here it is selected before the bits are rounded.
struct TruncateBits : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    if (!getElementTypeOrSelf(from).isF32() || !getElementTypeOrSelf(to).isBF16())
      return failure();
    strata::Floats f(op.getLoc(), rewriter, from);
    Value bits = f.create<arith::BitcastOp>(f.integers(), op.getIn());
    Value isNaN = f.is(arith::CmpFPredicate::UNO, op.getIn(), op.getIn());
    bits = f.select(isNaN, f.integer(0x7fc00000), bits); // stays so when it is rounded
    Value last = f.both(f.create<arith::ShRUIOp>(bits, f.integer(16)), f.integer(1));
    Value rounded = f.create<arith::AddIOp>(bits, f.create<arith::AddIOp>(last, f.integer(0x7fff)));
    Type half = f.getI16Type();
    if (auto vector = dyn_cast<VectorType>(from))
      half = vector.clone(half);
    Value upper = f.create<arith::TruncIOp>(half, f.create<arith::ShRUIOp>(rounded, f.integer(16)));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, to, upper);
    return success();
  }
};

/// A conversion that rounds by itself: x86's. What does not fit is left open by both.
struct RoundByConversion : OpRewritePattern<arith::FPToSIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::FPToSIOp op, PatternRewriter &rewriter) const override {
    auto rounded = op.getIn().getDefiningOp<math::RoundEvenOp>();
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!rounded || !getElementTypeOrSelf(op.getType()).isInteger(32) ||
        !getElementTypeOrSelf(rounded.getType()).isF32() || (vector && (vector.getRank() != 1 || vector.isScalable())))
      return failure();
    std::string lanes = vector ? "v" + std::to_string(vector.getNumElements()) : "";
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, op.getType(), rewriter.getStringAttr("llvm.lrint." + lanes + "i32." + lanes + "f32"), rounded.getOperand());
    return success();
  }
};

struct ExtendThroughF32 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    if (!getElementTypeOrSelf(to).isF64() || getElementTypeOrSelf(from).isF32())
      return failure();
    Type f32 = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(from))
      f32 = vector.clone(f32);
    Value middle = rewriter.create<arith::ExtFOp>(op.getLoc(), f32, op.getIn());
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, to, middle);
    return success();
  }
};

/// LLVM compares, rounds and converts f16 where it sees that an f32 was extended from it, and then takes vectors apart,
/// since there is no instruction for it. So it does not see that.
struct HideExtension : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isF16() || !LLVM::isCompatibleType(op.getType()))
      return failure();
    auto isNarrowed = [](OpOperand &use) {
      return isa<arith::CmpFOp, arith::SelectOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                 arith::MinNumFOp, arith::FPToSIOp, arith::FPToUIOp, math::AbsFOp, math::CeilOp, math::FloorOp,
                 math::RoundOp, math::RoundEvenOp, math::TruncOp>(use.getOwner());
    };
    if (llvm::none_of(op->getUses(), isNarrowed))
      return failure();
    rewriter.setInsertionPointAfter(op);
    auto fence = rewriter.create<LLVM::CallIntrinsicOp>(
        op.getLoc(), op.getType(), rewriter.getStringAttr("llvm.arithmetic.fence"), op.getResult());
    rewriter.replaceUsesWithIf(op.getResult(), fence.getResult(0), isNarrowed);
    return success();
  }
};
} // namespace

bool strata::becomesPolynomial(Operation &op) {
  Type type = op.getNumResults() ? getElementTypeOrSelf(op.getResult(0)) : Type();
  if (type && type.isF64())
    return isa<math::ExpOp, math::ExpM1Op, math::TanhOp>(op);
  return isa<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp, math::AtanOp, math::AtanhOp, math::CosOp,
             math::CoshOp, math::ErfOp, math::ExpOp, math::ExpM1Op, math::LogOp, math::Log1pOp, math::PowFOp,
             math::SinOp, math::SinhOp, math::TanOp, math::TanhOp>(op);
}

void strata::populatePolynomialPatterns(RewritePatternSet &patterns, bool powerScaling, bool fused) {
  populateExpErfPatterns(patterns, powerScaling, fused);
  populateExpF64Patterns(patterns, fused);
  populateLogarithmPatterns(patterns, fused);
  populatePowerPatterns(patterns, powerScaling, fused);
  populateTrigonometryPatterns(patterns, fused);
  populateInverseTrigonometryPatterns(patterns, fused);
  populateHyperbolicPatterns(patterns, fused);
}

void strata::populateNarrowFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<TruncateThroughF32, ExtendThroughF32>(patterns.getContext());
  patterns.add<TruncateBits>(patterns.getContext(), /*benefit=*/2);          // than MLIR's
  patterns.add<TruncateByInstruction>(patterns.getContext(), /*benefit=*/3); // than the steps of the instruction
  arith::populateExpandBFloat16Patterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
}

namespace {
struct ApproximateMathPass : strata::impl::ApproximateMathBase<ApproximateMathPass> {
  using ApproximateMathBase::ApproximateMathBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    ModuleOp module = getOperation();
    RewritePatternSet polynomials(context);
    strata::populatePolynomialPatterns(polynomials, powerScaling, fusedProducts);
    strata::populateDivisionPatterns(polynomials, fusedProducts);
    if (failed(strata::applyToEachFunction(module, std::move(polynomials))))
      return signalPassFailure();
    // What the LLVM dialect has no intrinsic for. The patterns declare what they call.
    RewritePatternSet calls(context);
    populateMathToLibmConversionPatterns(calls);
    keepOnly<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp, math::AtanOp, math::Atan2Op, math::AtanhOp,
             math::CbrtOp, math::CoshOp, math::ErfOp, math::ExpM1Op, math::Log1pOp, math::SinhOp, math::TanOp,
             math::TanhOp>(calls);
    if (failed(applyPatternsAndFoldGreedily(module, std::move(calls))))
      return signalPassFailure();
    RewritePatternSet narrow(context);
    if (integerPacks)
      narrow.add<RoundByConversion>(context);
    if (bf16Dots)
      narrow.add<TruncatePair>(context);
    strata::populateNarrowFloatPatterns(narrow);
    narrow.add<HideExtension>(context);
    if (failed(strata::applyToEachFunction(module, std::move(narrow))))
      return signalPassFailure();
  }
};
} // namespace
