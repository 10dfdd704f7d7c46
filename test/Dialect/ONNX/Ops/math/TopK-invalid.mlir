// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @many(%0: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xi64>) {
  %1 = onnx.Initializer dense<5> : tensor<1xi64>
  // expected-error @below {{takes 5 elements of a dimension of size 3}}
  %y, %z = onnx.TopK_24(%0, %1) : (tensor<2x3xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  return %y, %z : tensor<*xf32>, tensor<*xi64>
}

// -----

func.func @negative(%0: tensor<2x?xf32>) -> (tensor<*xf32>, tensor<*xi64>) {
  // expected-error @below {{takes -1 elements of a dimension of any size}}
  %y, %z = onnx.TopK_1(%0) {k = -1 : i64} : (tensor<2x?xf32>) -> (tensor<*xf32>, tensor<*xi64>)
  return %y, %z : tensor<*xf32>, tensor<*xi64>
}

// -----

func.func @axis(%0: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xi64>) {
  %1 = onnx.Initializer dense<5> : tensor<1xi64>
  // expected-error @below {{axis 2 is out of range for rank 2}}
  %y, %z = onnx.TopK_24(%0, %1) {axis = 2 : i64} : (tensor<2x3xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  return %y, %z : tensor<*xf32>, tensor<*xi64>
}
