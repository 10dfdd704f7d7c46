// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @axis(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{axis 3 is out of range for rank 2}}
  %y = onnx.Flatten_25(%x) {axis = 3 : i64} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
