// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: @lower
// CHECK: -> tensor<2x?x4xf32>
// LOWER-LABEL: @lower
// LOWER: linalg.index 1
// LOWER: linalg.index 2
// LOWER: arith.cmpi sle
// LOWER: arith.select
func.func @lower(%x: tensor<2x?x4xf32>, %a: tensor<i64>) -> tensor<*xf32> {
  %y = onnx.Trilu_14(%x, %a) {upper = 0 : i64} : (tensor<2x?x4xf32>, tensor<i64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
