// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Scores of double inputs are computed in f64.
// CHECK-LABEL: @linear
// CHECK-SAME: -> (tensor<?x2xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.truncf {{.*}} : f64 to f32
func.func @linear(%x: tensor<?x2xf64>) -> tensor<*xf32> {
  %0 = onnx.ml.LinearRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0, 3.0, 4.0>, intercepts = array<f32: 1.0, 2.0>, targets = 2 : i64} : (tensor<?x2xf64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @kernel
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: arith.cmpf ogt
func.func @kernel(%x: tensor<?x2xf32>) -> tensor<*xf32> {
  %0 = onnx.ml.SVMRegressor_1(%x) {coefficients = array<f32: 1.0, 2.0>, kernel_params = array<f32: 0.5, 0.0, 0.0>, kernel_type = "RBF", n_supports = 2 : i64, one_class = 1 : i64, rho = array<f32: 1.0>, support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0>} : (tensor<?x2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @encode
// CHECK-SAME: -> (tensor<3x2xf32>
// CHECK: cf.assert {{.*}}, "an element is in no category"
func.func @encode(%x: tensor<3xi64>) -> tensor<*xf32> {
  %0 = onnx.ml.OneHotEncoder_1(%x) {cats_int64s = array<i64: 3, 5>, zeros = 0 : i64} : (tensor<3xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
