// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @scale
// CHECK: cf.assert {{.*}}, "there is not one parameter per feature"
// CHECK: arith.subf
// CHECK: arith.mulf
func.func @scale(%x: tensor<?x?xf32>) -> tensor<*xf32> {
  %0 = onnx.ml.Scaler_1(%x) {offset = array<f32: 1.0, 2.0>, scale = array<f32: 3.0>} : (tensor<?x?xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @impute
// CHECK: arith.cmpi eq
// CHECK: arith.select
func.func @impute(%x: tensor<?x2xi64>) -> tensor<*xi64> {
  %0 = onnx.ml.Imputer_1(%x) {imputed_value_int64s = array<i64: 1, 2>, replaced_value_int64 = -1 : i64} : (tensor<?x2xi64>) -> tensor<*xi64>
  return %0 : tensor<*xi64>
}

// CHECK-LABEL: @normalize
// CHECK-SAME: -> (tensor<?x2xf32>
// CHECK: math.sqrt {{.*}} : f64
func.func @normalize(%x: tensor<?x2xf64>) -> tensor<*xf32> {
  %0 = onnx.ml.Normalizer_1(%x) {norm = "L2"} : (tensor<?x2xf64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
