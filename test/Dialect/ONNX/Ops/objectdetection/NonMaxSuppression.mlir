// RUN: strata-opt %s --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Room for as many boxes as may be taken, of which there are not more than boxes.
// CHECK-LABEL: @thresholds
// CHECK-SAME: -> (tensor<?x3xi64>
// CHECK: arith.minsi
// CHECK: memref.alloc(%{{.*}}) : memref<?x3xi64>
// CHECK: %[[FOUND:.*]] = call @strata_rt_non_max_suppression
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[FOUND]]
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [%[[SIZE]], 3]
func.func @thresholds(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x2x6xf32>, %max: tensor<1xi64>, %iou: tensor<1xf32>, %least: tensor<1xf32>) -> tensor<*xi64> {
  %0 = onnx.NonMaxSuppression_10(%boxes, %scores, %max, %iou, %least) : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<1xi64>, tensor<1xf32>, tensor<1xf32>) -> tensor<*xi64>
  return %0 : tensor<*xi64>
}

// No maximum means none.
// CHECK-LABEL: @none
// CHECK-NOT: call
// CHECK: tensor.empty() : tensor<0x3xi64>
func.func @none(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x2x6xf32>) -> tensor<*xi64> {
  %0 = onnx.NonMaxSuppression_11(%boxes, %scores, none, none, none) : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, none, none, none) -> tensor<*xi64>
  return %0 : tensor<*xi64>
}
