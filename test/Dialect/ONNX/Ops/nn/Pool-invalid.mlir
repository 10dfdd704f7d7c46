// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @rank(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has rank 2; a batch, channels and at least one spatial dimension are needed}}
  %y = onnx.MaxPool_22(%x) {kernel_shape = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @kernel(%x: tensor<1x1x4x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'kernel_shape' has 1 values for 2 spatial dimensions}}
  %y = onnx.MaxPool_22(%x) {kernel_shape = array<i64: 2>} : (tensor<1x1x4x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @strides(%x: tensor<1x3x8x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{'strides' has 1 values, not 2}}
  %y = onnx.AveragePool_22(%x) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2>} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @small(%x: tensor<1x1x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{the window covers 5 positions of dimension 2, which has only 4 with its padding}}
  %y = onnx.MaxPool_22(%x) {kernel_shape = array<i64: 5>} : (tensor<1x1x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @p(%x: tensor<1x1x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'p' is 0, less than 1}}
  %y = onnx.LpPool_22(%x) {kernel_shape = array<i64: 2>, p = 0 : i64} : (tensor<1x1x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @no_kernel(%x: tensor<1x1x?xf32>) -> tensor<*xf32> {
  // expected-error @below {{cannot be upgraded: it has no 'kernel_shape' and the sizes of 'X' are not known}}
  %y = onnx.LpPool_1(%x) : (tensor<1x1x?xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
