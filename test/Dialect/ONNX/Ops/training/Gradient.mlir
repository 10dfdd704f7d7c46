// RUN: strata-opt %s --split-input-file --onnx-infer-shapes | FileCheck %s

// A gradient is like what it is of; onnx-expand-gradients computes it.
// CHECK-LABEL: @square
// CHECK: onnx.training.Gradient_1{{.*}} -> tensor<f32>
func.func @square(%x: tensor<f32>) -> tensor<*xf32> {
  %y = onnx.training.Gradient_1(%x) {xs = ["x"], y = "y"} : (tensor<f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
