// RUN: strata-opt %s --split-input-file --onnx-infer-shapes | FileCheck %s

// CHECK-LABEL: func.func @sizes
// CHECK: onnx.HannWindow_17{{.*}} -> tensor<10xf32>
// CHECK: onnx.HammingWindow_17{{.*}} -> tensor<10xf64>
// CHECK: onnx.BlackmanWindow_17{{.*}} -> tensor<?xf16>
func.func @sizes(%n: tensor<i32>) -> (tensor<*xf32>, tensor<*xf64>, tensor<*xf16>) {
  %c = onnx.Initializer dense<10> : tensor<i32>
  %0 = onnx.HannWindow_17(%c) : (tensor<i32>) -> tensor<*xf32>
  %1 = onnx.HammingWindow_17(%c) {output_datatype = 11 : i64} : (tensor<i32>) -> tensor<*xf64>
  %2 = onnx.BlackmanWindow_17(%n) {output_datatype = 10 : i64} : (tensor<i32>) -> tensor<*xf16>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf64>, tensor<*xf16>
}
