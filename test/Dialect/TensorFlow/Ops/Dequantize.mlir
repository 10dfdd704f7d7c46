// RUN: strata-opt %s --onnx-infer-shapes | strata-opt | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// One range: its two numbers are read once.
// SHAPES-LABEL: @per_tensor
// SHAPES: tf.Dequantize_1({{.*}}) {mode = "SCALED"} : (tensor<2x?xui8>, tensor<f32>, tensor<f32>) -> tensor<2x?xf32>
// CHECK-LABEL: @per_tensor
// CHECK-DAG:   %[[HIGHEST:.*]] = arith.constant 2.550000e+02 : f32
// CHECK:       %[[MAX:.*]] = tensor.extract %arg2[]
// CHECK:       arith.divf %{{.*}}, %[[HIGHEST]] : f32
// CHECK:       linalg.generic
// CHECK:         arith.uitofp %{{.*}} : i8 to f32
// CHECK:         arith.mulf
// CHECK:       return %{{.*}} : tensor<2x?xf32>
func.func @per_tensor(%x: tensor<2x?xui8>, %min: tensor<f32>, %max: tensor<f32>) -> tensor<*xf32> {
  %0 = tf.Dequantize_1(%x, %min, %max) {mode = "SCALED"} : (tensor<2x?xui8>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Factor and offset of each slice, then the elements: a product and a sum, not fused.
// SHAPES-LABEL: @per_slice
// SHAPES: -> tensor<2x3xbf16>
// CHECK-LABEL: @per_slice
// CHECK:       %[[SCALES:.*]] = linalg.generic {{.*}} ins(%arg1, %arg2 : tensor<3xf32>, tensor<3xf32>)
// CHECK:       %[[OFFSETS:.*]] = linalg.generic {{.*}} ins(%arg1, %arg2 : tensor<3xf32>, tensor<3xf32>)
// CHECK:       linalg.generic {{.*}} ins(%arg0, %[[SCALES]], %[[OFFSETS]] : tensor<2x3xi16>, tensor<3xf32>, tensor<3xf32>) outs(%{{.*}} : tensor<2x3xbf16>)
// CHECK:         %[[X:.*]] = arith.sitofp %{{.*}} : i16 to f32
// CHECK:         %[[SHIFTED:.*]] = arith.addf %[[X]]
// CHECK:         %[[PRODUCT:.*]] = arith.mulf %[[SHIFTED]], %[[SCALE:.*]] : f32
// CHECK:         arith.addf %[[PRODUCT]]
// CHECK-NOT:     math.fma
func.func @per_slice(%x: tensor<2x3xi16>, %min: tensor<3xf32>, %max: tensor<3xf32>) -> tensor<*xbf16> {
  %0 = tf.Dequantize_1(%x, %min, %max) {axis = 1 : i64, dtype = 16 : i64} : (tensor<2x3xi16>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xbf16>
  return %0 : tensor<*xbf16>
}

// The ranges tell the size along the axis; what is not known is checked by the run.
// SHAPES-LABEL: @checks
// SHAPES: (tensor<?x?xi8>, tensor<3xf32>, tensor<?xf32>) -> tensor<3x?xf32>
// CHECK-LABEL: @checks
// CHECK:       cf.assert %{{.*}}, "min_range must have one element per slice along the axis"
// CHECK:       cf.assert %{{.*}}, "max_range must have one element per slice along the axis"
func.func @checks(%x: tensor<?x?xi8>, %min: tensor<3xf32>, %max: tensor<?xf32>) -> tensor<*xf32> {
  %0 = tf.Dequantize_1(%x, %min, %max) {axis = 0 : i64, mode = "SCALED"} : (tensor<?x?xi8>, tensor<3xf32>, tensor<?xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// With one slice an axis means nothing: MIN_FIRST, and ranges of any rank.
// SHAPES-LABEL: @one_slice
// SHAPES: -> tensor<?x4xf32>
// CHECK-LABEL: @one_slice
// CHECK:       cf.assert %{{.*}}, "the mode MIN_FIRST takes one range, not one per slice"
// CHECK:       math.round
func.func @one_slice(%x: tensor<?x4xi32>, %min: tensor<1x1xf32>, %max: tensor<f32>) -> tensor<*xf32> {
  %0 = tf.Dequantize_1(%x, %min, %max) {axis = 0 : i64, mode = "MIN_FIRST"} : (tensor<?x4xi32>, tensor<1x1xf32>, tensor<f32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
