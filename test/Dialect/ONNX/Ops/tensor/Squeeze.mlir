// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: @attribute
// CHECK: %[[AXES:.*]] = onnx.Initializer dense<0> : tensor<1xi64>
// CHECK: onnx.Squeeze_25(%{{.*}}, %[[AXES]]) : {{.*}} -> tensor<?x1x3xf32>
// LOWER-LABEL: @attribute
// LOWER: tensor.collapse_shape
func.func @attribute(%x: tensor<1x?x1x3xf32>) -> tensor<*xf32> {
  %y = onnx.Squeeze_1(%x) {axes = array<i64: 0>} : (tensor<1x?x1x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @more
// CHECK: onnx.Unsqueeze_25{{.*}} -> tensor<1x?x3x1xf32>
// LOWER-LABEL: @more
// LOWER: tensor.expand_shape
func.func @more(%x: tensor<?x3xf32>) -> tensor<*xf32> {
  %y = onnx.Unsqueeze_11(%x) {axes = array<i64: -1, 0>} : (tensor<?x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
