//===- strata-opt.cpp - runs passes on MLIR files -------------------------===//
#include "Codegen/Passes.h"
#include "Conversion/Passes.h"
#include "Dialect/ONNX/Transforms/Passes.h"
#include "Dialect/OperatorSets.h"
#include "Pipeline/Pipeline.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/Transforms/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

static llvm::cl::opt<bool>
    listOps("list-ops", llvm::cl::desc("Print the versioned ops and exit"));

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  strata::registerCodegenDialects(registry);
  strata::registerOperatorSets(registry);
  strata::registerStrataONNXPasses();
  strata::registerStrataConversionPasses();
  mlir::registerTransformsPasses();
  mlir::registerConversionPasses();
  mlir::affine::registerAffinePasses();
  mlir::arith::registerArithPasses();
  mlir::bufferization::registerBufferizationPasses();
  mlir::bufferization::registerBufferizationPipelines();
  mlir::registerLinalgPasses();
  mlir::math::registerMathPasses();
  mlir::memref::registerMemRefPasses();
  mlir::registerSCFPasses();
  mlir::tensor::registerTensorPasses();
  strata::registerCodegenPasses();
  strata::registerPipelines();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Strata optimizer driver\n", registry);
  if (listOps) {
    strata::printVersionedOps(llvm::outs());
    return 0;
  }
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
