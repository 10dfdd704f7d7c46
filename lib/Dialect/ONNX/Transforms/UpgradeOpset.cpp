//===- UpgradeOpset.cpp - onnx-upgrade-opset ------------------------------===//

#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/ONNX/Transforms/Passes.h"
#include "Dialect/VersionSteps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace strata {
#define GEN_PASS_DEF_UPGRADEOPSETPASS
#include "Dialect/ONNX/Transforms/Passes.h.inc"

namespace {
struct UpgradeOpsetPass : impl::UpgradeOpsetPassBase<UpgradeOpsetPass> {
  // Hands over what a step creates.
  struct Collector : RewriterBase::Listener {
    SmallVector<Operation *> work;
    void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) override {
      if (isOld(op))
        work.push_back(op);
    }
    void notifyOperationErased(Operation *op) override { llvm::erase(work, op); }
    static bool isOld(Operation *op) {
      auto versioned = dyn_cast<VersionedOpInterface>(op);
      return versioned && versioned.getNextVersion() != 0;
    }
  };

  void runOnOperation() override {
    struct Rewriter : PatternRewriter {
      using PatternRewriter::PatternRewriter;
    } rewriter(&getContext());
    Collector collector;
    rewriter.setListener(&collector);
    getOperation().walk([&](Operation *op) {
      if (Collector::isOld(op))
        collector.work.push_back(op);
    });
    while (!collector.work.empty()) {
      Operation *op = collector.work.pop_back_val();
      rewriter.setInsertionPoint(op);
      if (failed(upgradeStep(op, rewriter)))
        return signalPassFailure();
    }
  }
};
} // namespace
} // namespace strata
