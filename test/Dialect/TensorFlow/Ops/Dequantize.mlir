// RUN: strata-opt %s --onnx-infer-shapes | strata-opt | FileCheck %s

// CHECK-LABEL: @per_tensor
func.func @per_tensor(%x: tensor<2x?xui8>, %min: tensor<f32>, %max: tensor<f32>) -> tensor<*xf32> {
  // CHECK: tf.Dequantize_1({{.*}}) {mode = "SCALED"} : (tensor<2x?xui8>, tensor<f32>, tensor<f32>) -> tensor<2x?xf32>
  %0 = tf.Dequantize_1(%x, %min, %max) {mode = "SCALED"} : (tensor<2x?xui8>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @per_slice
func.func @per_slice(%x: tensor<2x3xi16>, %min: tensor<3xf32>, %max: tensor<3xf32>) -> tensor<*xbf16> {
  // CHECK: -> tensor<2x3xbf16>
  %0 = tf.Dequantize_1(%x, %min, %max) {axis = 1 : i64, dtype = 16 : i64} : (tensor<2x3xi16>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xbf16>
  return %0 : tensor<*xbf16>
}
