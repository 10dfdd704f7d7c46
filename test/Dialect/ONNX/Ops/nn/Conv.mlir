// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: @pads
// CHECK: onnx.Conv_22{{.*}} -> tensor<?x4x4x5xf32>
// LOWER-LABEL: @pads
// LOWER: tensor.pad
// LOWER: linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
// LOWER: arith.addf
func.func @pads(%x: tensor<?x3x8x9xf32>, %a: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<*xf32> {
  %y = onnx.Conv_1(%x, %a, %b) {auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>} : (tensor<?x3x8x9xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// One filter per channel.
// LOWER-LABEL: @depthwise
// LOWER: linalg.depthwise_conv_2d_nchw_chw
func.func @depthwise(%x: tensor<1x4x8x8xf32>, %a: tensor<4x1x3x3xf32>) -> tensor<*xf32> {
  %y = onnx.Conv_22(%x, %a) {group = 4 : i64} : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// LOWER-LABEL: @groups
// LOWER: tensor.expand_shape
// LOWER: linalg.generic
// LOWER: tensor.collapse_shape {{.*}} into tensor<1x6x6xf32>
func.func @groups(%x: tensor<1x4x8xf32>, %a: tensor<6x2x3xf32>) -> tensor<*xf32> {
  %y = onnx.Conv_22(%x, %a) {group = 2 : i64} : (tensor<1x4x8xf32>, tensor<6x2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Columns of the kernel that lie in the padding wherever it is add nothing.
// LOWER-LABEL: @reach
// LOWER: %[[W:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0, 1] [4, 3, 3, 1] [1, 1, 1, 1]
// LOWER: linalg.conv_2d_nchw_fchw {{.*}} ins(%{{.*}}, %[[W]] : tensor<1x3x9x5xf32>, tensor<4x3x3x1xf32>)
func.func @reach(%x: tensor<1x3x7x5xf32>) -> tensor<*xf32> {
  %w = onnx.Initializer dense<1.5> : tensor<4x3x3x3xf32>
  %y = onnx.Conv_22(%x, %w) {dilations = array<i64: 1, 6>, pads = array<i64: 1, 6, 1, 6>} : (tensor<1x3x7x5xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The sizes of both branches are computed alike, so they are the same: nothing is broadcast, or asked when it runs.
// LOWER-LABEL: @residual
// LOWER-NOT: cf.assert
// LOWER-NOT: tensor.extract{{ }}
// LOWER: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>)
// LOWER-NOT: cf.assert
func.func @residual(%x: tensor<1x4x?x?xf32>, %a: tensor<4x4x3x3xf32>, %b: tensor<4x4x3x3xf32>, %c: tensor<4x4x1x1xf32>) -> tensor<*xf32> {
  %0 = onnx.Conv_22(%x, %a) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x?x?xf32>, tensor<4x4x3x3xf32>) -> tensor<*xf32>
  %1 = onnx.Conv_22(%0, %b) {pads = array<i64: 1, 1, 1, 1>} : (tensor<*xf32>, tensor<4x4x3x3xf32>) -> tensor<*xf32>
  %2 = onnx.Conv_22(%x, %c) {strides = array<i64: 2, 2>} : (tensor<1x4x?x?xf32>, tensor<4x4x1x1xf32>) -> tensor<*xf32>
  %3 = onnx.Add_14(%1, %2) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %3 : tensor<*xf32>
}
