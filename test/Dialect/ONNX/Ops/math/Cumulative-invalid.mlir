// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @scalar(%x: tensor<f32>, %a: tensor<i64>) -> tensor<f32> {
  // expected-error @below {{cannot be compiled: its input is a scalar}}
  %y = onnx.CumSum_14(%x, %a) : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @axis(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<2> : tensor<i64>
  // expected-error @below {{axis 2 is out of range for rank 2}}
  %y = onnx.CumSum_14(%x, %a) : (tensor<2x3xf32>, tensor<i64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
