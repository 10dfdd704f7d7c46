// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @size(%x: tensor<1x2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'size' is 0, less than 1}}
  %y = onnx.LRN_13(%x) {size = 0 : i64} : (tensor<1x2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @rank(%x: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has rank 1; a batch and channels are needed}}
  %y = onnx.LRN_13(%x) {size = 1 : i64} : (tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
