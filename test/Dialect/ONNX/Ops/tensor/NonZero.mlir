// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Counted first, then found in a nest of loops.
// CHECK-LABEL: @places
// CHECK-SAME: -> (tensor<2x?xi64>
// CHECK: arith.cmpf une
// CHECK: arith.addi
// CHECK-COUNT-2: scf.for
// CHECK: arith.select
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [2, %{{.*}}] [1, 1]
func.func @places(%0: tensor<2x?xf32>) -> tensor<*xi64> {
  %y = onnx.NonZero_13(%0) : (tensor<2x?xf32>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}

// -----

// A condition may be shorter than the dimension.
// CHECK-LABEL: @compress
// CHECK-SAME: -> (tensor<2x?xf32>
// CHECK-NOT: cf.assert
// CHECK: scf.for
// CHECK: linalg.generic
func.func @compress(%0: tensor<2x5xf32>, %1: tensor<3xi1>) -> tensor<*xf32> {
  %y = onnx.Compress_9(%0, %1) {axis = -1 : i64} : (tensor<2x5xf32>, tensor<3xi1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Without an axis, of the flattened input.
// CHECK-LABEL: @flat
// CHECK-SAME: -> (tensor<?xf32>
// CHECK: tensor.collapse_shape
// CHECK: cf.assert %{{.*}}, "the condition has more elements than the dimension"
func.func @flat(%0: tensor<2x?xf32>, %1: tensor<?xi1>) -> tensor<*xf32> {
  %y = onnx.Compress_28(%0, %1) : (tensor<2x?xf32>, tensor<?xi1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
