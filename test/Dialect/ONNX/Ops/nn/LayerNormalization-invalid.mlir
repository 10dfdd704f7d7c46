// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @stash(%x: tensor<2x3xf32>, %a: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'stash_type' is 7, which is no floating-point type to compute in}}
  %y = onnx.LayerNormalization_17(%x, %a) {stash_type = 7 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @rank(%x: tensor<2x3xf32>, %a: tensor<1x1x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{an operand of rank 3 does not broadcast to 'X' of rank 2}}
  %y = onnx.LayerNormalization_17(%x, %a) : (tensor<2x3xf32>, tensor<1x1x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @size(%x: tensor<2x3xf32>, %a: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @below {{an operand has size 4 where 'X' has 3}}
  %y = onnx.LayerNormalization_17(%x, %a) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @axis(%x: tensor<2x3xf32>, %a: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @below {{axis 2 is out of range for rank 2}}
  %y = onnx.LayerNormalization_17(%x, %a) {axis = 2 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
