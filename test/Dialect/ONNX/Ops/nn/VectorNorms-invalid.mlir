// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @p(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'p' is 3, not 1 or 2}}
  %y = onnx.LpNormalization_22(%x) {p = 3 : i64} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @axis(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{axis 2 is out of range for rank 2}}
  %y = onnx.LpNormalization_22(%x) {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @axes(%x: tensor<1x2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'axes' holds 4 is out of range for rank 4}}
  %y = onnx.MeanVarianceNormalization_13(%x) {axes = array<i64: 4>} : (tensor<1x2x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
