//===- UpgradeOpset.cpp - onnx-upgrade-opset ------------------------------===//

#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/ONNX/Transforms/Passes.h"
#include "Dialect/OpBehavior.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace strata {
#define GEN_PASS_DEF_UPGRADEOPSETPASS
#include "Dialect/ONNX/Transforms/Passes.h.inc"

// The op of the same operator at another version.
static OperationName getVersion(Operation *op, int64_t version) {
  StringRef name = op->getName().getStringRef();
  return OperationName((name.take_front(name.rfind('_') + 1) + Twine(version)).str(), op->getContext());
}

// The same operands, attributes and subgraphs under the name of the next version.
static void rename(Operation *op, OperationName name, RewriterBase &rewriter) {
  OperationState state(op->getLoc(), name);
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  state.addAttributes(op->getAttrs());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  rewriter.setInsertionPoint(op);
  Operation *renamed = rewriter.create(state);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), renamed->getRegions()))
    rewriter.inlineRegionBefore(from, to, to.end());
  rewriter.replaceOp(op, renamed);
}

namespace {
struct UpgradeOpsetPass : impl::UpgradeOpsetPassBase<UpgradeOpsetPass> {
  // One step towards the newest version. The rewriter's listener hands over what a step creates.
  static LogicalResult step(VersionedOpInterface op, PatternRewriter &rewriter) {
    if (op.stepKeepsSignature()) {
      rename(op, getVersion(op, op.getNextVersion()), rewriter);
      return success();
    }
    rewriter.setInsertionPoint(op);
    if (auto upgrade = getBehavior(op).upgrade)
      return upgrade(op, rewriter);
    return op->emitOpError("cannot be upgraded to version ")
           << op.getNextVersion() << ": the operator has no upgrade step from version " << op.getSinceVersion();
  }

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
      if (failed(step(cast<VersionedOpInterface>(op), rewriter)))
        return signalPassFailure();
    }
  }
};
} // namespace
} // namespace strata
