// RUN: strata-opt %s --onnx-infer-shapes --split-input-file --verify-diagnostics

func.func @columns(%theta: tensor<2x2x4xf32>, %size: tensor<4xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{theta has 4 columns, but needs 3}}
  %0 = onnx.AffineGrid_20(%theta, %size) : (tensor<2x2x4xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @dimensions(%theta: tensor<2x2x3xf32>, %size: tensor<5xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{size has 5 elements, but needs 4}}
  %0 = onnx.AffineGrid_20(%theta, %size) : (tensor<2x2x3xf32>, tensor<5xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @batch(%theta: tensor<2x2x3xf32>) -> tensor<*xf32> {
  %size = onnx.Initializer dense<[3, 3, 5, 6]> : tensor<4xi64>
  // expected-error @+1 {{theta is for 2 grids, but size is for 3}}
  %0 = onnx.AffineGrid_20(%theta, %size) : (tensor<2x2x3xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @rank(%theta: tensor<2x6xf32>, %size: tensor<4xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{theta must be of rank 3, but is of rank 2}}
  %0 = onnx.AffineGrid_20(%theta, %size) : (tensor<2x6xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @four(%theta: tensor<2x4x5xf32>, %size: tensor<6xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{makes grids of 2 or 3 dimensions, not of 4}}
  %0 = onnx.AffineGrid_20(%theta, %size) : (tensor<2x4x5xf32>, tensor<6xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
