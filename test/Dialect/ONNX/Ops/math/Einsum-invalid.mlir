// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @terms(%0: tensor<2x3xf32>, %1: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'equation' has 1 terms for 2 operands}}
  %y = onnx.Einsum_28(%0, %1) {equation = "ij->i"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @ellipses(%0: tensor<2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'equation' has two ellipses in one term}}
  %y = onnx.Einsum_28(%0) {equation = "...i...->i"} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @character(%0: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'equation' has the character '1', which is no label}}
  %y = onnx.Einsum_28(%0) {equation = "i1->i"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @labels(%0: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{the term 'ijk' of 'equation' has 3 labels for an operand of rank 2}}
  %y = onnx.Einsum_28(%0) {equation = "ijk->i"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @repeated(%0: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{the result of 'equation' repeats a label}}
  %y = onnx.Einsum_28(%0) {equation = "ij->ii"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @unknown(%0: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{the result of 'equation' has the label 'k', which no operand has}}
  %y = onnx.Einsum_28(%0) {equation = "ij->k"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @sizes(%0: tensor<2x3xf32>, %1: tensor<4x5xf32>) -> tensor<*xf32> {
  // expected-error @below {{operand 1 has size 4 where another has 3}}
  %y = onnx.Einsum_28(%0, %1) {equation = "ij,jk->ik"} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
