// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @axes(%x: tensor<2x3xf32>, %a: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error @below {{batch_axis 0 and time_axis 2 are not 0 and 1}}
  %y = onnx.ReverseSequence_28(%x, %a) {batch_axis = 0 : i64, time_axis = 2 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @rank(%x: tensor<2xf32>, %a: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error @below {{needs an input of rank at least 2, not 1}}
  %y = onnx.ReverseSequence_28(%x, %a) : (tensor<2xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
