// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @mode(%x: tensor<1x1x4x5xf32>, %grid: tensor<1x2x2x2xf32>) {
  // expected-error @+1 {{'mode' is 'bilinear', not linear, nearest or cubic}}
  %0 = onnx.GridSample_22(%x, %grid) {mode = "bilinear"} : (tensor<1x1x4x5xf32>, tensor<1x2x2x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @padding(%x: tensor<1x1x4x5xf32>, %grid: tensor<1x2x2x2xf32>) {
  // expected-error @+1 {{'padding_mode' is 'wrap', not zeros, border or reflection}}
  %0 = onnx.GridSample_22(%x, %grid) {padding_mode = "wrap"} : (tensor<1x1x4x5xf32>, tensor<1x2x2x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @rank(%x: tensor<1x1x4x5xf32>, %grid: tensor<1x2x2x2x3xf32>) {
  // expected-error @+1 {{has an input of rank 4, but a grid of rank 5}}
  %0 = onnx.GridSample_22(%x, %grid) : (tensor<1x1x4x5xf32>, tensor<1x2x2x2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @small(%x: tensor<4x5xf32>, %grid: tensor<2x2xf32>) {
  // expected-error @+1 {{needs operands of rank at least 3}}
  %0 = onnx.GridSample_22(%x, %grid) : (tensor<4x5xf32>, tensor<2x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @volumetric(%x: tensor<1x1x4x5x6xf32>, %grid: tensor<1x2x2x2x3xf32>) {
  // expected-error @+1 {{needs an input of rank 4, not 5}}
  %0 = onnx.GridSample_16(%x, %grid) : (tensor<1x1x4x5x6xf32>, tensor<1x2x2x2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @coordinates(%x: tensor<1x1x4x5xf32>, %grid: tensor<1x2x2x3xf32>) {
  // expected-error @+1 {{has a grid of 3 coordinates for 2 spatial dimensions}}
  %0 = onnx.GridSample_22(%x, %grid) : (tensor<1x1x4x5xf32>, tensor<1x2x2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @batch(%x: tensor<3x1x4x5xf32>, %grid: tensor<2x2x2x2xf32>) {
  // expected-error @+1 {{has 3 inputs, but 2 grids}}
  %0 = onnx.GridSample_22(%x, %grid) : (tensor<3x1x4x5xf32>, tensor<2x2x2x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @strings(%x: tensor<1x1x4x5x!onnx.string>, %grid: tensor<1x2x2x2xf32>) -> tensor<1x1x2x2x!onnx.string> {
  // expected-error @+1 {{cannot be compiled: mode linear on strings}}
  %0 = onnx.GridSample_22(%x, %grid) : (tensor<1x1x4x5x!onnx.string>, tensor<1x2x2x2xf32>) -> tensor<1x1x2x2x!onnx.string>
  return %0 : tensor<1x1x2x2x!onnx.string>
}

// -----

func.func @dimensions(%x: tensor<1x1x4x4x4x4xf32>, %grid: tensor<1x2x2x2x2x4xf32>) -> tensor<1x1x2x2x2x2xf32> {
  // expected-error @+1 {{cannot be compiled: mode cubic in 4 dimensions}}
  %0 = onnx.GridSample_22(%x, %grid) {mode = "cubic"} : (tensor<1x1x4x4x4x4xf32>, tensor<1x2x2x2x2x4xf32>) -> tensor<1x1x2x2x2x2xf32>
  return %0 : tensor<1x1x2x2x2x2xf32>
}
