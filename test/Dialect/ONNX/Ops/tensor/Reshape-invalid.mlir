// RUN: strata-opt --split-input-file --verify-diagnostics --onnx-infer-shapes %s

func.func @two(%x: tensor<2x6xf32>) {
  %shape = onnx.Initializer dense<[-1, -1]> : tensor<2xi64>
  // expected-error @+1 {{has more than one -1 in its shape}}
  %y = onnx.Reshape_14(%x, %shape) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @count(%x: tensor<2x6xf32>) {
  %shape = onnx.Initializer dense<[5, 3]> : tensor<2xi64>
  // expected-error @+1 {{reshapes 12 elements into 15}}
  %y = onnx.Reshape_14(%x, %shape) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @copied(%x: tensor<6xf32>) {
  %shape = onnx.Initializer dense<[6, 0]> : tensor<2xi64>
  // expected-error @+1 {{copies dimension 1 of an input of rank 1}}
  %y = onnx.Reshape_14(%x, %shape) : (tensor<6xf32>, tensor<2xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @negative(%x: tensor<6xf32>) {
  %shape = onnx.Initializer dense<[-2, 3]> : tensor<2xi64>
  // expected-error @+1 {{has the size -2 in its shape}}
  %y = onnx.Reshape_14(%x, %shape) : (tensor<6xf32>, tensor<2xi64>) -> tensor<*xf32>
  return
}
