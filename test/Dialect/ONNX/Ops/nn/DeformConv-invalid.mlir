// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @ranks(%x: tensor<1x3x3xf32>, %w: tensor<2x3x2x2xf32>, %offset: tensor<1x8x2x2xf32>) {
  // expected-error @+1 {{has operands of ranks that do not agree, or less than 3}}
  %0 = onnx.DeformConv_22(%x, %w, %offset, none, none) : (tensor<1x3x3xf32>, tensor<2x3x2x2xf32>, tensor<1x8x2x2xf32>, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @group(%x: tensor<1x3x3x3xf32>, %w: tensor<2x3x2x2xf32>, %offset: tensor<1x8x2x2xf32>) {
  // expected-error @+1 {{'group' is 0, less than 1}}
  %0 = onnx.DeformConv_22(%x, %w, %offset, none, none) {group = 0 : i64} : (tensor<1x3x3x3xf32>, tensor<2x3x2x2xf32>, tensor<1x8x2x2xf32>, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @kernel_rank(%x: tensor<1x3x3x3xf32>, %w: tensor<2x3x2x2xf32>, %offset: tensor<1x8x2x2xf32>) {
  // expected-error @+1 {{'kernel_shape' has 1 values, not 2}}
  %0 = onnx.DeformConv_22(%x, %w, %offset, none, none) {kernel_shape = array<i64: 2>} : (tensor<1x3x3x3xf32>, tensor<2x3x2x2xf32>, tensor<1x8x2x2xf32>, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @kernel(%x: tensor<1x3x3x3xf32>, %w: tensor<2x3x2x2xf32>, %offset: tensor<1x8x2x2xf32>) {
  // expected-error @+1 {{'kernel_shape' holds 3, but the filters have 2}}
  %0 = onnx.DeformConv_22(%x, %w, %offset, none, none) {kernel_shape = array<i64: 3, 3>} : (tensor<1x3x3x3xf32>, tensor<2x3x2x2xf32>, tensor<1x8x2x2xf32>, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @positions(%x: tensor<1x3x3x3xf32>, %w: tensor<2x3x2x2xf32>, %offset: tensor<1x8x3x2xf32>) {
  // expected-error @+1 {{has offsets for 3 positions in dimension 2, but there are 2}}
  %0 = onnx.DeformConv_22(%x, %w, %offset, none, none) : (tensor<1x3x3x3xf32>, tensor<2x3x2x2xf32>, tensor<1x8x3x2xf32>, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @filters(%x: tensor<1x3x3x3xf32>, %w: tensor<2x3x?x2xf32>, %offset: tensor<1x8x2x2xf32>) -> tensor<1x2x2x2xf32> {
  // expected-error @+1 {{cannot be compiled: the filters' sizes are not known at compile time}}
  %0 = onnx.DeformConv_22(%x, %w, %offset, none, none) : (tensor<1x3x3x3xf32>, tensor<2x3x?x2xf32>, tensor<1x8x2x2xf32>, none, none) -> tensor<1x2x2x2xf32>
  return %0 : tensor<1x2x2x2xf32>
}
