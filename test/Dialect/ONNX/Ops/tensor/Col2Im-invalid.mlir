// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @strides(%x: tensor<2x27x4xf32>, %image: tensor<2xi64>, %block: tensor<2xi64>) {
  // expected-error @+1 {{'strides' holds 0, less than 1}}
  %0 = onnx.Col2Im_18(%x, %image, %block) {strides = array<i64: 1, 0>} : (tensor<2x27x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @rank(%x: tensor<27x4xf32>, %image: tensor<2xi64>, %block: tensor<2xi64>) {
  // expected-error @+1 {{needs an input of rank 3, not 2}}
  %0 = onnx.Col2Im_18(%x, %image, %block) : (tensor<27x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @dimensions(%x: tensor<2x27x4xf32>, %image: tensor<2xi64>, %block: tensor<3xi64>) {
  // expected-error @+1 {{has an image of 2 dimensions, but a block of 3}}
  %0 = onnx.Col2Im_18(%x, %image, %block) : (tensor<2x27x4xf32>, tensor<2xi64>, tensor<3xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @pads(%x: tensor<2x27x4xf32>, %image: tensor<2xi64>, %block: tensor<2xi64>) {
  // expected-error @+1 {{'pads' has 2 values, not 4}}
  %0 = onnx.Col2Im_18(%x, %image, %block) {pads = array<i64: 1, 1>} : (tensor<2x27x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @rows(%x: tensor<2x26x4xf32>, %image: tensor<2xi64>) {
  %block = onnx.Initializer dense<3> : tensor<2xi64>
  // expected-error @+1 {{has 26 rows, which blocks of 9 elements do not divide}}
  %0 = onnx.Col2Im_18(%x, %image, %block) : (tensor<2x26x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  return
}
