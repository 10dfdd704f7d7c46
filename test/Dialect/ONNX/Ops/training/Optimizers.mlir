// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Two tensors, their gradients and momentums; the coefficient depends on the number of the step.
// CHECK-LABEL: @momentum
// CHECK-SAME: -> (tensor<3xf32> {{.*}}, tensor<2xf64> {{.*}}, tensor<3xf32> {{.*}}, tensor<2xf64>
// CHECK: arith.select {{.*}} : f64
func.func @momentum(%r: tensor<f32>, %t: tensor<i64>, %x: tensor<3xf32>, %y: tensor<2xf64>) -> (tensor<*xf32>, tensor<*xf64>, tensor<*xf32>, tensor<*xf64>) {
  %0:4 = onnx.training.Momentum_1(%r, %t, %x, %y, %x, %y, %x, %y) {alpha = 0.9 : f32, beta = 0.7 : f32, mode = "nesterov", norm_coefficient = 0.0 : f32} : (tensor<f32>, tensor<i64>, tensor<3xf32>, tensor<2xf64>, tensor<3xf32>, tensor<2xf64>, tensor<3xf32>, tensor<2xf64>) -> (tensor<*xf32>, tensor<*xf64>, tensor<*xf32>, tensor<*xf64>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<*xf32>, tensor<*xf64>, tensor<*xf32>, tensor<*xf64>
}
