// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @negative(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<-2> : tensor<1xi64>
  // expected-error @below {{has the size -2 in its shape}}
  %y = onnx.Expand_13(%x, %a) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @sizes(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<[2, 4]> : tensor<2xi64>
  // expected-error @below {{does not broadcast size 3 to 4 in dimension 1}}
  %y = onnx.Expand_13(%x, %a) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @rank(%x: tensor<2x3xf32>, %a: tensor<?xi64>) -> tensor<i64> {
  // expected-error @below {{cannot be compiled: the rank of its result is not known at compile time}}
  %y = onnx.Expand_13(%x, %a) : (tensor<2x3xf32>, tensor<?xi64>) -> tensor<*xf32>
  %z = onnx.Size_25(%y) : (tensor<*xf32>) -> tensor<i64>
  return %z : tensor<i64>
}
