// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @size(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{sample_size is 0, but must be at least 1}}
  %0 = onnx.Multinomial_22(%x) {sample_size = 0 : i64} : (tensor<2x3xf32>) -> tensor<*xi32>
  return
}

// -----

func.func @type(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{dtype 1 (float) is no type of its result}}
  %0 = onnx.Multinomial_22(%x) {dtype = 1 : i64} : (tensor<2x3xf32>) -> tensor<*xi32>
  return
}

// -----

func.func @rank(%x: tensor<3xf32>) {
  // expected-error @+1 {{input must be of rank 2, but is of rank 1}}
  %0 = onnx.Multinomial_22(%x) : (tensor<3xf32>) -> tensor<*xi32>
  return
}

// -----

func.func @bernoulli(%x: tensor<3xf32>) {
  // expected-error @+1 {{dtype 14 (complex64) is no type of its result}}
  %0 = onnx.Bernoulli_22(%x) {dtype = 14 : i64} : (tensor<3xf32>) -> tensor<*xf32>
  return
}
