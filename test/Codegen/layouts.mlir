// RUN: strata-opt %s --strata-frontend --strata-fused-phase=cpu=x86-64-v4 | FileCheck %s

// What joins the channels of convolutions leaves them last: between the first operation and the last one nothing is
// transposed.
// CHECK-LABEL: func.func @main(
// CHECK:         linalg.transpose {{.*}} permutation = [0, 2, 3, 1]
// CHECK-NOT:     linalg.transpose
// CHECK:         tensor.concat dim(3)
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @main(%x: tensor<1x3x8x8xf32>, %u: tensor<16x3x1x1xf32>, %v: tensor<8x16x1x1xf32>, %w: tensor<8x16x3x3xf32>,
                %y: tensor<4x16x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %0 = onnx.Conv_22(%x, %u) : (tensor<1x3x8x8xf32>, tensor<16x3x1x1xf32>) -> tensor<1x16x8x8xf32>
  %1 = onnx.Conv_22(%0, %v) : (tensor<1x16x8x8xf32>, tensor<8x16x1x1xf32>) -> tensor<1x8x8x8xf32>
  %2 = onnx.Relu_14(%1) : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %3 = onnx.Conv_22(%0, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x8xf32>, tensor<8x16x3x3xf32>) -> tensor<1x8x8x8xf32>
  %4 = onnx.Relu_14(%3) : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %5 = onnx.Concat_13(%2, %4) {axis = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x16x8x8xf32>
  %6 = onnx.Conv_22(%5, %y) : (tensor<1x16x8x8xf32>, tensor<4x16x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %6 : tensor<1x4x8x8xf32>
}
