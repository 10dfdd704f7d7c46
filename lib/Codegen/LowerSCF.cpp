//===- LowerSCF.cpp - scf becomes branches between blocks -----------------===//
#include "Codegen/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "llvm/ADT/STLExtras.h"

namespace strata {
#define GEN_PASS_DEF_LOWERSCF
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {
/// Without a listener: a block that is split is cut, and not moved op by op.
/// Ops live until the pattern is through: that of scf.while reads the
/// arguments of an scf.condition that it has replaced.
class LateErasingRewriter : public PatternRewriter {
public:
  using PatternRewriter::PatternRewriter;

  void eraseOp(Operation *op) override {
    op->remove();
    erased.push_back(op);
  }

  void destroyErased() {
    for (Operation *op : erased)
      op->destroy();
    erased.clear();
  }

private:
  SmallVector<Operation *> erased;
};

struct LowerSCFPass : strata::impl::LowerSCFBase<LowerSCFPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateSCFToControlFlowConversionPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<scf::SCFDialect>(op->getDialect()) && !op->hasTrait<OpTrait::IsTerminator>())
        ops.push_back(op);
    });
    PatternApplicator applicator(patterns);
    applicator.applyDefaultCostModel();
    // Outer ones first, since the patterns take regions of one block.
    LateErasingRewriter rewriter(&getContext());
    for (Operation *op : llvm::reverse(ops)) {
      rewriter.setInsertionPoint(op);
      if (failed(applicator.matchAndRewrite(op, rewriter))) {
        op->emitOpError("cannot be lowered to branches");
        return signalPassFailure();
      }
      rewriter.destroyErased();
    }
  }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace
