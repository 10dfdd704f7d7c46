//===- Registration.cpp - all dialects and passes, for the generic tools --===//
//
// The only file that includes upstream's registration headers: they are slow to
// compile.
//
//===----------------------------------------------------------------------===//

#include "Registration.h"
#include "Codegen/GPUPasses.h"
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
#include "mlir/Dialect/Func/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MLProgram/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Transforms/Passes.h"

void strata::registerAllDialects(mlir::DialectRegistry &registry) {
  registerCodegenDialects(registry);
  registerOperatorSets(registry);
}

void strata::registerAllPasses() {
  registerStrataONNXPasses();
  registerStrataConversionPasses();
  registerCodegenPasses();
  registerCodegenGPUPasses();
  registerPipelines();

  mlir::registerTransformsPasses();
  mlir::registerConversionPasses();
  mlir::registerReducerPasses();
  mlir::affine::registerAffinePasses();
  mlir::arith::registerArithPasses();
  mlir::bufferization::registerBufferizationPasses();
  mlir::bufferization::registerBufferizationPipelines();
  mlir::func::registerFuncPasses();
  mlir::LLVM::registerLLVMPasses();
  mlir::registerLinalgPasses();
  mlir::math::registerMathPasses();
  mlir::memref::registerMemRefPasses();
  mlir::ml_program::registerMLProgramPasses();
  mlir::registerSCFPasses();
  mlir::tensor::registerTensorPasses();
  mlir::vector::registerVectorPasses();
}
