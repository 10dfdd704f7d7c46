// RUN: strata-opt %s --verify-diagnostics

func.func @gelu(%x: tensor<3xf32>) {
  // expected-error @+1 {{approximate is 'sigmoid', but must be none or tanh}}
  %0 = onnx.Gelu_20(%x) {approximate = "sigmoid"} : (tensor<3xf32>) -> tensor<3xf32>
  return
}
