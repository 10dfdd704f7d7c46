// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @matmul(%0: tensor<2x3xui8>, %1: tensor<f32>, %2: tensor<ui8>, %3: tensor<3x4xui8>, %4: tensor<f32>, %5: tensor<ui8>, %6: tensor<2xf32>, %7: tensor<2xui8>) -> tensor<2x4xui8> {
  // expected-error @below {{cannot be compiled: y_zero_point is not one number}}
  %y = onnx.QLinearMatMul_21(%0, %1, %2, %3, %4, %5, %6, %7) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<2xf32>, tensor<2xui8>) -> tensor<2x4xui8>
  return %y : tensor<2x4xui8>
}

// -----

func.func @conv(%0: tensor<1x1x3x3xui8>, %1: tensor<f32>, %2: tensor<ui8>, %3: tensor<1x1x2x2xui8>, %4: tensor<f32>, %5: tensor<ui8>, %6: tensor<f32>, %7: tensor<?xui8>) -> tensor<1x1x2x2xui8> {
  // expected-error @below {{cannot be compiled: y_zero_point is not one number}}
  %y = onnx.QLinearConv_10(%0, %1, %2, %3, %4, %5, %6, %7) : (tensor<1x1x3x3xui8>, tensor<f32>, tensor<ui8>, tensor<1x1x2x2xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<?xui8>) -> tensor<1x1x2x2xui8>
  return %y : tensor<1x1x2x2xui8>
}

// -----

func.func @sizes(%0: tensor<2x3xui8>, %1: tensor<5x4xi8>) -> tensor<*xi32> {
  // expected-error @below {{multiplies rows of 3 elements by columns of 5}}
  %y = onnx.MatMulInteger_10(%0, %1) : (tensor<2x3xui8>, tensor<5x4xi8>) -> tensor<*xi32>
  return %y : tensor<*xi32>
}
