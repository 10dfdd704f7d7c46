// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: @middle
// CHECK: onnx.Flatten_25{{.*}} -> tensor<6x?xf32>
// LOWER-LABEL: @middle
// LOWER: tensor.collapse_shape {{.*}}[0, 1], [2, 3]]
func.func @middle(%x: tensor<2x3x?x5xf32>) -> tensor<*xf32> {
  %y = onnx.Flatten_1(%x) {axis = 2 : i64} : (tensor<2x3x?x5xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @first
// CHECK: -> tensor<1x6xf32>
func.func @first(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %y = onnx.Flatten_25(%x) {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
