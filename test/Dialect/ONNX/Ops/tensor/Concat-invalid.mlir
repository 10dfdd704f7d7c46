// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @ranks(%x: tensor<2x3xf32>, %a: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @below {{input 1 has rank 1, the first one has rank 2}}
  %y = onnx.Concat_13(%x, %a) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @sizes(%x: tensor<4x2xf32>, %a: tensor<4x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{input 1 has size 3 in dimension 1, another one has 2}}
  %y = onnx.Concat_13(%x, %a) {axis = 0 : i64} : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @axis(%x: tensor<2x3xf32>, %a: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{axis 2 is out of range for rank 2}}
  %y = onnx.Concat_13(%x, %a) {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
