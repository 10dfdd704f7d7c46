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
// LOWER: call @strata_rt_float_find
// LOWER: arith.select
func.func @floats(%x: tensor<3xf32>) -> tensor<*x!onnx.string> {
  %y = onnx.ml.LabelEncoder_4(%x) {keys_floats = array<f32: 1.0, 2.0>, values_strings = ["x", "y"], default_string = "?"} : (tensor<3xf32>) -> tensor<*x!onnx.string>
  return %y : tensor<*x!onnx.string>
}
