// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @encode
// CHECK-SAME: -> (tensor<3x2xf32>
// The keys are dense: at their distances from the smallest one stand key and position, behind them what is none.
// CHECK: arith.constant dense<[3, 0, 0, -1, 5, 1, 0, -1]> : tensor<8xi64>
// CHECK: arith.subi %{{.*}}, %c3_i64
// CHECK: arith.minui
// CHECK-NOT: call
// CHECK: cf.assert {{.*}}, "an element is in no category"
func.func @encode(%x: tensor<3xi64>) -> tensor<*xf32> {
  %0 = onnx.ml.OneHotEncoder_1(%x) {cats_int64s = array<i64: 3, 5>, zeros = 0 : i64} : (tensor<3xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @strings
// CHECK: call @strata_rt_string_find
func.func @strings(%x: tensor<?x!onnx.string>) -> tensor<*xf32> {
  %0 = onnx.ml.OneHotEncoder_1(%x) {cats_strings = ["a", "b"]} : (tensor<?x!onnx.string>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @no_categories
// CHECK-SAME: -> (tensor<3x0xf32>
func.func @no_categories(%x: tensor<3xi64>) -> tensor<*xf32> {
  %0 = onnx.ml.OneHotEncoder_1(%x) {cats_int64s = array<i64>} : (tensor<3xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
