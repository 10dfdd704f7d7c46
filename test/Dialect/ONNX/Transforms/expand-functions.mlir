// RUN: strata-opt %s --onnx-expand-functions --split-input-file | FileCheck %s

// The body takes the operator's place, and its types are as precise as the operands make them.

// CHECK-LABEL: @body
// CHECK-SAME: -> tensor<2x1xf32>
func.func @body(%scores: tensor<2x5x1xf32>, %labels: tensor<2x1xi64>) -> tensor<*xf32> {
  // CHECK-NOT: NegativeLogLikelihoodLoss
  // CHECK: onnx.GatherElements_13
  // CHECK-NOT: CastShape
  // CHECK: return %{{.*}} : tensor<2x1xf32>
  %0 = onnx.NegativeLogLikelihoodLoss_22(%scores, %labels) {reduction = "none"}
    : (tensor<2x5x1xf32>, tensor<2x1xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// What only the operator's own type says is checked when the model runs.

// CHECK-LABEL: @declared
// CHECK-SAME: -> tensor<10xf32>
func.func @declared(%size: tensor<i64>) -> tensor<10xf32> {
  // CHECK: %[[C:.*]] = onnx.CastShape %{{.*}} : tensor<?xf32> -> tensor<10xf32>
  // CHECK: return %[[C]]
  %0 = onnx.HannWindow_17(%size) : (tensor<i64>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}
