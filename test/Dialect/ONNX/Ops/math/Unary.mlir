// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s --check-prefix=UPGRADE
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg | FileCheck %s

// UPGRADE-LABEL: @hint
// UPGRADE: onnx.Tanh_13(%arg0) : (tensor<?x3xf32>) -> tensor<?x3xf32>
// CHECK-LABEL: @hint
// CHECK: math.tanh
func.func @hint(%x: tensor<?x3xf32>) -> tensor<*xf32> {
  %0 = onnx.Tanh_1(%x) {consumed_inputs = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Version 1 has rounder defaults.
// UPGRADE-LABEL: @selu
// UPGRADE: onnx.Selu_22(%arg0) {alpha = 1.673200e+00 : f32, gamma = 1.050700e+00 : f32}
func.func @selu(%x: tensor<3xf32>) -> tensor<*xf32> {
  %0 = onnx.Selu_1(%x) : (tensor<3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Integers left Erf with version 13.
// UPGRADE-LABEL: @erf
// UPGRADE: %[[F:.*]] = onnx.Cast_28(%arg0) {to = 1 : i64}
// UPGRADE: %[[E:.*]] = onnx.Erf_13(%[[F]])
// UPGRADE: onnx.Cast_28(%[[E]]) {to = 6 : i64} : (tensor<3xf32>) -> tensor<3xi32>
func.func @erf(%x: tensor<3xi32>) -> tensor<*xi32> {
  %0 = onnx.Erf_9(%x) : (tensor<3xi32>) -> tensor<*xi32>
  return %0 : tensor<*xi32>
}

// -----

// CHECK-LABEL: @round
// CHECK: arith.extf
// CHECK: math.roundeven
// CHECK: arith.truncf
func.func @round(%x: tensor<3xbf16>) -> tensor<3xbf16> {
  %0 = onnx.Round_22(%x) : (tensor<3xbf16>) -> tensor<3xbf16>
  return %0 : tensor<3xbf16>
}

// -----

// CHECK-LABEL: @gelu
// CHECK: math.erf
// CHECK: math.tanh
func.func @gelu(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = onnx.Gelu_20(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = onnx.Gelu_20(%x) {approximate = "tanh"} : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
