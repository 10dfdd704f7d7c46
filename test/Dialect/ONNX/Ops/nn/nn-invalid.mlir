// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has 3 channels, but 1 groups of filters read 2 each}}
  %y = onnx.Conv_22(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @main(%x: tensor<1x3x2x2xf32>, %w: tensor<4x3x5x5xf32>) -> tensor<*xf32> {
  // expected-error @below {{the kernel covers 5 positions of dimension 2, which has only 2 with its padding}}
  %y = onnx.Conv_22(%x, %w) : (tensor<1x3x2x2xf32>, tensor<4x3x5x5xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{'strides' has 1 values, not 2}}
  %y = onnx.AveragePool_22(%x) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2>} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @main(%q: tensor<1x4x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{operands of rank 3 need 'q_num_heads' and 'kv_num_heads'}}
  %y = onnx.Attention_25(%q, %q, %q) : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @main(%x: tensor<1x4x8xf32>, %w: tensor<5x2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has 4 channels, but 'W' reads 5}}
  %y = onnx.ConvTranspose_22(%x, %w) : (tensor<1x4x8xf32>, tensor<5x2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
