//===- LowerDeviceMath.cpp - mathematical functions of the GPU ------------===//
//
// The polynomials are the CPU's, so both compute the same f32 values. What LLVM
// has instructions for stays; nothing else may reach its code generator, which
// ends the process where it cannot select an instruction.
//
//===----------------------------------------------------------------------===//
#include "../ApproximateMath.h"
#include "Codegen/GPUPasses.h"
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
#include "llvm/ADT/TypeSwitch.h"

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

/// The name in the device library, without the letter that says of which type.
static StringRef libraryFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](math::ExpOp) { return "exp"; })
      .Case([](math::Exp2Op) { return "exp2"; })
      .Case([](math::ExpM1Op) { return "expm1"; })
      .Case([](math::LogOp) { return "log"; })
      .Case([](math::Log2Op) { return "log2"; })
      .Case([](math::Log10Op) { return "log10"; })
      .Case([](math::Log1pOp) { return "log1p"; })
      .Case([](math::SinOp) { return "sin"; })
      .Case([](math::CosOp) { return "cos"; })
      .Case([](math::TanOp) { return "tan"; })
      .Case([](math::AsinOp) { return "asin"; })
      .Case([](math::AcosOp) { return "acos"; })
      .Case([](math::AtanOp) { return "atan"; })
      .Case([](math::Atan2Op) { return "atan2"; })
      .Case([](math::SinhOp) { return "sinh"; })
      .Case([](math::CoshOp) { return "cosh"; })
      .Case([](math::TanhOp) { return "tanh"; })
      .Case([](math::AsinhOp) { return "asinh"; })
      .Case([](math::AcoshOp) { return "acosh"; })
      .Case([](math::AtanhOp) { return "atanh"; })
      .Case([](math::PowFOp) { return "pow"; })
      .Case([](math::CbrtOp) { return "cbrt"; })
      .Case([](math::ErfOp) { return "erf"; })
      .Case([](arith::RemFOp) { return "fmod"; })
      .Default([](Operation *) { return StringRef(); });
}

bool strata::isDeviceMath(Operation *op) {
  if (!isa<math::MathDialect>(op->getDialect()))
    return false;
  if (hasInstruction(op))
    return true;
  // Narrower floats are computed in f32.
  Type type = op->getResult(0).getType();
  return (type.isF16() || type.isBF16() || type.isF32() || type.isF64()) &&
         (!libraryFunction(op).empty() || isa<math::PowFOp, math::FPowIOp>(op));
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

/// pow with an integer exponent.
struct IntegerPower : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FPowIOp op, PatternRewriter &rewriter) const override {
    Value exponent = rewriter.create<arith::SIToFPOp>(op.getLoc(), op.getType(), op.getRhs());
    rewriter.replaceOpWithNewOp<math::PowFOp>(op, op.getLhs(), exponent);
    return success();
  }
};

/// Functions without an instruction or a polynomial become calls.
void callLibrary(gpu::GPUModuleOp kernels) {
  SmallVector<Operation *> ops;
  kernels.walk([&](Operation *op) {
    Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
    if (type && (type.isF32() || type.isF64()) && !libraryFunction(op).empty())
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    std::string name = ("strata_" + libraryFunction(op) + (op->getResult(0).getType().isF32() ? "f" : "")).str();
    OpBuilder b(op);
    auto function = kernels.lookupSymbol<func::FuncOp>(name);
    if (!function) {
      OpBuilder top(kernels.getBodyRegion());
      function = top.create<func::FuncOp>(kernels.getLoc(), name,
                                          b.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
      function.setPrivate();
    }
    op->replaceAllUsesWith(b.create<func::CallOp>(op->getLoc(), function, op->getOperands()));
    op->erase();
  }
}

/// NVIDIA's GPUs have instructions for minima and maxima that keep NaN, of f32; all others are comparisons.
void useMinimumInstructions(gpu::GPUModuleOp kernels) {
  auto chip = kernels->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(kChip);
  if (chip && chip.getValue().starts_with("gfx"))
    return;
  kernels.walk([](Operation *op) {
    if (!isa<arith::MinimumFOp, arith::MaximumFOp>(op) || !op->getResult(0).getType().isF32())
      return;
    OpBuilder b(op);
    Value result = isa<arith::MinimumFOp>(op)
                       ? b.create<LLVM::MinimumOp>(op->getLoc(), op->getOperand(0), op->getOperand(1)).getResult()
                       : b.create<LLVM::MaximumOp>(op->getLoc(), op->getOperand(0), op->getOperand(1)).getResult();
    op->replaceAllUsesWith(ValueRange(result));
    op->erase();
  });
}

struct LowerDeviceMathPass : strata::impl::LowerDeviceMathBase<LowerDeviceMathPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet functions(context);
    populateExpErfPatterns(functions, /*powerScaling=*/false, /*fused=*/true);
    populateLogarithmPatterns(functions, /*fused=*/true);
    functions.add<RsqrtToDivision, IntegerPower>(context);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(functions))))
      return signalPassFailure();
    callLibrary(getOperation());
    useMinimumInstructions(getOperation());
    RewritePatternSet narrow(context);
    populateNarrowFloatPatterns(narrow);
    arith::populateArithExpandOpsPatterns(narrow);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(narrow))))
      return signalPassFailure();
  }
};
} // namespace
