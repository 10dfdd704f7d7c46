// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @rank(%x: tensor<3xf32>, %a: tensor<3x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'A' has rank 1, not 2}}
  %y = onnx.Gemm_13(%x, %a) : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @inner(%x: tensor<2x3xf32>, %a: tensor<4x5xf32>) -> tensor<*xf32> {
  // expected-error @below {{multiplies rows of 3 elements by columns of 4}}
  %y = onnx.Gemm_13(%x, %a) : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @bias_rank(%x: tensor<2x3xf32>, %a: tensor<3x5xf32>, %b: tensor<1x1x5xf32>) -> tensor<*xf32> {
  // expected-error @below {{'C' has rank 3, more than 2}}
  %y = onnx.Gemm_13(%x, %a, %b) : (tensor<2x3xf32>, tensor<3x5xf32>, tensor<1x1x5xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @bias(%x: tensor<2x3xf32>, %a: tensor<3x5xf32>, %b: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'C' has size 4 where the product has 5}}
  %y = onnx.Gemm_13(%x, %a, %b) : (tensor<2x3xf32>, tensor<3x5xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
