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

func.func @bfloat16_scaled(%x: tensor<2xui8>, %r: tensor<f32>) {
  // expected-error@+1 {{with dtype bfloat16 the mode must be MIN_COMBINED, not SCALED}}
  %0 = tf.Dequantize_1(%x, %r, %r) {dtype = 16 : i64, mode = "SCALED"} : (tensor<2xui8>, tensor<f32>, tensor<f32>) -> tensor<2xbf16>
  return
}

// -----

func.func @bfloat16_min_first(%x: tensor<2xui8>, %r: tensor<f32>) {
  // expected-error@+1 {{with dtype bfloat16 the mode must be MIN_COMBINED, not MIN_FIRST}}
  %0 = tf.Dequantize_1(%x, %r, %r) {dtype = 16 : i64, mode = "MIN_FIRST"} : (tensor<2xui8>, tensor<f32>, tensor<f32>) -> tensor<2xbf16>
  return
}

// -----

func.func @result(%x: tensor<2xui8>, %r: tensor<f32>) {
  // expected-error@+1 {{dtype is 16, but the result holds 'f32'}}
  %0 = tf.Dequantize_1(%x, %r, %r) {dtype = 16 : i64} : (tensor<2xui8>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @narrow(%x: tensor<2xi8>, %r: tensor<f32>) {
  // expected-error@+1 {{attribute 'narrow_range' is 2; allowed are 0 and 1}}
  %0 = tf.Dequantize_1(%x, %r, %r) {narrow_range = 2 : i64} : (tensor<2xi8>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @attribute(%x: tensor<2xi8>, %r: tensor<f32>) {
  // expected-error@+1 {{has no attribute 'rounding'; it has 'axis', 'dtype', 'mode', 'narrow_range'}}
  %0 = tf.Dequantize_1(%x, %r, %r) {rounding = 2 : i64} : (tensor<2xi8>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @input_type(%x: tensor<2xui32>, %r: tensor<f32>) {
  // expected-error@+1 {{operand #0 'input' must be}}
  %0 = tf.Dequantize_1(%x, %r, %r) : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @range_type(%x: tensor<2xui8>, %r: tensor<f64>) {
  // expected-error@+1 {{operand #1 'min_range' must be}}
  %0 = tf.Dequantize_1(%x, %r, %r) : (tensor<2xui8>, tensor<f64>, tensor<f64>) -> tensor<2xf32>
  return
}

// -----

func.func @min_first(%x: tensor<2xui8>, %r: tensor<2xf32>) {
  // expected-error@+1 {{the mode MIN_FIRST takes one range, but there are 2 slices along axis 0}}
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

func.func @axis_of_scalar(%x: tensor<ui8>, %r: tensor<1xf32>) {
  // expected-error@+1 {{axis 0 is out of range for rank 0}}
  %0 = tf.Dequantize_1(%x, %r, %r) {axis = 0 : i64} : (tensor<ui8>, tensor<1xf32>, tensor<1xf32>) -> tensor<f32>
  return
}

// -----

func.func @ranges(%x: tensor<2xui8>, %min: tensor<2xf32>, %max: tensor<3xf32>) {
  // expected-error@+1 {{needs 2 ranges, one per slice along axis 0, but max_range has 3 elements}}
  %0 = tf.Dequantize_1(%x, %min, %max) {axis = 0 : i64} : (tensor<2xui8>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @one_range(%x: tensor<2xui8>, %r: tensor<2xf32>) {
  // expected-error@+1 {{needs 1 range for the tensor, but min_range has 2 elements}}
  %0 = tf.Dequantize_1(%x, %r, %r) {axis = -2 : i64} : (tensor<2xui8>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @range_rank(%x: tensor<2xui8>, %r: tensor<2x1xf32>) {
  // expected-error@+1 {{with an axis the ranges must be 1-D, but min_range is of rank 2}}
  %0 = tf.Dequantize_1(%x, %r, %r) {axis = 0 : i64} : (tensor<2xui8>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2xf32>
  return
}
