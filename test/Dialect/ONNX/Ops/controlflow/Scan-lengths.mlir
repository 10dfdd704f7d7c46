// RUN: strata-opt %s --onnx-upgrade-opset --split-input-file | FileCheck %s

// Sequences of lengths of their own: the inner Scan keeps the states from a sequence's end on, and one that is scanned
// backwards is reversed first.
// CHECK-LABEL: func @lengths
// CHECK: %[[BACK:.*]] = onnx.ReverseSequence_28(%arg2, %arg0) {batch_axis = 0 : i64, time_axis = 1 : i64}
// CHECK: onnx.Scan_25(%arg1, %[[BACK]], %arg0)
// CHECK: ^bb0(%[[STATE:.*]]: tensor<2xf32>, %[[DATA:.*]]: tensor<4x2xf32>, %[[LENGTH:.*]]: tensor<i64>):
// CHECK: onnx.Scan_25(%[[STATE]], %{{.*}}, %[[DATA]])
// CHECK: ^bb0(%[[S:.*]]: tensor<2xf32>, %[[I:.*]]: tensor<i64>, %[[X:.*]]: tensor<2xf32>):
// CHECK: %[[GOES:.*]] = onnx.Less_13(%[[I]], %[[LENGTH]])
// CHECK: %[[KEPT:.*]] = onnx.Where_16(%[[GOES]], %[[X]], %[[S]])
// CHECK: %[[NEXT:.*]] = onnx.Add_14(%[[I]],
// CHECK: onnx.Yield %[[KEPT]], %[[NEXT]], %[[S]]
func.func @lengths(%n: tensor<3xi64>, %s: tensor<3x2xf32>, %x: tensor<3x4x2xf32>) -> (tensor<3x2xf32>, tensor<3x4x2xf32>) {
  %0:2 = onnx.Scan_8(%n, %s, %x) {num_scan_inputs = 1 : i64, directions = array<i64: 1>} graph {
  ^bb0(%state: tensor<2xf32>, %y: tensor<2xf32>):
    onnx.Yield %y, %state : tensor<2xf32>, tensor<2xf32>
  } : (tensor<3xi64>, tensor<3x2xf32>, tensor<3x4x2xf32>) -> (tensor<3x2xf32>, tensor<3x4x2xf32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x4x2xf32>
}
