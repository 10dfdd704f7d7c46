// RUN: strata-opt %s --split-input-file --verify-diagnostics

// What ODS and the signature guarantee for every op, shown on a few.

func.func @type_not_allowed(%x: tensor<4xi1>) {
  // expected-error@+1 {{'onnx.Relu_6' op operand #0 'X' must be a tensor of float16, float or double, but is tensor(bool)}}
  %0 = onnx.Relu_6(%x) : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

// int8 came with version 14.
func.func @type_of_a_newer_version(%x: tensor<4xi8>) {
  // expected-error@+1 {{'onnx.Relu_13' op operand #0 'X' must be a tensor of float16, float, double or bfloat16, but is tensor(int8)}}
  %0 = onnx.Relu_13(%x) : (tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @type_variable(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error@+1 {{'onnx.Add_14' op 'B' is tensor(double) and 'A' is tensor(float), but both are of type T}}
  %0 = onnx.Add_14(%a, %b) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @result_type_variable(%a: tensor<4xf32>) {
  // expected-error@+1 {{'onnx.Neg_13' op 'Y' is tensor(double) and 'X' is tensor(float), but both are of type T}}
  %0 = onnx.Neg_13(%a) : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @unknown_attribute(%x: tensor<4xf32>) {
  // expected-error@+1 {{'onnx.LeakyRelu_16' op has no attribute 'beta'; it has 'alpha'}}
  %0 = onnx.LeakyRelu_16(%x) {beta = 1.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @attribute_of_an_older_version(%x: tensor<4xf32>) {
  // expected-error@+1 {{'onnx.Relu_14' op has no attribute 'consumed_inputs'; it has none}}
  %0 = onnx.Relu_14(%x) {consumed_inputs = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @missing_attribute(%x: tensor<4xf32>) {
  // expected-error@+1 {{'onnx.Concat_13' op requires attribute 'axis'}}
  %0 = onnx.Concat_13(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @attribute_kind(%x: tensor<4xf32>) {
  // expected-error@+1 {{attribute 'axis' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = onnx.Concat_13(%x) {axis = 1.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_variadic() -> tensor<4xf32> {
  // expected-error@+1 {{'onnx.Sum_13' has 0 operands; the operator's operand is one or more of 'data_0'}}
  %0 = onnx.Sum_13() : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @too_many(%x: tensor<4xf32>) {
  // expected-error@+1 {{'onnx.Relu_14' op requires a single operand}}
  %0 = "onnx.Relu_14"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @may_not_be_absent(%x: tensor<4xf32>) {
  // expected-error@+1 {{'onnx.Clip_13' operand #0 'input' may not be absent; the operator's operands are 'input', optionally 'min' and optionally 'max'}}
  %0 = onnx.Clip_13(none, %x) : (none, tensor<4xf32>) -> tensor<4xf32>
  return
}
