// RUN: strata-opt %s --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Columns of interpolated elements (four reads each), then a product with the filters.
// CHECK-LABEL: @offsets
// CHECK-SAME: -> (tensor<1x2x2x2xf32>
// CHECK: linalg.generic
// CHECK-COUNT-4: tensor.extract %arg0
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
func.func @offsets(%x: tensor<1x3x3x3xf32>, %w: tensor<2x3x2x2xf32>, %offset: tensor<1x8x2x2xf32>) -> tensor<*xf32> {
  %0 = onnx.DeformConv_19(%x, %w, %offset, none, none) : (tensor<1x3x3x3xf32>, tensor<2x3x2x2xf32>, tensor<1x8x2x2xf32>, none, none) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Channels that fill a vector lie side by side: those of one offset share its places.
// CHECK-LABEL: @channels_side_by_side
// CHECK: %[[COLUMNS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x2x2x4x1x16xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @channels_side_by_side(%x: tensor<1x16x3x3xf32>, %w: tensor<2x16x2x2xf32>, %offset: tensor<1x8x2x2xf32>) -> tensor<*xf32> {
  %0 = onnx.DeformConv_19(%x, %w, %offset, none, none) : (tensor<1x16x3x3xf32>, tensor<2x16x2x2xf32>, tensor<1x8x2x2xf32>, none, none) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
