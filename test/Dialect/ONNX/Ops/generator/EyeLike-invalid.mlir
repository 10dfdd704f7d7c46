// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @eye(%x: tensor<3xi32>) {
  // expected-error @+1 {{input must be of rank 2, but is of rank 1}}
  %0 = onnx.EyeLike_9(%x) : (tensor<3xi32>) -> tensor<*xi32>
  return
}

// -----

func.func @dtype(%x: tensor<3x3xi32>) {
  // expected-error @+1 {{dtype 99 is no element type}}
  %0 = onnx.EyeLike_9(%x) {dtype = 99 : i64} : (tensor<3x3xi32>) -> tensor<*xf32>
  return
}
