// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Sums of products of i32, less the zero points.
// CHECK-LABEL: @integers
// CHECK-SAME: -> (tensor<2x4xi32>
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: arith.subi %{{.*}} : i32
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: linalg.matmul ins(%{{.*}} : tensor<2x3xi32>, tensor<3x4xi32>)
func.func @integers(%0: tensor<2x3xui8>, %1: tensor<3x4xi8>, %2: tensor<ui8>) -> tensor<*xi32> {
  %y = onnx.MatMulInteger_10(%0, %1, %2) : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>) -> tensor<*xi32>
  return %y : tensor<*xi32>
}

// -----

// The quotient of the scales is one factor.
// CHECK-LABEL: @quantized
// CHECK-SAME: -> (tensor<2x4xi8>
// CHECK: linalg.matmul
// CHECK: arith.divf
// CHECK: math.roundeven
func.func @quantized(%0: tensor<2x3xui8>, %1: tensor<f32>, %2: tensor<ui8>, %3: tensor<3x4xui8>, %4: tensor<f32>, %5: tensor<ui8>, %6: tensor<f32>, %7: tensor<ui8>) -> tensor<*xui8> {
  %y = onnx.QLinearMatMul_10(%0, %1, %2, %3, %4, %5, %6, %7) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %y : tensor<*xui8>
}

// -----

// Exact in f64; the padding is of the zero point.
// CHECK-LABEL: @conv
// CHECK-SAME: -> (tensor<1x2x4x4xi32>
// CHECK: arith.subf %{{.*}} : f64
// CHECK: tensor.pad
// CHECK: linalg.conv_2d_nchw_fchw {{.*}} tensor<1x2x4x4xf64>
func.func @conv(%0: tensor<1x1x4x4xui8>, %1: tensor<2x1x3x3xui8>, %2: tensor<ui8>) -> tensor<*xi32> {
  %y = onnx.ConvInteger_10(%0, %1, %2) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x4x4xui8>, tensor<2x1x3x3xui8>, tensor<ui8>) -> tensor<*xi32>
  return %y : tensor<*xi32>
}
