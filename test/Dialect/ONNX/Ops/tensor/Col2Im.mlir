// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @two_dimensions
// CHECK-SAME: -> (tensor<2x3x5x5xf32>
// One position in the block after the other is added to a grid of the image.
// CHECK: scf.for %[[Y:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<2x3x5x5xf32>)
// CHECK: scf.for %[[X:.*]] = {{.*}} iter_args(%[[IMAGE:.*]] = %{{.*}}) -> (tensor<2x3x5x5xf32>)
// CHECK-DAG: tensor.extract_slice %{{.*}}[0, 0, %[[Y]], %[[X]], 0, 0] [2, 3, 1, 1, 2, 2]
// CHECK-DAG: tensor.extract_slice %[[IMAGE]][0, 0, %[[Y]], %[[X]]] [2, 3, 2, 2] [1, 1, 2, 2]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// CHECK: tensor.insert_slice %{{.*}} into %[[IMAGE]][0, 0, %[[Y]], %[[X]]] [2, 3, 2, 2] [1, 1, 2, 2]
func.func @two_dimensions(%x: tensor<2x27x4xf32>) -> tensor<*xf32> {
  %image = onnx.Initializer dense<5> : tensor<2xi64>
  %block = onnx.Initializer dense<3> : tensor<2xi64>
  %0 = onnx.Col2Im_18(%x, %image, %block) {strides = array<i64: 2, 2>} : (tensor<2x27x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @sizes_at_run_time
// CHECK-DAG: cf.assert {{.*}}, "the block is larger than the padded image"
// CHECK-DAG: cf.assert {{.*}}, "the number of columns is not the number of blocks"
func.func @sizes_at_run_time(%x: tensor<2x27x4xf32>, %image: tensor<2xi64>, %block: tensor<2xi64>) -> tensor<*xf32> {
  %0 = onnx.Col2Im_18(%x, %image, %block) : (tensor<2x27x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
