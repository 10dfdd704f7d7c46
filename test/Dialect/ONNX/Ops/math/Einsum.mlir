// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Without an arrow the labels that occur once are the result.
// CHECK-LABEL: @matrices
// CHECK: onnx.Einsum_28{{.*}} -> tensor<2x4xf32>
// LOWER-LABEL: @matrices
// LOWER: iterator_types = ["parallel", "parallel", "reduction"]
// LOWER: arith.mulf
// LOWER: arith.addf
func.func @matrices(%0: tensor<2x3xf32>, %1: tensor<3x4xf32>) -> tensor<*xf32> {
  %y = onnx.Einsum_12(%0, %1) {equation = "ij,jk"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The dimensions of an ellipsis broadcast.
// CHECK-LABEL: @batches
// CHECK: onnx.Einsum_28{{.*}} -> tensor<5x7x2x4xf32>
func.func @batches(%0: tensor<5x1x2x3xf32>, %1: tensor<7x3x4xf32>) -> tensor<*xf32> {
  %y = onnx.Einsum_28(%0, %1) {equation = "...ij,...jk->...ik"} : (tensor<5x1x2x3xf32>, tensor<7x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// A label twice in a term is its diagonal.
// CHECK-LABEL: @diagonal
// CHECK: onnx.Einsum_28{{.*}} -> tensor<3xf32>
// LOWER-LABEL: @diagonal
// LOWER: %[[I:.*]] = linalg.index 0
// LOWER: tensor.extract %{{.*}}[%[[I]], %[[I]]]
func.func @diagonal(%0: tensor<3x3xf32>) -> tensor<*xf32> {
  %y = onnx.Einsum_28(%0) {equation = "ii->i"} : (tensor<3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
