// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --split-input-file --verify-diagnostics

func.func @none() -> !onnx.optional<tensor<*xf32>> {
  // expected-error @below {{needs an input or the attribute elem_type}}
  %0 = onnx.Optional_28() : () -> !onnx.optional<tensor<*xf32>>
  return %0 : !onnx.optional<tensor<*xf32>>
}
