// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @empty(%x: tensor<2x0xf32>) -> tensor<*xi64> {
  // expected-error @below {{looks for an element along dimension 1, which has none}}
  %y = onnx.ArgMax_13(%x) {axis = 1 : i64} : (tensor<2x0xf32>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}

// -----

func.func @axis(%x: tensor<2x3xf32>) -> tensor<*xi64> {
  // expected-error @below {{axis 2 is out of range for rank 2}}
  %y = onnx.ArgMax_13(%x) {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}
