// RUN: strata-opt %s --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @larger
// CHECK-SAME: -> (tensor<1x1x5x5xf32>
// CHECK: cf.assert {{.*}}, "an index is out of range"
// CHECK: scf.for
// CHECK: tensor.pad
func.func @larger(%x: tensor<1x1x2x2xf32>, %indices: tensor<1x1x2x2xi64>) -> tensor<*xf32> {
  %shape = onnx.Initializer dense<[1, 1, 5, 5]> : tensor<4xi64>
  %0 = onnx.MaxUnpool_9(%x, %indices, %shape) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, tensor<4xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// How many sizes are asked for is known at run time alone.
// CHECK-LABEL: @symbolic
// CHECK: cf.assert {{.*}}, "the output shape does not have the rank of X"
// CHECK: tensor.extract %arg2
// CHECK: tensor.pad
func.func @symbolic(%x: tensor<1x1x2x2xf32>, %indices: tensor<1x1x2x2xi64>, %shape: tensor<?xi64>) -> tensor<1x1x?x?xf32> {
  %0 = onnx.MaxUnpool_22(%x, %indices, %shape) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, tensor<?xi64>) -> tensor<1x1x?x?xf32>
  return %0 : tensor<1x1x?x?xf32>
}
