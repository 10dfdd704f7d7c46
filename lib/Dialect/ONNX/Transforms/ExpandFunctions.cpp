//===- ExpandFunctions.cpp - onnx-expand-functions ------------------------===//

#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/ONNX/Transforms/ExpandFunctions.h"
#include "Dialect/ONNX/Transforms/Passes.h"
#include "Dialect/OpBehavior.h"
#include "Import/FunctionBodies.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace strata {
#define GEN_PASS_DEF_EXPANDFUNCTIONSPASS
#include "Dialect/ONNX/Transforms/Passes.h.inc"

// Results whose types the body leaves open keep the op's.
LogicalResult expandFunctionBody(Operation *op) {
  FailureOr<OwningOpRef<ModuleOp>> body = importFunctionBody(op);
  if (failed(body))
    return failure();
  auto function = (*body)->lookupSymbol<func::FuncOp>("main");
  OpBuilder builder(op);
  IRMapping mapping;
  for (auto [argument, operand] : llvm::zip_equal(function.getArguments(), op->getOperands()))
    mapping.map(argument, operand);
  for (Operation &inner : function.getBody().front().without_terminator()) {
    Operation *clone = builder.clone(inner, mapping);
    clone->setLoc(op->getLoc());
    clone->walk([&](Operation *nested) { nested->setLoc(op->getLoc()); });
  }
  for (auto [result, returned] :
       llvm::zip_equal(op->getResults(), function.getBody().front().getTerminator()->getOperands())) {
    Value value = mapping.lookup(returned);
    if (value.getType() != result.getType())
      value = builder.create<onnx::CastShapeOp>(op->getLoc(), result.getType(), value);
    result.replaceAllUsesWith(value);
  }
  op->erase();
  return success();
}

namespace {
struct ExpandFunctionsPass : impl::ExpandFunctionsPassBase<ExpandFunctionsPass> {
  using Base::Base;

  void runOnOperation() override {
    // Bodies are built of simpler operators: the nesting is shallow.
    constexpr unsigned maxRounds = 16;
    for (unsigned round = 0; round < maxRounds; ++round) {
      SmallVector<Operation *> work;
      getOperation().walk([&](VersionedOpInterface op) {
        if (op.hasFunctionBody() && (all || !getBehavior(op).lower))
          work.push_back(op);
      });
      if (work.empty())
        return;
      for (Operation *op : work)
        if (failed(expandFunctionBody(op)))
          return signalPassFailure();
      OpPassManager clean(ModuleOp::getOperationName());
      clean.addPass(createUpgradeOpsetPass());
      clean.addPass(createInferShapesPass());
      if (failed(runPipeline(clean, getOperation())))
        return signalPassFailure();
    }
    getOperation().emitError("function bodies nest too deeply");
    signalPassFailure();
  }
};
} // namespace
} // namespace strata
