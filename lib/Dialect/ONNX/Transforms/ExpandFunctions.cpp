//===- ExpandFunctions.cpp - onnx-expand-functions ------------------------===//

#include "Dialect/ONNX/Transforms/ExpandFunctions.h"
#include "Dialect/ONNX/IR/ElementKinds.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/ONNX/Transforms/Passes.h"
#include "Dialect/OpBehavior.h"
#include "Dialect/OperatorSets.h"
#include "Import/FunctionBodies.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace strata {
#define GEN_PASS_DEF_EXPANDFUNCTIONSPASS
#include "Dialect/ONNX/Transforms/Passes.h.inc"

// The op on floats, between casts.
static void computeInFloat(Operation *op) {
  OpBuilder builder(op);
  Type bfloat = builder.getBF16Type(), f32 = builder.getF32Type();
  OperationName cast = *lookupOperator(op->getContext(), "ai.onnx", "Cast", getNewestOpset("ai.onnx")).name;
  auto withElement = [](Type type, Type element) { return mlir::cast<ShapedType>(type).clone(element); };
  auto convert = [&](Value value, Type element) {
    OperationState state(op->getLoc(), cast);
    state.addOperands(value);
    state.addTypes(withElement(value.getType(), element));
    state.addAttribute("to", builder.getI64IntegerAttr(onnx::getDataType(*onnx::getElementKind(element))));
    return builder.create(state)->getResult(0);
  };
  for (OpOperand &operand : op->getOpOperands())
    if (getElementTypeOrSelf(operand.get().getType()) == bfloat)
      operand.set(convert(operand.get(), f32));
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults())
    if (getElementTypeOrSelf(result.getType()) == bfloat) {
      result.setType(withElement(result.getType(), f32));
      Value narrow = convert(result, bfloat);
      result.replaceAllUsesExcept(narrow, narrow.getDefiningOp());
    }
}

// Results whose types the body leaves open keep the op's.
LogicalResult expandFunctionBody(Operation *op) {
  // Its body is made of version 13, where NegativeLogLikelihoodLoss does not take bfloat16.
  if (getUnversionedName(op) == "SoftmaxCrossEntropyLoss" && getElementTypeOrSelf(op->getOperand(0).getType()).isBF16())
    computeInFloat(op);
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
