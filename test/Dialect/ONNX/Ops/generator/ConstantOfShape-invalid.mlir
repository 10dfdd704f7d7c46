// RUN: strata-opt %s --split-input-file --verify-diagnostics --onnx-infer-shapes

func.func @no_elements(%shape: tensor<1xi64>) {
  // expected-error@+1 {{value must have one element, but has 0}}
  %0 = onnx.ConstantOfShape_9(%shape) {value = dense<> : tensor<0xf32>} : (tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @two_elements(%shape: tensor<1xi64>) {
  // expected-error@+1 {{value must have one element, but has 2}}
  %0 = onnx.ConstantOfShape_25(%shape) {value = dense<[1, 2]> : tensor<2xi32>} : (tensor<1xi64>) -> tensor<?xi32>
  return
}

// -----

func.func @other_type(%shape: tensor<1xi64>) {
  // expected-error@+1 {{value is of element type 'i32', but the result holds 'f32'}}
  %0 = onnx.ConstantOfShape_25(%shape) {value = dense<1> : tensor<1xi32>} : (tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @default_type(%shape: tensor<1xi64>) {
  // expected-error@+1 {{without a value the result holds 'f32', not 'i32'}}
  %0 = onnx.ConstantOfShape_25(%shape) : (tensor<1xi64>) -> tensor<?xi32>
  return
}

// -----

func.func @bfloat16(%shape: tensor<1xi64>) {
  // expected-error@+1 {{result #0 'output' must be}}
  %0 = onnx.ConstantOfShape_9(%shape) {value = dense<1.0> : tensor<1xbf16>} : (tensor<1xi64>) -> tensor<?xbf16>
  return
}

// -----

func.func @int4(%shape: tensor<1xi64>) {
  // expected-error@+1 {{result #0 'output' must be}}
  %0 = onnx.ConstantOfShape_20(%shape) {value = dense<1> : tensor<1xi4>} : (tensor<1xi64>) -> tensor<?xi4>
  return
}

// -----

func.func @int2(%shape: tensor<1xi64>) {
  // expected-error@+1 {{result #0 'output' must be}}
  %0 = onnx.ConstantOfShape_24(%shape) {value = dense<1> : tensor<1xi2>} : (tensor<1xi64>) -> tensor<?xi2>
  return
}

// -----

func.func @input_type(%shape: tensor<1xi32>) {
  // expected-error@+1 {{operand #0 'input' must be}}
  %0 = onnx.ConstantOfShape_25(%shape) : (tensor<1xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @input_rank(%shape: tensor<1x2xi64>) {
  // expected-error@+1 {{input must be of rank 1, but is of rank 2}}
  %0 = onnx.ConstantOfShape_25(%shape) : (tensor<1x2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @result_rank(%shape: tensor<3xi64>) {
  // expected-error@+1 {{input has 3 elements, but the result is of rank 2}}
  %0 = onnx.ConstantOfShape_25(%shape) : (tensor<3xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @attribute(%shape: tensor<3xi64>) {
  // expected-error@+1 {{has no attribute 'dtype'; it has 'value'}}
  %0 = onnx.ConstantOfShape_25(%shape) {dtype = 1 : i64} : (tensor<3xi64>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @negative() {
  %shape = onnx.Initializer dense<[2, -1]> : tensor<2xi64>
  // expected-error@+1 {{size -1 of dimension 1 is negative}}
  %0 = onnx.ConstantOfShape_25(%shape) : (tensor<2xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @memory() {
  %shape = onnx.Initializer dense<[1099511627776, 1099511627776]> : tensor<2xi64>
  // expected-error@+1 {{the result has more elements than memory can hold}}
  %0 = onnx.ConstantOfShape_25(%shape) : (tensor<2xi64>) -> tensor<*xf32>
  return
}
