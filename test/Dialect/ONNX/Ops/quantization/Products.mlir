// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --convert-onnx-to-linalg --canonicalize | FileCheck %s

// 8-bit elements are multiplied as they are, with sums of i32; A's zero point is corrected by the sums of B's columns.
// CHECK-LABEL: @integers
// CHECK-SAME: %[[A:.*]]: tensor<2x3xi8>{{.*}}, %[[B:.*]]: tensor<3x4xi8>{{.*}} -> (tensor<2x4xi32>
// CHECK: %[[PRODUCT:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<2x3xi8>, tensor<3x4xi8>) outs({{.*}} : tensor<2x4xi32>)
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.muli
// CHECK: arith.addi
// CHECK: linalg.generic {{.*}}["reduction", "parallel"]} ins({{.*}} : tensor<3x4xi32>) outs({{.*}} : tensor<4xi32>)
// CHECK: linalg.generic {{.*}} ins(%[[PRODUCT]], {{.*}} : tensor<2x4xi32>, tensor<1x4xi32>)
// CHECK: arith.subi
func.func @integers(%0: tensor<2x3xui8>, %1: tensor<3x4xi8>, %2: tensor<ui8>) -> tensor<*xi32> {
  %y = onnx.MatMulInteger_10(%0, %1, %2) : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>) -> tensor<*xi32>
  return %y : tensor<*xi32>
}

// -----

// The quotient of the scales is one factor.
// CHECK-LABEL: @quantized
// CHECK-SAME: -> (tensor<2x4xi8>
// CHECK: arith.muli
// CHECK: arith.divf
// CHECK: math.roundeven
func.func @quantized(%0: tensor<2x3xui8>, %1: tensor<f32>, %2: tensor<ui8>, %3: tensor<3x4xui8>, %4: tensor<f32>, %5: tensor<ui8>, %6: tensor<f32>, %7: tensor<ui8>) -> tensor<*xui8> {
  %y = onnx.QLinearMatMul_10(%0, %1, %2, %3, %4, %5, %6, %7) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %y : tensor<*xui8>
}

// -----

// The padding is the zero point.
// CHECK-LABEL: @conv
// CHECK-SAME: -> (tensor<1x2x4x4xi32>
// CHECK: %[[ZERO:.*]] = tensor.extract %{{.*}}[] : tensor<i8>
// CHECK: %[[PADDED:.*]] = tensor.pad
// CHECK:   tensor.yield %[[ZERO]]
// CHECK: linalg.generic {{.*}} ins(%[[PADDED]], %{{.*}} : tensor<1x1x6x6xi8>, tensor<2x1x3x3xi8>)
func.func @conv(%0: tensor<1x1x4x4xui8>, %1: tensor<2x1x3x3xui8>, %2: tensor<ui8>) -> tensor<*xi32> {
  %y = onnx.ConvInteger_10(%0, %1, %2) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x4x4xui8>, tensor<2x1x3x3xui8>, tensor<ui8>) -> tensor<*xi32>
  return %y : tensor<*xi32>
}

// -----

// Unsigned weights around 128 are signed ones around 0: only the data's zero point is corrected.
// CHECK-LABEL: @middle
// CHECK: arith.xori %{{.*}}, %c-128_i8
// CHECK: linalg.generic {{.*}} tensor<2x3xi8>, tensor<3x2xi8>
// CHECK: arith.extsi
// CHECK: arith.extsi
// CHECK: "reduction", "parallel"]
// CHECK-NOT: "reduction"
func.func @middle(%0: tensor<2x3xi8>, %1: tensor<i8>) -> tensor<*xi32> {
  %w = onnx.Initializer dense<[[1, 2], [3, 4], [250, 130]]> : tensor<3x2xui8>
  %z = onnx.Initializer dense<128> : tensor<ui8>
  %y = onnx.MatMulInteger_10(%0, %w, %1, %z) : (tensor<2x3xi8>, tensor<3x2xui8>, tensor<i8>, tensor<ui8>) -> tensor<*xi32>
  return %y : tensor<*xi32>
}

// -----

// The zero point of filters meets the sums of the windows: a convolution with ones.
// CHECK-LABEL: @filters
// CHECK: linalg.generic {{.*}} tensor<1x3x6x6xi8>, tensor<2x3x3x3xi8>
// CHECK: %[[ONES:.*]] = linalg.fill {{.*}} -> tensor<1x3x3x3xi8>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[ONES]] : tensor<1x3x6x6xi8>, tensor<1x3x3x3xi8>) outs({{.*}} : tensor<1x1x4x4xi32>)
func.func @filters(%0: tensor<1x3x6x6xui8>, %1: tensor<2x3x3x3xui8>, %3: tensor<2xui8>) -> tensor<*xi32> {
  %2 = onnx.Initializer dense<0> : tensor<ui8>
  %y = onnx.ConvInteger_10(%0, %1, %2, %3) : (tensor<1x3x6x6xui8>, tensor<2x3x3x3xui8>, tensor<ui8>, tensor<2xui8>) -> tensor<*xi32>
  return %y : tensor<*xi32>
}

// -----

// Zero points that are zeros need no such convolution, however many filters have one.
// CHECK-LABEL: @many_zeros
// CHECK: linalg.generic {{.*}} tensor<1x3x6x6xi8>, tensor<300x3x3x3xi8>
// CHECK-NOT: "reduction"
func.func @many_zeros(%0: tensor<1x3x6x6xui8>, %1: tensor<300x3x3x3xi8>) -> tensor<*xi32> {
  %2 = onnx.Initializer dense<0> : tensor<ui8>
  %3 = onnx.Initializer dense<0> : tensor<300xi8>
  %y = onnx.ConvInteger_10(%0, %1, %2, %3) : (tensor<1x3x6x6xui8>, tensor<300x3x3x3xi8>, tensor<ui8>, tensor<300xi8>) -> tensor<*xi32>
  return %y : tensor<*xi32>
}
