// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @scalar(%x: tensor<2x3xf32>, %a: tensor<f32>) -> tensor<*xf32> {
  // expected-error @below {{'B' is a scalar}}
  %y = onnx.MatMul_13(%x, %a) : (tensor<2x3xf32>, tensor<f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @inner(%x: tensor<2x3xf32>, %a: tensor<4x5xf32>) -> tensor<*xf32> {
  // expected-error @below {{multiplies rows of 3 elements by columns of 4}}
  %y = onnx.MatMul_13(%x, %a) : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @batches(%x: tensor<2x2x3xf32>, %a: tensor<5x3x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{batch dimensions 2 and 5 do not broadcast}}
  %y = onnx.MatMul_13(%x, %a) : (tensor<2x2x3xf32>, tensor<5x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
