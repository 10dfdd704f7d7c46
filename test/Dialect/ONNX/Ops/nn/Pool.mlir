// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Version 1 pools over all if it has no kernel_shape.
// CHECK-LABEL: @whole
// CHECK: onnx.LpPool_22(%{{.*}}) {{.*}}{{.*}}kernel_shape = array<i64: 3, 4>{{.*}}p = 2 : i64} : {{.*}} -> tensor<1x2x1x1xf32>
func.func @whole(%x: tensor<1x2x3x4xf32>) -> tensor<*xf32> {
  %y = onnx.LpPool_1(%x) {p = 2.0 : f32} : (tensor<1x2x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @ceil
// CHECK: onnx.MaxPool_22{{.*}} -> tensor<1x1x?x2xf32>
// LOWER-LABEL: @ceil
// LOWER: linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
func.func @ceil(%x: tensor<1x1x?x5xf32>) -> tensor<*xf32> {
  %y = onnx.MaxPool_8(%x) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x?x5xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Divided by the number of elements that are no padding.
// LOWER-LABEL: @average
// LOWER: linalg.pooling_nchw_sum
// LOWER: arith.divf
func.func @average(%x: tensor<1x1x4x4xf32>) -> tensor<*xf32> {
  %y = onnx.AveragePool_22(%x) {kernel_shape = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>} : (tensor<1x1x4x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
