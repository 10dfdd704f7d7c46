// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --split-input-file --verify-diagnostics

func.func @case(%x: tensor<3x!onnx.string>) -> tensor<?x!onnx.string> {
  // expected-error @below {{case_change_action is 'TITLE', but must be NONE, LOWER or UPPER}}
  %0 = onnx.StringNormalizer_10(%x) {case_change_action = "TITLE"} : (tensor<3x!onnx.string>) -> tensor<?x!onnx.string>
  return %0 : tensor<?x!onnx.string>
}

// -----

func.func @rows(%x: tensor<2x3x!onnx.string>) -> tensor<*x!onnx.string> {
  // expected-error @below {{needs an input of one row, not 2}}
  %0 = onnx.StringNormalizer_10(%x) : (tensor<2x3x!onnx.string>) -> tensor<*x!onnx.string>
  return %0 : tensor<*x!onnx.string>
}

// -----

func.func @numbers(%x: tensor<3x!onnx.string>) -> tensor<1x?xi64> {
  // expected-error @below {{cannot be compiled: no lowering for values of type tensor(string)}}
  %0 = onnx.NonZero_13(%x) : (tensor<3x!onnx.string>) -> tensor<1x?xi64>
  return %0 : tensor<1x?xi64>
}
