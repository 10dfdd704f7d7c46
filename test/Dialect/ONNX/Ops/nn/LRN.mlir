// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s

// A sum of squares over neighbouring channels.
// CHECK-LABEL: @channels
// CHECK-SAME: -> (tensor<1x5x?xf32>
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK: %[[ROOT:.*]] = math.sqrt
// CHECK: %[[FOURTH:.*]] = math.sqrt %[[ROOT]]
// CHECK: arith.mulf %[[ROOT]], %[[FOURTH]]
// CHECK-NOT: math.powf
func.func @channels(%x: tensor<1x5x?xf32>) -> tensor<*xf32> {
  %y = onnx.LRN_1(%x) {size = 3 : i64, beta = 0.75 : f32} : (tensor<1x5x?xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Roots of what may be minus infinity are other numbers than its powers.
// CHECK-LABEL: @negative
// CHECK: math.powf
func.func @negative(%x: tensor<1x5x3xf32>) -> tensor<*xf32> {
  %y = onnx.LRN_1(%x) {size = 3 : i64, beta = 0.75 : f32, alpha = -1.0 : f32} : (tensor<1x5x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
