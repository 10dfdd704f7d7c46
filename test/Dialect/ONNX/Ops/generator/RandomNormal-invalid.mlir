// RUN: strata-opt %s --split-input-file --verify-diagnostics

func.func @scale() {
  // expected-error @+1 {{scale is -1.000000e+00, but a standard deviation is finite and at least 0}}
  %0 = onnx.RandomNormal_22() {shape = array<i64: 4>, scale = -1.0 : f32} : () -> tensor<4xf32>
  return
}

// -----

func.func @mean() {
  // expected-error @+1 {{mean is INF, but must be finite}}
  %0 = onnx.RandomNormal_22() {shape = array<i64: 4>, mean = 0x7F800000 : f32} : () -> tensor<4xf32>
  return
}
