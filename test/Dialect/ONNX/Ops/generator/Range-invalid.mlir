// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @delta(%x: tensor<i64>) {
  %zero = onnx.Initializer dense<0> : tensor<i64>
  // expected-error @+1 {{delta is 0}}
  %0 = onnx.Range_11(%x, %x, %zero) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  return
}

// -----

func.func @limit(%x: tensor<i64>, %y: tensor<2xi64>) {
  // expected-error @+1 {{limit must be a scalar, but is of type 'tensor<2xi64>'}}
  %0 = onnx.Range_11(%x, %y, %x) : (tensor<i64>, tensor<2xi64>, tensor<i64>) -> tensor<*xi64>
  return
}
