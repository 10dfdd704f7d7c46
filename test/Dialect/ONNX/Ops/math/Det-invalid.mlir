// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @vector(%x: tensor<3xf32>) {
  // expected-error @+1 {{needs an input of rank at least 2, not 1}}
  %0 = onnx.Det_22(%x) : (tensor<3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @oblong(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{needs square matrices, not 2 x 3}}
  %0 = onnx.Det_22(%x) : (tensor<2x3xf32>) -> tensor<f32>
  return
}
