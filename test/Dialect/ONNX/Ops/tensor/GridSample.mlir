// RUN: strata-opt %s --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Up to version 16 the modes were named for two dimensions. Four reads per element, outside of the input zeros.
// CHECK-LABEL: @bilinear
// CHECK-SAME: -> (tensor<2x3x6x7xf32>
// CHECK: linalg.generic
// CHECK: math.floor
// CHECK-COUNT-4: tensor.extract %arg0
// CHECK-NOT: tensor.extract %arg0
func.func @bilinear(%x: tensor<2x3x4x5xf32>, %grid: tensor<2x6x7x2xf32>) -> tensor<*xf32> {
  %0 = onnx.GridSample_16(%x, %grid) {mode = "bilinear"} : (tensor<2x3x4x5xf32>, tensor<2x6x7x2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @nearest
// CHECK: math.roundeven
// CHECK: tensor.extract %arg0{{.*}} : tensor<1x1x4x5x6xi32>
func.func @nearest(%x: tensor<1x1x4x5x6xi32>, %grid: tensor<1x2x2x2x3xf32>) -> tensor<1x1x2x2x2xi32> {
  %0 = onnx.GridSample_22(%x, %grid) {mode = "nearest", padding_mode = "border"} : (tensor<1x1x4x5x6xi32>, tensor<1x2x2x2x3xf32>) -> tensor<1x1x2x2x2xi32>
  return %0 : tensor<1x1x2x2x2xi32>
}
