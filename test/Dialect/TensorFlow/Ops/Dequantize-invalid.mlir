// RUN: strata-opt %s --split-input-file --verify-diagnostics

func.func @mode(%x: tensor<2xui8>, %r: tensor<f32>) {
  // expected-error@+1 {{attribute 'mode' is 'MINIMAL'; allowed are MIN_COMBINED, MIN_FIRST and SCALED}}
  %0 = tf.Dequantize_1(%x, %r, %r) {mode = "MINIMAL"} : (tensor<2xui8>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @dtype(%x: tensor<2xui8>, %r: tensor<f32>) {
  // expected-error@+1 {{attribute 'dtype' is 10; allowed are 1 (float) and 16 (bfloat16)}}
  %0 = tf.Dequantize_1(%x, %r, %r) {dtype = 10 : i64} : (tensor<2xui8>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @bfloat16(%x: tensor<2xui8>, %r: tensor<f32>) {
  // expected-error@+1 {{with dtype bfloat16 the mode must be MIN_COMBINED, not SCALED}}
  %0 = tf.Dequantize_1(%x, %r, %r) {dtype = 16 : i64, mode = "SCALED"} : (tensor<2xui8>, tensor<f32>, tensor<f32>) -> tensor<2xbf16>
  return
}

// -----

func.func @min_first(%x: tensor<2xui8>, %r: tensor<2xf32>) {
  // expected-error@+1 {{the mode MIN_FIRST has no axis}}
  %0 = tf.Dequantize_1(%x, %r, %r) {axis = 0 : i64, mode = "MIN_FIRST"} : (tensor<2xui8>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @axis(%x: tensor<2xui8>, %r: tensor<2xf32>) {
  // expected-error@+1 {{axis 1 is out of range for rank 1}}
  %0 = tf.Dequantize_1(%x, %r, %r) {axis = 1 : i64} : (tensor<2xui8>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @ranges(%x: tensor<2xui8>, %r: tensor<3xf32>) {
  // expected-error@+1 {{needs ranges of 2 elements, found 3}}
  %0 = tf.Dequantize_1(%x, %r, %r) {axis = 0 : i64} : (tensor<2xui8>, tensor<3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @range_rank(%x: tensor<2xui8>, %r: tensor<2x1xf32>) {
  // expected-error@+1 {{with an axis the ranges must be 1-D, found rank 2}}
  %0 = tf.Dequantize_1(%x, %r, %r) {axis = 0 : i64} : (tensor<2xui8>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2xf32>
  return
}
