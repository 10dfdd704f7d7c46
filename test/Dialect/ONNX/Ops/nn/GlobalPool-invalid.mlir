// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @rank(%x: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has rank 1; a batch and channels are needed}}
  %y = onnx.GlobalMaxPool_22(%x) : (tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @p(%x: tensor<1x2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'p' is 0, less than 1}}
  %y = onnx.GlobalLpPool_22(%x) {p = 0 : i64} : (tensor<1x2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @half(%x: tensor<1x2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{cannot be upgraded: its 'p' 2.500000e+00 is not a positive integer}}
  %y = onnx.GlobalLpPool_1(%x) {p = 2.5 : f32} : (tensor<1x2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
