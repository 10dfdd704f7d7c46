// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @categories(%x: tensor<3xi64>) {
  // expected-error @+1 {{needs one of 'cats_int64s' and 'cats_strings'}}
  %0 = onnx.ml.OneHotEncoder_1(%x) : (tensor<3xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @strings(%x: tensor<3xi64>) -> tensor<3x1xf32> {
  // expected-error @+1 {{has categories that are strings for an input of numbers}}
  %0 = onnx.ml.OneHotEncoder_1(%x) {cats_strings = ["a"]} : (tensor<3xi64>) -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}

// -----

func.func @numbers(%x: tensor<3x!onnx.string>) {
  // expected-error @+1 {{has categories that are numbers for an input of strings}}
  %0 = onnx.ml.OneHotEncoder_1(%x) {cats_int64s = array<i64: 1>} : (tensor<3x!onnx.string>) -> tensor<*xf32>
  return
}
