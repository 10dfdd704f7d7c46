// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @crop_and_pad
// CHECK-SAME: -> (tensor<1x7xf32>
func.func @crop_and_pad(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %shape = onnx.Constant_25() {value = dense<[1, 7]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = onnx.CenterCropPad_18(%x, %shape) : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @dynamic
// CHECK: cf.assert {{.*}}, "a size is negative"
func.func @dynamic(%x: tensor<?x3x!onnx.string>, %shape: tensor<1xi64>) -> tensor<*x!onnx.string> {
  %0 = onnx.CenterCropPad_18(%x, %shape) {axes = array<i64: -2>} : (tensor<?x3x!onnx.string>, tensor<1xi64>) -> tensor<*x!onnx.string>
  return %0 : tensor<*x!onnx.string>
}
