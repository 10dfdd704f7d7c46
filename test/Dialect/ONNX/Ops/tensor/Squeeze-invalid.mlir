// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @twice(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<[1, -3]> : tensor<2xi64>
  // expected-error @below {{has the axis 1 twice}}
  %y = onnx.Unsqueeze_25(%x, %a) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @size(%x: tensor<5xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<0> : tensor<1xi64>
  // expected-error @below {{removes dimension 0, whose size is 5}}
  %y = onnx.Squeeze_25(%x, %a) : (tensor<5xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @unknown(%x: tensor<1x1x5xf32>, %a: tensor<?xi64>) -> tensor<?x?xf32> {
  // expected-error @below {{cannot be compiled: neither the axes nor their number is known at compile time}}
  %y = onnx.Squeeze_25(%x, %a) : (tensor<1x1x5xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

func.func @unknown_unsqueeze(%x: tensor<5xf32>, %a: tensor<?xi64>) -> tensor<?x?x?xf32> {
  // expected-error @below {{cannot be compiled: neither the axes nor their number is known at compile time}}
  %y = onnx.Unsqueeze_25(%x, %a) : (tensor<5xf32>, tensor<?xi64>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}
