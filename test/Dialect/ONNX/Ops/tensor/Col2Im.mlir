// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @two_dimensions
// CHECK-SAME: -> (tensor<2x3x5x5xf32>
// One position in the block after the other is added to a grid of the image, in place.
// CHECK: scf.for %[[Y:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<2x3x5x5xf32>)
// CHECK: scf.for %[[X:.*]] = {{.*}} iter_args(%[[IMAGE:.*]] = %{{.*}}) -> (tensor<2x3x5x5xf32>)
// CHECK-DAG: tensor.extract_slice %{{.*}}[0, 0, %[[Y]], %[[X]], 0, 0] [2, 3, 1, 1, 2, 2]
// CHECK-DAG: %[[GRID:.*]] = tensor.extract_slice %[[IMAGE]][0, 0, %[[Y]], %[[X]]] [2, 3, 2, 2] [1, 1, 2, 2]
// CHECK-DAG: %[[PLACE:.*]] = tensor.expand_shape %[[GRID]] {{.*}} into tensor<2x3x2x1x2x1xf32>
// CHECK: linalg.generic {{.*}} outs(%[[PLACE]] : tensor<2x3x2x1x2x1xf32>)
// CHECK: tensor.insert_slice %{{.*}} into %[[IMAGE]][0, 0, %[[Y]], %[[X]]] [2, 3, 2, 2] [1, 1, 2, 2]
func.func @two_dimensions(%x: tensor<2x27x4xf32>) -> tensor<*xf32> {
  %image = onnx.Initializer dense<5> : tensor<2xi64>
  %block = onnx.Initializer dense<3> : tensor<2xi64>
  %0 = onnx.Col2Im_18(%x, %image, %block) {strides = array<i64: 2, 2>} : (tensor<2x27x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Four positions along either side, in steps of two: two groups of two, which lie side by side in the image.
// CHECK-LABEL: @groups
// CHECK: scf.for %[[Y:[a-z0-9]+]] =
// CHECK: scf.for %[[X:[a-z0-9]+]] = {{.*}} iter_args(%[[IMAGE:.*]] = %{{.*}}) -> (tensor<2x3x8x8xf32>)
// CHECK-DAG: tensor.extract_slice %{{.*}}[0, 0, %{{.*}}, %{{.*}}, 0, 0] [2, 3, 2, 2, 3, 3]
// CHECK-DAG: tensor.extract_slice %[[IMAGE]][0, 0, %{{.*}}, %{{.*}}] [2, 3, 6, 6] [1, 1, 1, 1]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x3x2x3x2xf32>)
func.func @groups(%x: tensor<2x48x9xf32>) -> tensor<*xf32> {
  %image = onnx.Initializer dense<8> : tensor<2xi64>
  %block = onnx.Initializer dense<4> : tensor<2xi64>
  %0 = onnx.Col2Im_18(%x, %image, %block) {strides = array<i64: 2, 2>} : (tensor<2x48x9xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Blocks that do not overlap and leave nothing out are moved, and not added to anything.
// CHECK-LABEL: @patches
// CHECK-NOT: scf.for
// CHECK-NOT: linalg.fill
// CHECK: linalg.generic {{.*}} ins({{.*}} tensor<2x3x4x4x2x2xf32>) outs({{.*}} tensor<2x3x2x4x2x4xf32>)
// CHECK-NOT: arith.addf
// CHECK: return
func.func @patches(%x: tensor<2x48x4xf32>) -> tensor<*xf32> {
  %image = onnx.Initializer dense<8> : tensor<2xi64>
  %block = onnx.Initializer dense<4> : tensor<2xi64>
  %0 = onnx.Col2Im_18(%x, %image, %block) {strides = array<i64: 4, 4>} : (tensor<2x48x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @sizes_at_run_time
// CHECK-DAG: cf.assert {{.*}}, "the block is larger than the padded image"
// CHECK-DAG: cf.assert {{.*}}, "the number of columns is not the number of blocks"
func.func @sizes_at_run_time(%x: tensor<2x27x4xf32>, %image: tensor<2xi64>, %block: tensor<2xi64>) -> tensor<*xf32> {
  %0 = onnx.Col2Im_18(%x, %image, %block) : (tensor<2x27x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
