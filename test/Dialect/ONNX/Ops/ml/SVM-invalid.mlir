// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

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
  %0 = onnx.ml.SVMRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0>, kernel_type = "RBF", n_supports = 2 : i64, support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0>, rho = array<f32: 1.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @labels(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{needs labels in one of}}
  %0:2 = onnx.ml.SVMClassifier_1(%x) {coefficients = array<f32: 1.0, 2.0>, rho = array<f32: 1.0>, kernel_params = array<f32: 1.0, 1.0, 1.0>, support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0>, vectors_per_class = array<i64: 1, 1>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}

// -----

func.func @negative(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has -1 support vectors of class 1}}
  %0:2 = onnx.ml.SVMClassifier_1(%x) {classlabels_ints = array<i64: 1, 2>, coefficients = array<f32: 1.0, 2.0>, rho = array<f32: 1.0>, vectors_per_class = array<i64: 1, -1>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}

// -----

func.func @classes(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has support vectors of 2 classes, and 3 labels}}
  %0:2 = onnx.ml.SVMClassifier_1(%x) {classlabels_ints = array<i64: 1, 2, 3>, coefficients = array<f32: 1.0, 2.0>, rho = array<f32: 1.0>, kernel_params = array<f32: 1.0, 1.0, 1.0>, support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0>, vectors_per_class = array<i64: 1, 1>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}

// -----

func.func @one_class(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{needs two classes to decide between}}
  %0:2 = onnx.ml.SVMClassifier_1(%x) {classlabels_ints = array<i64: 1>, coefficients = array<f32: 1.0, 2.0>, rho = array<f32: 1.0>, vectors_per_class = array<i64: 1>, support_vectors = array<f32: 1.0>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}

// -----

func.func @numbers(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has 4 coefficients and 4 numbers of 2 support vectors of 2 classes}}
  %0:2 = onnx.ml.SVMClassifier_1(%x) {classlabels_ints = array<i64: 1, 2>, coefficients = array<f32: 1.0, 2.0, 3.0, 4.0>, rho = array<f32: 1.0>, kernel_params = array<f32: 1.0, 1.0, 1.0>, support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0>, vectors_per_class = array<i64: 1, 1>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}

// -----

func.func @pairs(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has 2 numbers in 'rho' for 1 pairs of classes}}
  %0:2 = onnx.ml.SVMClassifier_1(%x) {classlabels_ints = array<i64: 1, 2>, coefficients = array<f32: 1.0, 2.0>, rho = array<f32: 1.0, 2.0>, kernel_params = array<f32: 1.0, 1.0, 1.0>, support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0>, vectors_per_class = array<i64: 1, 1>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}

// -----

func.func @probabilities(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has 1 numbers in 'prob_a' and 0 in 'prob_b' for 1 pairs of classes}}
  %0:2 = onnx.ml.SVMClassifier_1(%x) {classlabels_ints = array<i64: 1, 2>, coefficients = array<f32: 1.0, 2.0>, rho = array<f32: 1.0>, prob_a = array<f32: 1.0>, kernel_params = array<f32: 1.0, 1.0, 1.0>, support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0>, vectors_per_class = array<i64: 1, 1>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}

// -----

func.func @linear(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has 2 coefficients for 3 labels}}
  %0:2 = onnx.ml.SVMClassifier_1(%x) {classlabels_ints = array<i64: 1, 2, 3>, coefficients = array<f32: 1.0, 2.0>, rho = array<f32: 1.0>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}
