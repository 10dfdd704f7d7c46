// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

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

func.func @value(%shape: tensor<1xi64>) {
  // expected-error @+1 {{value must have one element, but has 2}}
  %0 = onnx.ConstantOfShape_9(%shape) {value = dense<[1, 2]> : tensor<2xi64>} : (tensor<1xi64>) -> tensor<*xi64>
  return
}

// -----

func.func @rank(%shape: tensor<2x2xi64>) {
  // expected-error @+1 {{input must be of rank 1, but is of rank 2}}
  %0 = onnx.ConstantOfShape_9(%shape) : (tensor<2x2xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @negative() {
  %shape = onnx.Initializer dense<[-2]> : tensor<1xi64>
  // expected-error @+1 {{size -2 of dimension 0 is negative}}
  %0 = onnx.ConstantOfShape_9(%shape) : (tensor<1xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @delta(%x: tensor<i64>) {
  %zero = onnx.Initializer dense<0> : tensor<i64>
  // expected-error @+1 {{delta is 0}}
  %0 = onnx.Range_11(%x, %x, %zero) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  return
}

// -----

func.func @limit(%x: tensor<i64>, %y: tensor<2xi64>) {
  // expected-error @+1 {{limit must be a scalar, but is of type 'tensor<2xi64>'}}
  %0 = onnx.Range_11(%x, %y, %x) : (tensor<i64>, tensor<2xi64>, tensor<i64>) -> tensor<*xi64>
  return
}

// -----

func.func @eye(%x: tensor<3xi32>) {
  // expected-error @+1 {{input must be of rank 2, but is of rank 1}}
  %0 = onnx.EyeLike_9(%x) : (tensor<3xi32>) -> tensor<*xi32>
  return
}

// -----

func.func @dtype(%x: tensor<3x3xi32>) {
  // expected-error @+1 {{dtype 99 is no element type}}
  %0 = onnx.EyeLike_9(%x) {dtype = 99 : i64} : (tensor<3x3xi32>) -> tensor<*xf32>
  return
}
