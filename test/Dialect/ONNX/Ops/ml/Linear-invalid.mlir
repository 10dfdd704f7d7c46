// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @coefficients(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has 3 coefficients for 2 targets}}
  %0 = onnx.ml.LinearRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0, 3.0>, targets = 2 : i64} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @intercepts(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has 2 intercepts for 1 targets}}
  %0 = onnx.ml.LinearRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0>, intercepts = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @features(%x: tensor<1x3xf32>) {
  // expected-error @+1 {{has coefficients for 2 features, but an input of 3}}
  %0 = onnx.ml.LinearRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0>} : (tensor<1x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @rank(%x: tensor<2xf32>) {
  // expected-error @+1 {{needs an input of rank 2, not 1}}
  %0 = onnx.ml.LinearRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0>} : (tensor<2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @transform(%x: tensor<1x2xf32>) -> tensor<1x1xf32> {
  // expected-error @+1 {{cannot be compiled: post_transform LOGISTIC}}
  %0 = onnx.ml.LinearRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0>, post_transform = "LOGISTIC"} : (tensor<1x2xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// -----

func.func @rho(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{needs coefficients and rho}}
  %0 = onnx.ml.SVMRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @supports(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has 2 coefficients and 3 numbers of 2 support vectors}}
  %0 = onnx.ml.SVMRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0>, n_supports = 2 : i64, rho = array<f32: 1.0>, support_vectors = array<f32: 1.0, 2.0, 3.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @kernel(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{'kernel_type' is 'CUBE', not LINEAR, POLY, RBF or SIGMOID}}
  %0 = onnx.ml.SVMRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0>, kernel_type = "CUBE", rho = array<f32: 1.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @parameters(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{'kernel_params' has 0 values, not 3}}
  %0 = onnx.ml.SVMRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0>, kernel_type = "RBF", rho = array<f32: 1.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @categories(%x: tensor<3xi64>) {
  // expected-error @+1 {{needs one of 'cats_int64s' and 'cats_strings'}}
  %0 = onnx.ml.OneHotEncoder_1(%x) : (tensor<3xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @none(%x: tensor<3xi64>) -> tensor<3x0xf32> {
  // expected-error @+1 {{cannot be compiled: no categories}}
  %0 = onnx.ml.OneHotEncoder_1(%x) {cats_int64s = array<i64>} : (tensor<3xi64>) -> tensor<3x0xf32>
  return %0 : tensor<3x0xf32>
}

// -----

func.func @strings(%x: tensor<3xi64>) -> tensor<3x1xf32> {
  // expected-error @+1 {{cannot be compiled: categories that are strings}}
  %0 = onnx.ml.OneHotEncoder_1(%x) {cats_strings = ["a"]} : (tensor<3xi64>) -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}
