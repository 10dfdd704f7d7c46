// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: @rows
// CHECK: onnx.ReverseSequence_28{{.*}} -> tensor<2x?xf32>
// LOWER-LABEL: @rows
// LOWER: cf.assert
// LOWER: linalg.index
// LOWER: arith.select
func.func @rows(%x: tensor<2x?xf32>, %a: tensor<2xi64>) -> tensor<*xf32> {
  %y = onnx.ReverseSequence_10(%x, %a) {batch_axis = 0 : i64, time_axis = 1 : i64} : (tensor<2x?xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
