// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @name(%x: tensor<3xf32>) {
  // expected-error @+1 {{to = "FLOTE" is no element type}}
  %0 = onnx.Cast_1(%x) {to = "FLOTE"} : (tensor<3xf32>) -> tensor<*xf16>
  return
}

// -----

func.func @number(%x: tensor<3xf32>) {
  // expected-error @+1 {{to = 77 : i64 is no element type}}
  %0 = onnx.Cast_28(%x) {to = 77 : i64} : (tensor<3xf32>) -> tensor<*xf16>
  return
}

// -----

func.func @roundMode(%x: tensor<3xf32>) {
  // expected-error @+1 {{round_mode is 'even', but must be up, down or nearest}}
  %0 = onnx.Cast_28(%x) {round_mode = "even", to = 24 : i64} : (tensor<3xf32>) -> tensor<*x!onnx.f8E8M0>
  return
}

// -----

func.func @bits(%x: tensor<3xf32>) {
  // expected-error @+1 {{cannot reinterpret 32 bits as 16}}
  %0 = onnx.BitCast_26(%x) {to = 10 : i64} : (tensor<3xf32>) -> tensor<*xf16>
  return
}
