// RUN: strata-opt %s --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @training(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{cannot be compiled: training mode}}
  %0 = onnx.Dropout_6(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
