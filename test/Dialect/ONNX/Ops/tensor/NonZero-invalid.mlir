// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @condition(%0: tensor<2x3xf32>, %1: tensor<2x3xi1>) -> tensor<*xf32> {
  // expected-error @below {{needs a condition of rank 1, not 2}}
  %y = onnx.Compress_28(%0, %1) : (tensor<2x3xf32>, tensor<2x3xi1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @axis(%0: tensor<2x3xf32>, %1: tensor<3xi1>) -> tensor<*xf32> {
  // expected-error @below {{axis 2 is out of range for rank 2}}
  %y = onnx.Compress_28(%0, %1) {axis = 2 : i64} : (tensor<2x3xf32>, tensor<3xi1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
