// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @rank(%0: tensor<2x3xf32>, %1: tensor<2x3x4xf32>, %2: tensor<2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has rank 2, not 3 or 4}}
  %y = onnx.RotaryEmbedding_23(%0, %1, %2) : (tensor<2x3xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @heads(%0: tensor<2x3x8xf32>, %1: tensor<2x3x4xf32>, %2: tensor<2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has rank 3, which needs 'num_heads'}}
  %y = onnx.RotaryEmbedding_23(%0, %1, %2) : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @part(%0: tensor<2x2x3x8xf32>, %1: tensor<2x3x4xf32>, %2: tensor<2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'rotary_embedding_dim' is 3, not an even size}}
  %y = onnx.RotaryEmbedding_23(%0, %1, %2) {rotary_embedding_dim = 3 : i64} : (tensor<2x2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @hidden(%0: tensor<2x3x9xf32>, %1: tensor<2x3x4xf32>, %2: tensor<2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{has 9 elements, which do not divide into 2 heads}}
  %y = onnx.RotaryEmbedding_23(%0, %1, %2) {num_heads = 2 : i64} : (tensor<2x3x9xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @cache(%0: tensor<2x2x3x8xf32>, %1: tensor<3x4xf32>, %2: tensor<3x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{a cache has rank 2, not 3 as without 'position_ids'}}
  %y = onnx.RotaryEmbedding_23(%0, %1, %2) : (tensor<2x2x3x8xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @cache_of_ids(%0: tensor<2x2x3x8xf32>, %1: tensor<2x3x4xf32>, %2: tensor<2x3x4xf32>, %3: tensor<2x3xi64>) -> tensor<*xf32> {
  // expected-error @below {{a cache has rank 3, not 2 as with 'position_ids'}}
  %y = onnx.RotaryEmbedding_23(%0, %1, %2, %3) : (tensor<2x2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @ids(%0: tensor<2x2x3x8xf32>, %1: tensor<50x4xf32>, %2: tensor<50x4xf32>, %3: tensor<3xi64>) -> tensor<*xf32> {
  // expected-error @below {{'position_ids' has rank 1, not 2}}
  %y = onnx.RotaryEmbedding_23(%0, %1, %2, %3) : (tensor<2x2x3x8xf32>, tensor<50x4xf32>, tensor<50x4xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
