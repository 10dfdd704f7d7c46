// RUN: strata-reduce %s --reduction-tree='traversal-mode=0 test=%S/Inputs/keeps-celu.sh' | FileCheck %s

// Everything but what the script looks for goes.

// CHECK-NOT: @unrelated
// CHECK: onnx.Celu_28
func.func @unrelated(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = onnx.Relu_14(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @kept(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = onnx.Celu_28(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
