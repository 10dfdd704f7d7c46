// An op has the attributes of its version, no others.
// RUN: strata-opt %s --split-input-file --verify-diagnostics

func.func @dropout(%x: tensor<4xf32>, %r: tensor<f32>) {
  %0 = onnx.Dropout_1(%x) {consumed_inputs = array<i64: 0>, is_test = 1 : i64, ratio = 0.5 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{has no attribute 'consumed_inputs'; it has 'is_test', 'ratio'}}
  %1 = onnx.Dropout_6(%x) {consumed_inputs = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dropout(%x: tensor<4xf32>) {
  // expected-error @+1 {{has no attribute 'is_test'; it has 'ratio'}}
  %0 = onnx.Dropout_7(%x) {is_test = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dropout(%x: tensor<4xf32>) {
  // expected-error @+1 {{has no attribute 'seed'; it has 'ratio'}}
  %0 = onnx.Dropout_10(%x) {seed = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dropout(%x: tensor<4xf32>) {
  // expected-error @+1 {{has no attribute 'ratio'; it has 'seed'}}
  %0 = onnx.Dropout_12(%x) {ratio = 0.5 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dropout(%x: tensor<4xf32>, %r: tensor<f32>) {
  // expected-error @+1 {{has 2 operands; the operator's operand is 'data'}}
  %0 = onnx.Dropout_10(%x, %r) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @constant_of_shape(%s: tensor<2xi64>) {
  // expected-error @+1 {{has no attribute 'dtype'; it has 'value'}}
  %0 = onnx.ConstantOfShape_25(%s) {dtype = 1 : i64} : (tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @random_uniform_like(%x: tensor<2xf32>) {
  // expected-error @+1 {{has no attribute 'mean'; it has 'dtype', 'high', 'low', 'seed'}}
  %0 = onnx.RandomUniformLike_1(%x) {mean = 0.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @random_normal_like(%x: tensor<2xf32>) {
  // expected-error @+1 {{has no attribute 'high'; it has 'dtype', 'mean', 'scale', 'seed'}}
  %0 = onnx.RandomNormalLike_22(%x) {high = 0.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @bernoulli(%x: tensor<2xf32>) {
  // expected-error @+1 {{has no attribute 'sample_size'; it has 'dtype', 'seed'}}
  %0 = onnx.Bernoulli_15(%x) {sample_size = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dequantize(%x: tensor<2xi8>, %r: tensor<f32>) {
  // expected-error @+1 {{has no attribute 'round_mode'; it has}}
  %0 = tf.Dequantize_1(%x, %r, %r) {round_mode = "HALF_TO_EVEN"} : (tensor<2xi8>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @range(%r: tensor<f32>) {
  // expected-error @+1 {{requires attribute 'output_type'}}
  %0 = ov.Range_4(%r, %r, %r) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @range(%r: tensor<f32>) {
  // expected-error @+1 {{has no attribute 'stash_type'; it has 'output_type'}}
  %0 = ov.Range_4(%r, %r, %r) {output_type = "f32", stash_type = 1 : i64} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return
}
