// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @rank(%x: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @below {{needs an input of rank at least 2, not 1}}
  %y = onnx.Trilu_14(%x) : (tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
