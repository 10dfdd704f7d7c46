// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @rank(%x: tensor<1x2xf32>, %a: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has rank 2; a batch, channels and at least one spatial dimension are needed}}
  %y = onnx.Conv_22(%x, %a) : (tensor<1x2xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @filters_rank(%x: tensor<*xf32>, %a: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @below {{'W' has rank 1; filters, channels and at least one spatial dimension are needed}}
  %y = onnx.Conv_22(%x, %a) : (tensor<*xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @filters(%x: tensor<1x6x5xf32>, %a: tensor<4x2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{has 4 filters, which do not divide into 3 groups}}
  %y = onnx.Conv_22(%x, %a) {group = 3 : i64} : (tensor<1x6x5xf32>, tensor<4x2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @channels(%x: tensor<1x3x8x8xf32>, %a: tensor<4x2x3x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has 3 channels, but 1 groups of filters read 2 each}}
  %y = onnx.Conv_22(%x, %a) : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @bias(%x: tensor<1x2x8xf32>, %a: tensor<4x2x3xf32>, %b: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'B' has 3 elements for 4 filters}}
  %y = onnx.Conv_22(%x, %a, %b) : (tensor<1x2x8xf32>, tensor<4x2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @small(%x: tensor<1x3x2x2xf32>, %a: tensor<4x3x5x5xf32>) -> tensor<*xf32> {
  // expected-error @below {{the kernel covers 5 positions of dimension 2, which has only 2 with its padding}}
  %y = onnx.Conv_22(%x, %a) : (tensor<1x3x2x2xf32>, tensor<4x3x5x5xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @unknown(%x: tensor<1x2x8xf32>, %a: tensor<4x2x?xf32>) -> tensor<1x4x?xf32> {
  // expected-error @below {{cannot be compiled: the kernel's size is not known at compile time}}
  %y = onnx.Conv_22(%x, %a) : (tensor<1x2x8xf32>, tensor<4x2x?xf32>) -> tensor<1x4x?xf32>
  return %y : tensor<1x4x?xf32>
}
