// RUN: strata-opt %s --split-input-file --verify-diagnostics --onnx-infer-shapes

func.func @type(%x: tensor<f32>) {
  // expected-error@+1 {{attribute 'output_type' is 'float'; allowed are f16, f32, f64, bf16, f8e4m3, f8e5m2, i4 to i64 and u4 to u64}}
  %0 = ov.Range_4(%x, %x, %x) {output_type = "float"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @vector(%x: tensor<1xf32>, %y: tensor<f32>) {
  // expected-error@+1 {{stop must be a scalar, but is of rank 1}}
  %0 = ov.Range_4(%y, %x, %y) {output_type = "f32"} : (tensor<f32>, tensor<1xf32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @boolean(%x: tensor<i1>, %y: tensor<f32>) {
  // expected-error@+1 {{operand #0 'start' must be}}
  %0 = ov.Range_4(%x, %y, %y) {output_type = "f32"} : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @result(%x: tensor<f32>) {
  // expected-error@+1 {{output_type is i32, but the result holds 'f32'}}
  %0 = ov.Range_4(%x, %x, %x) {output_type = "i32"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @result_rank(%x: tensor<f32>) {
  // expected-error@+1 {{the result is 1-D, but is declared of rank 2}}
  %0 = ov.Range_4(%x, %x, %x) {output_type = "f32"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?x1xf32>
  return
}

// -----

func.func @attribute(%x: tensor<f32>) {
  // expected-error@+1 {{has no attribute 'axis'; it has 'output_type'}}
  %0 = ov.Range_4(%x, %x, %x) {axis = 1 : i64, output_type = "f32"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

// A known operand is enough.
func.func @zero(%x: tensor<i32>) {
  %0 = onnx.Initializer dense<0> : tensor<i32>
  // expected-error@+1 {{step is zero}}
  %1 = ov.Range_4(%x, %x, %0) {output_type = "i32"} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?xi32>
  return
}

// -----

func.func @minus_zero(%x: tensor<f32>) {
  %0 = onnx.Initializer dense<-0.0> : tensor<f32>
  // expected-error@+1 {{step is zero}}
  %1 = ov.Range_4(%x, %x, %0) {output_type = "f32"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @cast_to_zero(%x: tensor<f32>) {
  %0 = onnx.Initializer dense<0.5> : tensor<f32>
  // expected-error@+1 {{step is zero after its cast to 64-bit integers, in which the elements are computed}}
  %1 = ov.Range_4(%x, %x, %0) {output_type = "i32"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xi32>
  return
}

// -----

func.func @infinite(%x: tensor<f32>) {
  %0 = onnx.Initializer dense<0xFF800000> : tensor<f32>
  // expected-error@+1 {{stop is infinite or not a number}}
  %1 = ov.Range_4(%x, %0, %x) {output_type = "f32"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @nan(%x: tensor<f32>) {
  %0 = onnx.Initializer dense<0x7FC00000> : tensor<f32>
  // expected-error@+1 {{start is infinite or not a number}}
  %1 = ov.Range_4(%0, %x, %x) {output_type = "f32"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @out_of_range(%x: tensor<f32>) {
  %0 = onnx.Initializer dense<1.0e+19> : tensor<f32>
  // 10^19 is an unsigned 64-bit integer, but no signed one.
  %1 = ov.Range_4(%0, %x, %x) {output_type = "u64"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xui64>
  // expected-error@+1 {{start is out of the range of 64-bit integers, in which the elements are computed}}
  %2 = ov.Range_4(%0, %x, %x) {output_type = "i32"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xi32>
  return
}

// -----

func.func @out_of_float(%x: tensor<f64>) {
  %0 = onnx.Initializer dense<1.0e+39> : tensor<f64>
  // expected-error@+1 {{stop is out of the range of f32, in which the elements are computed}}
  %1 = ov.Range_4(%x, %0, %x) {output_type = "bf16"} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<?xbf16>
  return
}

// -----

func.func @memory() {
  %start = onnx.Initializer dense<0> : tensor<i64>
  %stop = onnx.Initializer dense<18446744073709551615> : tensor<ui64>
  %step = onnx.Initializer dense<1> : tensor<i8>
  // expected-error@+1 {{there are more elements than memory can hold}}
  %0 = ov.Range_4(%start, %stop, %step) {output_type = "u64"} : (tensor<i64>, tensor<ui64>, tensor<i8>) -> tensor<?xui64>
  return
}
