// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @scan(%x: tensor<2xf32>) {
  // expected-error @+1 {{num_scan_inputs is 2 with 1 inputs}}
  %y = onnx.Scan_16(%x) {num_scan_inputs = 2 : i64} graph {
  ^bb0(%e: tensor<f32>):
    onnx.Yield %e : tensor<f32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @inputs(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{has 1 inputs, but its body has 2}}
  %p = onnx.Scan_25(%x) {num_scan_inputs = 1 : i64} graph {
  ^bb0(%e: tensor<f32>, %g: tensor<f32>):
    onnx.Yield %e : tensor<f32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return %p : tensor<2xf32>
}

// -----

func.func @outputs(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{has 1 outputs and 0 states, but its body has 2 outputs}}
  %p = onnx.Scan_25(%x) {num_scan_inputs = 1 : i64} graph {
  ^bb0(%e: tensor<f32>):
    onnx.Yield %e, %e : tensor<f32>, tensor<f32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return %p : tensor<2xf32>
}

// -----

func.func @axes(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'scan_input_axes' has 2 elements instead of 1}}
  %p = onnx.Scan_25(%x) {num_scan_inputs = 1 : i64, scan_input_axes = array<i64: 0, 0>} graph {
  ^bb0(%e: tensor<f32>):
    onnx.Yield %e : tensor<f32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return %p : tensor<2xf32>
}

// -----

func.func @lengths(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error @below {{has scan inputs of lengths 2 and 3}}
  %p = onnx.Scan_25(%x, %y) {num_scan_inputs = 2 : i64} graph {
  ^bb0(%e: tensor<f32>, %g: tensor<f32>):
    onnx.Yield %e : tensor<f32>
  } : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %p : tensor<2xf32>
}
