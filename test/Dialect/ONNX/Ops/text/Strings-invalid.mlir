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

func.func @sums(%x: tensor<3x!onnx.string>, %i: tensor<1xi64>, %u: tensor<1x!onnx.string>) -> tensor<3x!onnx.string> {
  // expected-error @below {{cannot be compiled: no lowering for values of type tensor(string)}}
  %0 = onnx.ScatterElements_18(%x, %i, %u) {reduction = "add"} : (tensor<3x!onnx.string>, tensor<1xi64>, tensor<1x!onnx.string>) -> tensor<3x!onnx.string>
  return %0 : tensor<3x!onnx.string>
}
