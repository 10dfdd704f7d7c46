// RUN: strata-opt --split-input-file --verify-diagnostics --onnx-infer-shapes %s

func.func @step(%x: tensor<4xf32>) {
  %zero = onnx.Initializer dense<0> : tensor<1xi64>
  // expected-error @+1 {{has the step 0}}
  %y = onnx.Slice_13(%x, %zero, %zero, none, %zero) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, none, tensor<1xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @gather_axis(%x: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{axis 1 is out of range for rank 1}}
  %y = onnx.Gather_13(%x, %i) {axis = 1 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @gathernd(%x: tensor<4xf32>, %i: tensor<2x2xi64>) {
  // expected-error @+1 {{has index tuples of 2 elements for 1 dimensions}}
  %y = onnx.GatherND_13(%x, %i) : (tensor<4xf32>, tensor<2x2xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @concat(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // expected-error @+1 {{input 1 has size 3 in dimension 1, another one has 2}}
  %z = onnx.Concat_13(%x, %y) {axis = 0 : i64} : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @split(%x: tensor<5xf32>) {
  // expected-error @+1 {{splits a dimension of size 5 into 2 equal parts}}
  %y:2 = onnx.Split_13(%x) : (tensor<5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

func.func @squeeze(%x: tensor<5xf32>) {
  %axes = onnx.Initializer dense<0> : tensor<1xi64>
  // expected-error @+1 {{removes dimension 0, whose size is 5}}
  %y = onnx.Squeeze_13(%x, %axes) : (tensor<5xf32>, tensor<1xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @perm(%x: tensor<5x2xf32>) {
  // expected-error @+1 {{'perm' is not a permutation of 0 to 1}}
  %y = onnx.Transpose_13(%x) {perm = array<i64: 0, 0>} : (tensor<5x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @reduction(%x: tensor<5xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @+1 {{has the unknown reduction 'max'}}
  %y = onnx.ScatterElements_16(%x, %i, %u) {reduction = "max"} : (tensor<5xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @pads(%x: tensor<5xf32>) {
  %pads = onnx.Initializer dense<0> : tensor<3xi64>
  // expected-error @+1 {{has 3 pads for 1 axes}}
  %y = onnx.Pad_13(%x, %pads) : (tensor<5xf32>, tensor<3xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @expand(%x: tensor<5xf32>) {
  %shape = onnx.Initializer dense<3> : tensor<1xi64>
  // expected-error @+1 {{does not broadcast size 5 to 3 in dimension 0}}
  %y = onnx.Expand_13(%x, %shape) : (tensor<5xf32>, tensor<1xi64>) -> tensor<*xf32>
  return
}
