//===- Frontend.cpp - the phases from operators to the seam ---------------===//
#include "Conversion/Passes.h"
#include "Dialect/ONNX/Transforms/Passes.h"
#include "Pipeline/Pipeline.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

// Old versions first: a newer one may have the lowering or the body.
void strata::buildUpgradePhase(OpPassManager &pm, const CompileOptions &) {
  // While values have the names that the model gave them.
  pm.addPass(createExpandGradientsPass());
  // Some steps depend on the operands' ranks.
  pm.addPass(createInferShapesPass({/*assumeRanks=*/true}));
  pm.addPass(createUpgradeOpsetPass());
  // Bodies depend on the operands' types.
  pm.addPass(createInferShapesPass({/*assumeRanks=*/true}));
  pm.addPass(createExpandFunctionsPass());
}

void strata::buildShapesPhase(OpPassManager &pm, const CompileOptions &) {
  pm.addPass(createInferShapesPass({/*assumeRanks=*/true}));
  pm.addPass(createCSEPass());
}

void strata::buildLinalgPhase(OpPassManager &pm, const CompileOptions &) {
  pm.addPass(createConvertONNXToLinalgPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void strata::buildFrontendPipeline(OpPassManager &pm, const CompileOptions &options) {
  buildUpgradePhase(pm, options);
  buildShapesPhase(pm, options);
  buildLinalgPhase(pm, options);
}
