// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @one
// CHECK: math.absf
// CHECK: arith.addf
// CHECK: arith.divf
func.func @one(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %y = onnx.LpNormalization_1(%x) {p = 1 : i64} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// By channels, if no axes are given.
// CHECK-LABEL: @variance
// CHECK: iterator_types = ["reduction", "parallel", "reduction", "reduction"]
// CHECK: math.sqrt
// CHECK: arith.divf
func.func @variance(%x: tensor<1x2x3x4xf32>) -> tensor<*xf32> {
  %y = onnx.MeanVarianceNormalization_9(%x) : (tensor<1x2x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
