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

func.func @rank(%x: tensor<1x1x2xf32>) {
  // expected-error @+1 {{needs an input of rank 1 or 2, not 3}}
  %0 = onnx.ml.LinearRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0>} : (tensor<1x1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @transform(%x: tensor<1x2xf32>) -> tensor<1x1xf32> {
  // expected-error @+1 {{'post_transform' is 'CUBE', not NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT}}
  %0 = onnx.ml.LinearRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0>, post_transform = "CUBE"} : (tensor<1x2xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// -----

func.func @labels(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{needs labels in one of 'classlabels_strings' and 'classlabels_ints'}}
  %0:2 = onnx.ml.LinearClassifier_1(%x) {coefficients = array<f32: 1.0, 2.0, 3.0, 4.0>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}

// -----

func.func @both_labels(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{needs labels in one of 'classlabels_strings' and 'classlabels_ints'}}
  %0:2 = onnx.ml.LinearClassifier_1(%x) {classlabels_ints = array<i64: 1>, classlabels_strings = ["a"], coefficients = array<f32: 1.0, 2.0, 3.0, 4.0>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}

// -----

func.func @classes(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has 4 coefficients for 3 labels}}
  %0:2 = onnx.ml.LinearClassifier_1(%x) {classlabels_ints = array<i64: 1, 2, 3>, coefficients = array<f32: 1.0, 2.0, 3.0, 4.0>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}

// -----

func.func @classifier_intercepts(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has 3 intercepts for 2 targets}}
  %0:2 = onnx.ml.LinearClassifier_1(%x) {classlabels_ints = array<i64: 1, 2>, coefficients = array<f32: 1.0, 2.0, 3.0, 4.0>, intercepts = array<f32: 1.0, 2.0, 3.0>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}
