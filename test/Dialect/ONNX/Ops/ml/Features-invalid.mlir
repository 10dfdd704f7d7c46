// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @count(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{'inputdimensions' has 2 sizes for 1 inputs}}
  %0 = onnx.ml.FeatureVectorizer_1(%x) {inputdimensions = array<i64: 1, 2>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @rank(%x: tensor<1x2x1xf32>) {
  // expected-error @+1 {{needs inputs of rank 1 or 2, and input 0 has 3}}
  %0 = onnx.ml.FeatureVectorizer_1(%x) : (tensor<1x2x1xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @size(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{input 0 has 2 features, and 'inputdimensions' says 3}}
  %0 = onnx.ml.FeatureVectorizer_1(%x) {inputdimensions = array<i64: 3>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @rows(%x: tensor<4x2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{inputs have 4 and 1 rows}}
  %0 = onnx.ml.FeatureVectorizer_1(%x, %y) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<*xf32>
  return
}
