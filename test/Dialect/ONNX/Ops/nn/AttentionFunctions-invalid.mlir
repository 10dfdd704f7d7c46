// RUN: strata-opt %s --split-input-file --verify-diagnostics --onnx-infer-shapes

func.func @flex(%q: tensor<2x8x5xf32>, %k: tensor<2x2x7x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{'Q' has rank 3, not 4}}
  %0 = onnx.preview.FlexAttention_1(%q, %k, %k) graph {
  } graph {
  } : (tensor<2x8x5xf32>, tensor<2x2x7x4xf32>, tensor<2x2x7x4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @heads(%q: tensor<1x5x16xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-error @+1 {{needs 'q_num_heads' to be a positive multiple of 'kv_num_heads', not 2 and 4}}
  %0, %1 = onnx.LinearAttention_27(%q, %q, %q) {q_num_heads = 2 : i64, kv_num_heads = 4 : i64, update_rule = "linear"}
      : (tensor<1x5x16xf32>, tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

func.func @past(%x: tensor<2x4x8xf32>, %w: tensor<4x1x3xf32>, %p: tensor<2x4x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-error @+1 {{'past_state' holds 3 positions, but a kernel of 3 carries 2}}
  %0, %1 = onnx.CausalConvWithState_27(%x, %w, none, %p) : (tensor<2x4x8xf32>, tensor<4x1x3xf32>, none, tensor<2x4x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}
