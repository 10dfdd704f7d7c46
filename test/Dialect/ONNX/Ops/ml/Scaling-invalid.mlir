// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @scale(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'scale' has 2 values, neither 1 nor one per feature}}
  %0 = onnx.ml.Scaler_1(%x) {scale = array<f32: 1.0, 2.0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @impute(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{has no values of the input's kind to replace with}}
  %0 = onnx.ml.Imputer_1(%x) {imputed_value_int64s = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @norm(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'norm' is 'L3', not MAX, L1 or L2}}
  %0 = onnx.ml.Normalizer_1(%x) {norm = "L3"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @rank(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{needs an input of rank 1 or 2, not 3}}
  %0 = onnx.ml.Normalizer_1(%x) : (tensor<2x3x4xf32>) -> tensor<*xf32>
  return
}
