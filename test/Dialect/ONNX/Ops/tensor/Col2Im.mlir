// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @two_dimensions
// CHECK-SAME: -> (tensor<2x3x5x5xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
// CHECK: tensor.extract %arg0
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
