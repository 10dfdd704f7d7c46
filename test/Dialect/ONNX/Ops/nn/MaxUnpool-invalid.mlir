// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @strides(%x: tensor<1x1x2x2xf32>, %indices: tensor<1x1x2x2xi64>) {
  // expected-error @+1 {{'strides' has 1 values, not 2}}
  %0 = onnx.MaxUnpool_22(%x, %indices, none) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, none) -> tensor<*xf32>
  return
}

// -----

func.func @kernel(%x: tensor<1x1x2x2xf32>, %indices: tensor<1x1x2x2xi64>) {
  // expected-error @+1 {{'kernel_shape' holds 0, less than 1}}
  %0 = onnx.MaxUnpool_22(%x, %indices, none) {kernel_shape = array<i64: 2, 0>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, none) -> tensor<*xf32>
  return
}

// -----

func.func @rank(%x: tensor<1x2x2xf32>, %indices: tensor<1x2x2xi64>) {
  // expected-error @+1 {{needs operands of rank 4 for a kernel of rank 2}}
  %0 = onnx.MaxUnpool_22(%x, %indices, none) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x2xf32>, tensor<1x2x2xi64>, none) -> tensor<*xf32>
  return
}

// -----

func.func @size(%x: tensor<1x1x2x2xf32>, %indices: tensor<1x1x2x2xi64>) {
  // expected-error @+1 {{has a size of -1 in dimension 3}}
  %0 = onnx.MaxUnpool_22(%x, %indices, none) {kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 2, 0, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, none) -> tensor<*xf32>
  return
}

// -----

func.func @smaller(%x: tensor<1x1x2x2xf32>, %indices: tensor<1x1x2x2xi64>) {
  %shape = onnx.Initializer dense<[1, 1, 3, 2]> : tensor<4xi64>
  // expected-error @+1 {{has an output shape of 2 in dimension 3, less than the 3 that the kernel implies}}
  %0 = onnx.MaxUnpool_22(%x, %indices, %shape) {kernel_shape = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, tensor<4xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @values(%x: tensor<1x1x2x2xf32>, %indices: tensor<1x1x2x2xi64>) {
  %shape = onnx.Initializer dense<[3, 2]> : tensor<2xi64>
  // expected-error @+1 {{has an output shape of 2 values, not 4}}
  %0 = onnx.MaxUnpool_22(%x, %indices, %shape) {kernel_shape = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, tensor<2xi64>) -> tensor<*xf32>
  return
}
