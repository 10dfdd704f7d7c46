// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Of a stride of two, each row and each column of the result is of one of two phases, which have two of the kernel's three
// taps or one: four kernels for each filter, whose results are put side by side.
// CHECK-LABEL: @strides
// CHECK: onnx.ConvTranspose_22{{.*}} -> tensor<?x3x8x11xf32>
// LOWER-LABEL: @strides
// LOWER: tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1]
// LOWER: tensor.extract %arg1
// LOWER: linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%{{.*}}, %{{.*}} : tensor<?x2x6x7xf32>, tensor<12x2x2x2xf32>)
// LOWER: linalg.transpose {{.*}} outs(%{{.*}} : tensor<?x1x3x5x2x6x2xf32>) permutation = [0, 1, 4, 5, 2, 6, 3]
// LOWER: tensor.extract_slice %{{.*}}[0, 0, 1, 0] [%{{.*}}, 3, 8, 11] [1, 1, 1, 1]
func.func @strides(%0: tensor<?x2x4x5xf32>, %1: tensor<2x3x3x3xf32>) -> tensor<*xf32> {
  %y = onnx.ConvTranspose_1(%0, %1) {strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 0>, output_padding = array<i64: 1, 0>} : (tensor<?x2x4x5xf32>, tensor<2x3x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Taps that lie apart, too: the operand is spread out with zeros and convolved with the kernel turned around.
// CHECK-LABEL: @dilations
// CHECK: onnx.ConvTranspose_22{{.*}} -> tensor<1x3x11x13xf32>
// LOWER-LABEL: @dilations
// LOWER: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 4, 4] [1, 2, 4, 5] [1, 1, 2, 2]
// LOWER: tensor.extract %arg1
// LOWER: linalg.conv_2d_nchw_fchw {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
func.func @dilations(%0: tensor<1x2x4x5xf32>, %1: tensor<2x3x3x3xf32>) -> tensor<*xf32> {
  %y = onnx.ConvTranspose_22(%0, %1) {strides = array<i64: 2, 2>, dilations = array<i64: 2, 2>} : (tensor<1x2x4x5xf32>, tensor<2x3x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// output_shape says the sizes; the paddings follow.
// CHECK-LABEL: @given
// CHECK: onnx.ConvTranspose_22{{.*}} -> tensor<1x4x7xf32>
func.func @given(%0: tensor<1x4x3xf32>, %1: tensor<4x2x3xf32>) -> tensor<*xf32> {
  %y = onnx.ConvTranspose_22(%0, %1) {group = 2 : i64, output_shape = array<i64: 7>, strides = array<i64: 2>} : (tensor<1x4x3xf32>, tensor<4x2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @same
// CHECK: onnx.ConvTranspose_22{{.*}} -> tensor<1x1x6x?xf32>
func.func @same(%0: tensor<1x1x3x?xf32>, %1: tensor<1x1x3x3xf32>) -> tensor<*xf32> {
  %y = onnx.ConvTranspose_22(%0, %1) {auto_pad = "SAME_UPPER", strides = array<i64: 2, 3>} : (tensor<1x1x3x?xf32>, tensor<1x1x3x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
