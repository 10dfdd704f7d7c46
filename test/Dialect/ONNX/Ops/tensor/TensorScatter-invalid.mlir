// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @mode(%x: tensor<2x5x4xf32>, %a: tensor<2x1x4xf32>, %b: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error @below {{attribute 'mode' has the unknown value 'ring'; it must be 'linear' or 'circular'}}
  %y = onnx.TensorScatter_24(%x, %a, %b) {mode = "ring"} : (tensor<2x5x4xf32>, tensor<2x1x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @axis(%x: tensor<2x5x4xf32>, %a: tensor<2x1x4xf32>, %b: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error @below {{has the batch axis 0 as its sequence axis}}
  %y = onnx.TensorScatter_24(%x, %a, %b) {axis = 0 : i64} : (tensor<2x5x4xf32>, tensor<2x1x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @rank(%x: tensor<2x5x4xf32>, %a: tensor<2x4xf32>, %b: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error @below {{has an update of rank 2 for a cache of rank 3}}
  %y = onnx.TensorScatter_24(%x, %a, %b) : (tensor<2x5x4xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
