// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @step(%x: tensor<4xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<0> : tensor<1xi64>
  %b = onnx.Initializer dense<0> : tensor<1xi64>
  %d = onnx.Initializer dense<0> : tensor<1xi64>
  // expected-error @below {{has the step 0}}
  %y = onnx.Slice_13(%x, %a, %b, none, %d) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, none, tensor<1xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @lengths(%x: tensor<4x4xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<[0, 1]> : tensor<2xi64>
  %b = onnx.Initializer dense<[1, 2]> : tensor<2xi64>
  %c = onnx.Initializer dense<0> : tensor<1xi64>
  // expected-error @below {{has 1 axes, but 2 starts}}
  %y = onnx.Slice_13(%x, %a, %b, %c) : (tensor<4x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @unknown(%x: tensor<4xf32>, %a: tensor<?xi64>, %b: tensor<?xi64>) -> tensor<?xf32> {
  // expected-error @below {{cannot be compiled: the number of its axes is not known at compile time}}
  %y = onnx.Slice_13(%x, %a, %b) : (tensor<4xf32>, tensor<?xi64>, tensor<?xi64>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @lists(%x: tensor<4x4xf32>, %a: tensor<2xi64>, %b: tensor<1xi64>) -> tensor<?x?xf32> {
  // expected-error @below {{its lists have different lengths}}
  %y = onnx.Slice_13(%x, %a, %b) : (tensor<4x4xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
