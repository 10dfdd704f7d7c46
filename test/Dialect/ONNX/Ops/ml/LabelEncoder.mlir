// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Version 1 numbers strings.
// CHECK-LABEL: @old
// CHECK: onnx.ml.LabelEncoder_4(%{{.*}}) {keys_strings = ["a", "b"], values_int64s = array<i64: 0, 1>}
// LOWER-LABEL: func.func @old(
// LOWER: call @strata_rt_string_find
func.func @old(%x: tensor<?x!onnx.string>) -> tensor<*xi64> {
  %y = onnx.ml.LabelEncoder_1(%x) {classes_strings = ["a", "b"]} : (tensor<?x!onnx.string>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}

// -----

// LOWER-LABEL: func.func @floats(
// LOWER-SAME: -> (tensor<3xi64>
// The bits of the numbers, as f64 with one zero and one NaN, have places in the upper bits of a product.
// LOWER: arith.extf {{.*}} : f32 to f64
// LOWER: arith.cmpf uno
// LOWER: arith.addf
// LOWER: arith.bitcast {{.*}} : f64 to i64
// LOWER: arith.muli
// LOWER: arith.shrui
// LOWER: arith.cmpi eq
// LOWER-NOT: call
// LOWER: arith.select
func.func @floats(%x: tensor<3xf32>) -> tensor<*x!onnx.string> {
  %y = onnx.ml.LabelEncoder_4(%x) {keys_floats = array<f32: 1.0, 2.0>, values_strings = ["x", "y"], default_string = "?"} : (tensor<3xf32>) -> tensor<*x!onnx.string>
  return %y : tensor<*x!onnx.string>
}
