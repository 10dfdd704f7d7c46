// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @axis(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{axis 2 is out of range for rank 2}}
  %y = onnx.Softmax_13(%x) {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @scalar(%x: tensor<f32>) -> tensor<*xf32> {
  // expected-error @below {{axis 1 is out of range for rank 0}}
  %y = onnx.Softmax_13(%x) {axis = 1 : i64} : (tensor<f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
