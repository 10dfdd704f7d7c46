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

// -----

// A body takes over the operator's subgraphs. It is of another domain, and names no version of the default one.

// CHECK-LABEL: @subgraph
// CHECK-SAME: -> tensor<2x4x8x16xf32>
func.func @subgraph(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x16xf32>) -> tensor<2x4x8x16xf32> {
  // CHECK: onnx.MatMul_13({{.*}}) : (tensor<2x4x8x16xf32>, tensor<2x4x16x6xf32>) -> tensor<2x4x8x6xf32>
  // CHECK: onnx.Tanh_13
  // CHECK: onnx.Softmax_13
  // CHECK-NOT: CastShape
  %0 = onnx.preview.FlexAttention_1(%q, %k, %v) {onnx.graph_names = ["", "score_mod"]} graph {
  } graph {
  ^bb0(%score: tensor<2x4x8x6xf32>):
    %1 = onnx.Tanh_13(%score) : (tensor<2x4x8x6xf32>) -> tensor<2x4x8x6xf32>
    onnx.Yield %1 : tensor<2x4x8x6xf32>
  } : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x16xf32>) -> tensor<2x4x8x16xf32>
  return %0 : tensor<2x4x8x16xf32>
}
