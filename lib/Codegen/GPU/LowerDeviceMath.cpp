//===- LowerDeviceMath.cpp - mathematical functions of the GPU ------------===//
//
// The polynomials are the CPU's, so both compute the same f32 values. What LLVM
// has instructions for stays; nothing else may reach its code generator, which
// ends the process where it cannot select an instruction.
//
//===----------------------------------------------------------------------===//
#include "../ApproximateMath.h"
#include "Codegen/Passes.h"
#include "DeviceMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace strata {
#define GEN_PASS_DEF_LOWERDEVICEMATH
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

/// Functions with instructions, of any float or integer type.
static bool hasInstruction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp, math::TruncOp, math::RoundOp, math::RoundEvenOp,
             math::SqrtOp, math::RsqrtOp, math::FmaOp, math::CopySignOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp>(op);
}

bool strata::isDeviceMath(Operation *op) {
  if (!isa<math::MathDialect>(op->getDialect()))
    return false;
  if (hasInstruction(op))
    return true;
  // Narrower floats are computed in f32.
  bool single = op->getResult(0).getType().isF32() || op->getResult(0).getType().isF16() ||
                op->getResult(0).getType().isBF16();
  return single && isa<math::ExpOp, math::ExpM1Op, math::TanhOp, math::ErfOp, math::LogOp, math::Log1pOp>(op);
}

namespace {
struct RsqrtToDivision : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::RsqrtOp op, PatternRewriter &rewriter) const override {
    Value root = rewriter.create<math::SqrtOp>(op.getLoc(), op.getOperand());
    Value one = rewriter.create<arith::ConstantOp>(op.getLoc(), rewriter.getFloatAttr(op.getType(), 1.0));
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, one, root);
    return success();
  }
};

struct LowerDeviceMathPass : strata::impl::LowerDeviceMathBase<LowerDeviceMathPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    prepareApproximateMath(getOperation());
    RewritePatternSet functions(context);
    populateApproximateMathPatterns(functions);
    functions.add<RsqrtToDivision>(context);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(functions))))
      return signalPassFailure();
    RewritePatternSet narrow(context);
    populateNarrowFloatPatterns(narrow);
    arith::populateArithExpandOpsPatterns(narrow);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(narrow))))
      return signalPassFailure();
  }
};
} // namespace
