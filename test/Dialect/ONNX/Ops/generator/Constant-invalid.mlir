// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @none() {
  // expected-error @+1 {{has no value}}
  %0 = onnx.Constant_25() : () -> tensor<*xf32>
  return
}

// -----

func.func @two() {
  // expected-error @+1 {{has more than one value: 'value_float' and 'value_int'}}
  %0 = onnx.Constant_25() {value_float = 1.0 : f32, value_int = 1 : i64} : () -> tensor<*xf32>
  return
}

// -----

func.func @sparse() -> tensor<2x2x!onnx.string> {
  // expected-error @below {{cannot be compiled: its value has no dense form}}
  %0 = onnx.Constant_25() {sparse_value = #onnx.sparse<dense<["a"]> : tensor<1x!onnx.string>, dense<[1]> : tensor<1xi64>, [2, 2]>} : () -> tensor<2x2x!onnx.string>
  return %0 : tensor<2x2x!onnx.string>
}
