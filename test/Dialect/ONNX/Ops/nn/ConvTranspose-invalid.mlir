// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @rank(%0: tensor<1x2xf32>, %1: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has rank 2; a batch, channels and at least one spatial dimension are needed}}
  %y = onnx.ConvTranspose_22(%0, %1) : (tensor<1x2xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @filters_rank(%0: tensor<*xf32>, %1: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'W' has rank 2; filters, channels and at least one spatial dimension are needed}}
  %y = onnx.ConvTranspose_22(%0, %1) : (tensor<*xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @ranks(%0: tensor<1x2x5xf32>, %1: tensor<2x3x3x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has rank 3 and 'W' has rank 4}}
  %y = onnx.ConvTranspose_22(%0, %1) : (tensor<1x2x5xf32>, tensor<2x3x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @group(%0: tensor<1x2x5xf32>, %1: tensor<2x3x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'group' is 0, less than 1}}
  %y = onnx.ConvTranspose_22(%0, %1) {group = 0 : i64} : (tensor<1x2x5xf32>, tensor<2x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @channels(%0: tensor<1x4x5xf32>, %1: tensor<5x2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has 4 channels, but 'W' reads 5}}
  %y = onnx.ConvTranspose_22(%0, %1) : (tensor<1x4x5xf32>, tensor<5x2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @groups(%0: tensor<1x4x5xf32>, %1: tensor<4x2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{has 4 channels, which do not divide into 3 groups}}
  %y = onnx.ConvTranspose_22(%0, %1) {group = 3 : i64} : (tensor<1x4x5xf32>, tensor<4x2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @kernel_rank(%0: tensor<1x2x5x5xf32>, %1: tensor<2x3x3x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'kernel_shape' has 1 values for 2 spatial dimensions}}
  %y = onnx.ConvTranspose_22(%0, %1) {kernel_shape = array<i64: 3>} : (tensor<1x2x5x5xf32>, tensor<2x3x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @kernel(%0: tensor<1x2x5xf32>, %1: tensor<2x3x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'kernel_shape' says 2 where 'W' has size 3}}
  %y = onnx.ConvTranspose_22(%0, %1) {kernel_shape = array<i64: 2>} : (tensor<1x2x5xf32>, tensor<2x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @bias_rank(%0: tensor<1x2x5xf32>, %1: tensor<2x3x3xf32>, %2: tensor<1x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'B' has rank 2, not 1}}
  %y = onnx.ConvTranspose_22(%0, %1, %2) : (tensor<1x2x5xf32>, tensor<2x3x3xf32>, tensor<1x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @bias(%0: tensor<1x2x5xf32>, %1: tensor<2x3x3xf32>, %2: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @below {{'B' has 2 elements for 3 filters}}
  %y = onnx.ConvTranspose_22(%0, %1, %2) : (tensor<1x2x5xf32>, tensor<2x3x3xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @strides(%0: tensor<1x2x5xf32>, %1: tensor<2x3x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'strides' has 2 values, not 1}}
  %y = onnx.ConvTranspose_22(%0, %1) {strides = array<i64: 1, 1>} : (tensor<1x2x5xf32>, tensor<2x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @padding_rank(%0: tensor<1x2x5xf32>, %1: tensor<2x3x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'output_padding' has 2 values for 1 spatial dimensions}}
  %y = onnx.ConvTranspose_22(%0, %1) {output_padding = array<i64: 1, 1>} : (tensor<1x2x5xf32>, tensor<2x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @padding(%0: tensor<1x2x5xf32>, %1: tensor<2x3x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'output_padding' holds -1, less than 0}}
  %y = onnx.ConvTranspose_22(%0, %1) {output_padding = array<i64: -1>} : (tensor<1x2x5xf32>, tensor<2x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @pads(%0: tensor<1x2x1xf32>, %1: tensor<2x3x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{its pads cut off all of dimension 2}}
  %y = onnx.ConvTranspose_22(%0, %1) {pads = array<i64: 3, 3>} : (tensor<1x2x1xf32>, tensor<2x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @unknown(%0: tensor<1x2x5xf32>, %1: tensor<2x3x?xf32>) -> tensor<1x3x?xf32> {
  // expected-error @below {{cannot be compiled: the kernel's size is not known at compile time}}
  %y = onnx.ConvTranspose_22(%0, %1) : (tensor<1x2x5xf32>, tensor<2x3x?xf32>) -> tensor<1x3x?xf32>
  return %y : tensor<1x3x?xf32>
}
