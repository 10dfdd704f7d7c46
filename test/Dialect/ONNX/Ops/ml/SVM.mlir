// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @kernel
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: arith.cmpf ogt
func.func @kernel(%x: tensor<?x2xf32>) -> tensor<*xf32> {
  %0 = onnx.ml.SVMRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0>, kernel_params = array<f32: 0.5, 0.0, 0.0>, kernel_type = "RBF", n_supports = 2 : i64, one_class = 1 : i64, rho = array<f32: 1.0>, support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0>} : (tensor<?x2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Of three classes and a pair of decisions for each two of them.
// CHECK-LABEL: @classes
// CHECK-SAME: -> (tensor<?xi64>{{.*}}tensor<?x3xf32>
// CHECK: call @strata_rt_svm_probabilities
func.func @classes(%x: tensor<?x1xf32>) -> (tensor<*xi64>, tensor<*xf32>) {
  %0:2 = onnx.ml.SVMClassifier_1(%x) {classlabels_ints = array<i64: 4, 5, 6>, coefficients = array<f32: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>, kernel_params = array<f32: 0.5, 0.0, 0.0>, kernel_type = "RBF", prob_a = array<f32: 1.0, 1.0, 1.0>, prob_b = array<f32: 0.0, 0.0, 0.0>, rho = array<f32: 1.0, 2.0, 3.0>, support_vectors = array<f32: 1.0, 2.0, 3.0>, vectors_per_class = array<i64: 1, 1, 1>} : (tensor<?x1xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<*xi64>, tensor<*xf32>
}
