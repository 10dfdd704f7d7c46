// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @to(%0: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @below {{to = 8 is no element type with a fixed width}}
  %y = onnx.BitCast_26(%0) {to = 8 : i64} : (tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @widths(%0: tensor<3xf32>) -> tensor<*xi64> {
  // expected-error @below {{cannot reinterpret 32 bits as 64}}
  %y = onnx.BitCast_26(%0) {to = 7 : i64} : (tensor<3xf32>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}
