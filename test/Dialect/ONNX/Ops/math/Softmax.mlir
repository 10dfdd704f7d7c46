// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Below 13 the operand is flattened at the axis, by default 1.
// CHECK-LABEL: @flattened
// CHECK: onnx.Flatten_25(%{{.*}}) {axis = 1 : i64}
// CHECK: onnx.Softmax_13(%{{.*}}) {axis = -1 : i64}
// CHECK: onnx.Reshape_25{{.*}} -> tensor<2x3x4xf32>
func.func @flattened(%x: tensor<2x3x4xf32>) -> tensor<*xf32> {
  %y = onnx.Softmax_11(%x) : (tensor<2x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Along the last axis both are the same.
// CHECK-LABEL: @last
// CHECK-NOT: onnx.Flatten
// CHECK: onnx.LogSoftmax_13(%{{.*}}) {axis = -1 : i64}
func.func @last(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %y = onnx.LogSoftmax_11(%x) : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Less the maximum, so that no exponential is infinite.
// LOWER-LABEL: @rows
// LOWER: %[[LARGER:.*]] = arith.cmpf ogt
// LOWER: arith.select %[[LARGER]]
// LOWER: math.exp %{{.*}} : f32
// LOWER: arith.addf
// LOWER: arith.divf
// LOWER: arith.truncf
func.func @rows(%x: tensor<2x3xf16>) -> tensor<*xf16> {
  %y = onnx.Softmax_13(%x) {axis = 0 : i64} : (tensor<2x3xf16>) -> tensor<*xf16>
  return %y : tensor<*xf16>
}

// -----

// What both need of x and its maximum is computed in both, not kept.
// LOWER-LABEL: @logarithm
// LOWER: arith.cmpf ogt
// LOWER: %[[SUM:.*]] = linalg.generic {{.*}}"reduction"{{.*}} ins(%{{.*}}, %[[MAX:.*]] : tensor<2x3xf32>, tensor<2xf32>)
// LOWER: arith.subf
// LOWER: math.exp %{{.*}} fastmath<afn>
// LOWER: math.log
// LOWER: linalg.generic {{.*}} ins(%{{.*}}, %[[MAX]], %{{.*}} : tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>)
// LOWER: arith.subf
// LOWER-NEXT: arith.subf
func.func @logarithm(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %y = onnx.LogSoftmax_13(%x) : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
