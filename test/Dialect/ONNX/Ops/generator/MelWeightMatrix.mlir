// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @half
// CHECK-SAME: -> (tensor<9x8xf16>
// CHECK: math.expm1 {{.*}} : f64
// CHECK: arith.truncf {{.*}} f64 to f16
func.func @half(%low: tensor<f32>, %high: tensor<f32>) -> tensor<*xf16> {
  %bins = onnx.Initializer dense<8> : tensor<i32>
  %length = onnx.Initializer dense<16> : tensor<i32>
  %rate = onnx.Initializer dense<8192> : tensor<i32>
  %0 = onnx.MelWeightMatrix_17(%bins, %length, %rate, %low, %high) {output_datatype = 10 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<*xf16>
  return %0 : tensor<*xf16>
}
