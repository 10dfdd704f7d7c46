//===- Passes.td - conversions between operator sets and linalg *- tablegen -*-===//

#ifndef STRATA_CONVERSION_PASSES_TD
#define STRATA_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertONNXToLinalgPass : Pass<"convert-onnx-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower the newest operators to linalg, tensor, arith and scf";
  let description = [{
    Each operator's slice says how. Types become the seam's: unsigned integers signless, sub-byte integers and 8-bit
    floats bytes, symbolic dimensions attributes of the function. Large constants become `ml_program.global`s.

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = onnx.Relu_14(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    // becomes
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tensor.empty() : tensor<4xf32>
      %y = linalg.generic ... ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) { ... arith.maximumf ... }
      return %y : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::complex::ComplexDialect", "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::ml_program::MLProgramDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // STRATA_CONVERSION_PASSES_TD
