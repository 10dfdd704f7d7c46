// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Positions behind the end begin at the front again.
// CHECK-LABEL: @circular
// CHECK: -> tensor<2x?x4xf32>
// LOWER-LABEL: @circular
// LOWER: cf.assert %{{.*}}, "a write index is out of range"
// LOWER: tensor.extract %arg1
// LOWER: arith.select
func.func @circular(%x: tensor<2x?x4xf32>, %a: tensor<2x1x4xf32>, %b: tensor<2xi64>) -> tensor<*xf32> {
  %y = onnx.TensorScatter_24(%x, %a, %b) {mode = "circular"} : (tensor<2x?x4xf32>, tensor<2x1x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
