// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @flag(%x: tensor<2x5x2xf32>) {
  // expected-error @+1 {{'inverse' is 2, but must be 0 or 1}}
  %0 = onnx.DFT_20(%x, none, none) {inverse = 2 : i64} : (tensor<2x5x2xf32>, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @parts(%x: tensor<2x5x3xf32>) {
  // expected-error @+1 {{has a last dimension of 3, not 1 (real) or 2 (complex)}}
  %0 = onnx.DFT_20(%x, none, none) : (tensor<2x5x3xf32>, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @rank(%x: tensor<2xf32>) {
  // expected-error @+1 {{needs an input of rank at least 2, not 1}}
  %0 = onnx.DFT_20(%x, none, none) : (tensor<2xf32>, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @axis(%x: tensor<2x5x2xf32>) {
  // expected-error @+1 {{has the last dimension, which holds the parts of a number, as its axis}}
  %0 = onnx.DFT_17(%x, none) {axis = 2 : i64} : (tensor<2x5x2xf32>, none) -> tensor<*xf32>
  return
}

// -----

func.func @length(%x: tensor<2x5x2xf32>) {
  %length = onnx.Initializer dense<0> : tensor<i64>
  // expected-error @+1 {{has a length of 0, less than 1}}
  %0 = onnx.DFT_20(%x, %length, none) : (tensor<2x5x2xf32>, tensor<i64>, none) -> tensor<*xf32>
  return
}

// -----

func.func @step(%x: tensor<1x20x1xf32>, %window: tensor<8xf32>) {
  %step = onnx.Initializer dense<0> : tensor<i64>
  // expected-error @+1 {{has frames 0 elements apart, less than 1}}
  %0 = onnx.STFT_17(%x, %step, %window, none) : (tensor<1x20x1xf32>, tensor<i64>, tensor<8xf32>, none) -> tensor<*xf32>
  return
}

// -----

func.func @frame(%x: tensor<1x20x1xf32>, %step: tensor<i64>, %window: tensor<21xf32>) {
  // expected-error @+1 {{has frames of 21 elements, but a signal of 20}}
  %0 = onnx.STFT_17(%x, %step, %window, none) : (tensor<1x20x1xf32>, tensor<i64>, tensor<21xf32>, none) -> tensor<*xf32>
  return
}

// -----

func.func @signal(%x: tensor<1x20xf32>, %step: tensor<i64>) {
  // expected-error @+1 {{needs a signal of rank 3, not 2}}
  %0 = onnx.STFT_17(%x, %step, none, none) : (tensor<1x20xf32>, tensor<i64>, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @window(%x: tensor<1x20x1xf32>, %step: tensor<i64>, %window: tensor<2x4xf32>) {
  // expected-error @+1 {{needs a window of rank 1, not 2}}
  %0 = onnx.STFT_17(%x, %step, %window, none) : (tensor<1x20x1xf32>, tensor<i64>, tensor<2x4xf32>, none) -> tensor<*xf32>
  return
}
