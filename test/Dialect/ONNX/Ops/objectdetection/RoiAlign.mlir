// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset | FileCheck %s --check-prefix=UPGRADE
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Version 10 had no pixel shift; the number of samples of a region is data: one region after the other.
// UPGRADE-LABEL: @old
// UPGRADE: onnx.RoiAlign_22{{.*}}coordinate_transformation_mode = "output_half_pixel"
// CHECK-LABEL: @old
// CHECK-SAME: -> (tensor<?x3x1x1xf32>
// CHECK: cf.assert {{.*}}, "a batch index is out of range"
// CHECK: %[[IMAGE:.*]] = linalg.transpose
// CHECK: scf.for %[[REGION:[a-z0-9]+]] =
// CHECK: math.ceil
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1x?xi64>)
// CHECK: linalg.generic {{.*}}"reduction", "reduction"]
// CHECK: %[[CHANNEL:.*]] = linalg.index 3
// CHECK-COUNT-4: tensor.extract %[[IMAGE]][%{{.*}}, %[[CHANNEL]]]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[REGION]], 0, 0, 0] [1, 1, 1, 3]
func.func @old(%x: tensor<2x3x8x9xf32>, %rois: tensor<?x4xf32>, %batch: tensor<?xi64>) -> tensor<*xf32> {
  %0 = onnx.RoiAlign_10(%x, %rois, %batch) : (tensor<2x3x8x9xf32>, tensor<?x4xf32>, tensor<?xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// With a known number of samples: their sides once for all channels, and a reduction that reads channels side by side.
// CHECK-LABEL: @regular
// CHECK-SAME: (%[[X:.*]]: tensor<2x16x8x9xf32>
// CHECK: %[[IMAGE:.*]] = linalg.{{.*}}ins(%[[X]]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x7x2xi64>)
// CHECK: linalg.generic {{.*}}"reduction", "reduction"]
// CHECK-NOT: scf.for
// CHECK: %[[CHANNEL:.*]] = linalg.index 3
// CHECK-COUNT-4: tensor.extract %{{.*}}, %[[CHANNEL]]] : tensor<2x8x9x16xf32>
// CHECK-NOT: scf.for
func.func @regular(%x: tensor<2x16x8x9xf32>, %rois: tensor<?x4xf32>, %batch: tensor<?xi64>) -> tensor<*xf32> {
  %0 = onnx.RoiAlign_16(%x, %rois, %batch) {output_height = 7, output_width = 5, sampling_ratio = 2} : (tensor<2x16x8x9xf32>, tensor<?x4xf32>, tensor<?xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// One bin after the other, all channels of its part of the image.
// CHECK-LABEL: @max
// CHECK-SAME: -> (tensor<5x3x2x4xf16>
// CHECK: %[[IMAGE:.*]] = linalg.transpose
// CHECK-COUNT-3: scf.for
// CHECK: math.round
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[IMAGE]]
// CHECK: linalg.generic {{.*}}"reduction", "reduction", "reduction", "parallel"]} ins(%[[PART]]
// CHECK: arith.maximumf {{.*}} : f32
func.func @max(%x: tensor<2x3x8x9xf16>, %rois: tensor<5x5xf16>) -> tensor<*xf16> {
  %0 = onnx.MaxRoiPool_1(%x, %rois) {pooled_shape = array<i64: 2, 4>} : (tensor<2x3x8x9xf16>, tensor<5x5xf16>) -> tensor<*xf16>
  return %0 : tensor<*xf16>
}
