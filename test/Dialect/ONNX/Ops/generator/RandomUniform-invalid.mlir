// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @order() {
  // expected-error @+1 {{low is 2.000000e+00, which is not at most high, 1.000000e+00}}
  %0 = onnx.RandomUniform_22() {shape = array<i64: 4>, low = 2.0 : f32} : () -> tensor<4xf32>
  return
}

// -----

func.func @nan() {
  // expected-error @+1 {{which is not at most high}}
  %0 = onnx.RandomUniform_1() {shape = array<i64: 4>, low = 0x7FC00000 : f32} : () -> tensor<4xf32>
  return
}

// -----

func.func @range() {
  // expected-error @+1 {{bound 7.000000e+04 is beyond the range of float16}}
  %0 = onnx.RandomUniform_1() {shape = array<i64: 4>, high = 70000.0 : f32, dtype = 10 : i64} : () -> tensor<4xf16>
  return
}

// -----

func.func @empty() {
  // expected-error @+1 {{no bfloat16 lies in [1.001000e+00, 1.002000e+00)}}
  %0 = onnx.RandomUniform_22() {shape = array<i64: 4>, low = 1.001 : f32, high = 1.002 : f32, dtype = 16 : i64} : () -> tensor<4xbf16>
  return
}

// -----

func.func @shape() {
  // expected-error @+1 {{size -1 of the shape is negative}}
  %0 = onnx.RandomUniform_22() {shape = array<i64: 4, -1>} : () -> tensor<*xf32>
  return
}

// -----

func.func @new_type() {
  // expected-error @+1 {{dtype 16 (bfloat16) is no type of its result}}
  %0 = onnx.RandomUniform_1() {shape = array<i64: 4>, dtype = 16 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @no_type(%x: tensor<3xi8>) {
  // expected-error @+1 {{dtype is absent, and the input's type int8 is no type of its result}}
  %0 = onnx.RandomUniformLike_22(%x) : (tensor<3xi8>) -> tensor<3xf32>
  return
}

// -----

func.func @other_type(%x: tensor<3xf32>) {
  // expected-error @+1 {{has the result type 'tensor<3xf32>', but its operands make it 'tensor<3xf64>'}}
  %0 = onnx.RandomUniformLike_22(%x) {dtype = 11 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  return
}
