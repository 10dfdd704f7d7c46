// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @perm(%x: tensor<5x2xf32>) -> tensor<*xf32> {
  // expected-error @below {{'perm' is not a permutation of 0 to 1}}
  %y = onnx.Transpose_13(%x) {perm = array<i64: 0, 0>} : (tensor<5x2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @rank(%x: tensor<5x2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'perm' has 2 elements for an input of rank 3}}
  %y = onnx.Transpose_25(%x) {perm = array<i64: 1, 0>} : (tensor<5x2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
