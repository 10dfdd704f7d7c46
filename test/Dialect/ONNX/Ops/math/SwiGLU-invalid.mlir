// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @ranks(%0: tensor<2x3xf32>, %1: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'A' has rank 2 and 'B' has rank 1}}
  %y = onnx.SwiGLU_28(%0, %1) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @sizes(%0: tensor<2x3xf32>, %1: tensor<2x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'A' has size 3 where 'B' has 4}}
  %y = onnx.SwiGLU_28(%0, %1) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
