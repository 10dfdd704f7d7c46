// RUN: strata-opt %s --onnx-expand-functions --split-input-file --verify-diagnostics

func.func @old(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x16xf32>) -> tensor<2x4x8x16xf32> {
  // expected-error @+1 {{cannot be expanded: its subgraphs have operators of old versions; run onnx-upgrade-opset first}}
  %0 = onnx.preview.FlexAttention_1(%q, %k, %v) {onnx.graph_names = ["", "score_mod"]} graph {
  } graph {
  ^bb0(%score: tensor<2x4x8x6xf32>):
    %1 = onnx.Tanh_6(%score) : (tensor<2x4x8x6xf32>) -> tensor<2x4x8x6xf32>
    onnx.Yield %1 : tensor<2x4x8x6xf32>
  } : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x16xf32>) -> tensor<2x4x8x16xf32>
  return %0 : tensor<2x4x8x16xf32>
}
