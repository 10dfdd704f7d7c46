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

// CHECK-LABEL: @classes
// CHECK-SAME: -> (tensor<?xi64>{{.*}}tensor<?x2xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.cmpf ogt
// CHECK: call @strata_rt_string_constants
// CHECK: math.exp
func.func @classes(%x: tensor<?x2xf32>) -> (tensor<*x!onnx.string>, tensor<*xf32>) {
  %0:2 = onnx.ml.LinearClassifier_1(%x) {classlabels_strings = ["a", "b"], coefficients = array<f32: 1.0, 2.0, 3.0, 4.0>, post_transform = "SOFTMAX"} : (tensor<?x2xf32>) -> (tensor<*x!onnx.string>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<*x!onnx.string>, tensor<*xf32>
}
