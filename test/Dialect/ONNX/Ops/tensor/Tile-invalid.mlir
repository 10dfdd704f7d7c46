// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @count(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<2> : tensor<1xi64>
  // expected-error @below {{has 1 repeats for an input of rank 2}}
  %y = onnx.Tile_13(%x, %a) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @negative(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<[-1, 1]> : tensor<2xi64>
  // expected-error @below {{repeats dimension 0 -1 times}}
  %y = onnx.Tile_13(%x, %a) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @old(%x: tensor<*xf32>, %a: tensor<f32>, %b: tensor<f32>) -> tensor<*xf32> {
  // expected-error @below {{cannot be upgraded to version 6: the rank of its input is not known}}
  %y = onnx.Tile_1(%x, %a, %b) : (tensor<*xf32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @axis(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<2.0> : tensor<f32>
  %b = onnx.Initializer dense<2.0> : tensor<f32>
  // expected-error @below {{axis 2.000000e+00 is out of range for rank 2}}
  %y = onnx.Tile_1(%x, %a, %b) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
