// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Unsigned elements are compared as such; only the results that are asked for are made.
// CHECK-LABEL: @elements
// CHECK-SAME: -> (tensor<?xi8> {{.*}}, tensor<?xi64>
// CHECK: arith.cmpi ult, {{.*}} : i8
// CHECK: return %{{.*}}, %{{.*}} : tensor<?xi8>, tensor<?xi64>
func.func @elements(%x: tensor<2x3xui8>) -> (tensor<?xui8>, tensor<?xi64>) {
  %0, %1 = onnx.Unique_11(%x) : (tensor<2x3xui8>) -> (tensor<?xui8>, none, tensor<?xi64>, none)
  return %0, %1 : tensor<?xui8>, tensor<?xi64>
}

// -----

// CHECK-LABEL: @slices
// CHECK-SAME: -> (tensor<2x?x4xf32>
// CHECK: linalg.transpose
func.func @slices(%x: tensor<2x3x4xf32>) -> tensor<*xf32> {
  %0 = onnx.Unique_28(%x) {axis = -2 : i64} : (tensor<2x3x4xf32>) -> (tensor<*xf32>, none, none, none)
  return %0 : tensor<*xf32>
}
