// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @mode(%x: tensor<4xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<1> : tensor<2xi64>
  // expected-error @below {{attribute 'mode' has the unknown value 'mirror'; it must be 'constant', 'reflect', 'edge' or 'wrap'}}
  %y = onnx.Pad_25(%x, %a) {mode = "mirror"} : (tensor<4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @pads(%x: tensor<5xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<0> : tensor<3xi64>
  // expected-error @below {{has 3 pads for 1 axes}}
  %y = onnx.Pad_25(%x, %a) : (tensor<5xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @crop(%x: tensor<5xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<-3> : tensor<2xi64>
  // expected-error @below {{crops dimension 0 to size -1}}
  %y = onnx.Pad_25(%x, %a) : (tensor<5xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @axes(%x: tensor<2x3xf32>, %a: tensor<?xi64>, %c: tensor<?xi64>) -> tensor<?x?xf32> {
  // expected-error @below {{cannot be compiled: the number of its axes is not known at compile time}}
  %y = onnx.Pad_25(%x, %a, none, %c) : (tensor<2x3xf32>, tensor<?xi64>, none, tensor<?xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

func.func @empty(%x: tensor<0xf32>) -> tensor<2xf32> {
  %a = onnx.Initializer dense<1> : tensor<2xi64>
  // expected-error @below {{cannot be compiled: it repeats elements of dimension 0, which has none}}
  %y = onnx.Pad_25(%x, %a) {mode = "edge"} : (tensor<0xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
