// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --split-input-file --verify-diagnostics

func.func @both(%x: tensor<3xi64>) -> tensor<3xf32> {
  // expected-error @below {{needs one attribute keys_*, and has 2}}
  %0 = onnx.ml.LabelEncoder_4(%x) {keys_int64s = array<i64: 1>, keys_strings = ["a"], values_floats = array<f32: 1.0>} : (tensor<3xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @lengths(%x: tensor<3xi64>) -> tensor<3xf32> {
  // expected-error @below {{has 2 keys and 1 values}}
  %0 = onnx.ml.LabelEncoder_4(%x) {keys_int64s = array<i64: 1, 2>, values_floats = array<f32: 1.0>} : (tensor<3xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @types(%x: tensor<3xi64>) -> tensor<3xf32> {
  // expected-error @below {{has keys of type tensor(string) for an input of type tensor(int64)}}
  %0 = onnx.ml.LabelEncoder_4(%x) {keys_strings = ["a"], values_floats = array<f32: 1.0>} : (tensor<3xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
