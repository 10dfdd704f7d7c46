// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Up to version 6 training is the default.
// CHECK-LABEL: @test
// CHECK: onnx.BatchNormalization_15(%{{.*}}) : 
// LOWER-LABEL: @test
// LOWER: math.sqrt
// LOWER: arith.mulf
func.func @test(%x: tensor<2x3x4xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<*xf32> {
  %y = onnx.BatchNormalization_6(%x, %a, %b, %c, %d) {is_test = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Parameters per element: of a matrix, they are channels.
// CHECK-LABEL: @elements
// CHECK: onnx.Flatten_25
// CHECK-COUNT-4: onnx.Reshape_25
// CHECK: onnx.BatchNormalization_15
// CHECK: onnx.Reshape_25{{.*}} -> tensor<2x3x4xf32>
func.func @elements(%x: tensor<2x3x4xf32>, %a: tensor<3x4xf32>, %b: tensor<3x4xf32>, %c: tensor<3x4xf32>, %d: tensor<3x4xf32>) -> tensor<*xf32> {
  %y = onnx.BatchNormalization_7(%x, %a, %b, %c, %d) {spatial = 0 : i64} : (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The number of results tells the mode.
// CHECK-LABEL: @training
// CHECK: onnx.BatchNormalization_15{{.*}}training_mode = 1 : i64{{.*}} -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
func.func @training(%x: tensor<2x3x4xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %y, %z, %w = onnx.BatchNormalization_9(%x, %a, %b, %c, %d) : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %y, %z, %w : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// The saved statistics are those of the batch, which run without momentum.
// CHECK-LABEL: func.func @saved
// CHECK: %[[Y:.*]], %[[MEAN:.*]], %{{.*}} = onnx.BatchNormalization_15(%arg0, {{.*}}) {momentum = 7.500000e-01 : f32, training_mode = 1 : i64}
// CHECK: %{{.*}}, %{{.*}}, %[[VAR:.*]] = onnx.BatchNormalization_15(%arg0, {{.*}}) {momentum = 0.000000e+00 : f32, training_mode = 1 : i64}
// CHECK: return %[[Y]], %[[MEAN]], %[[VAR]]
func.func @saved(%x: tensor<4x3x2xf32>, %s: tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %y:5 = "onnx.BatchNormalization_9"(%x, %s, %s, %s, %s) {momentum = 7.500000e-01 : f32, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1>} : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %y#0, %y#1, %y#4 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Without `spatial` every element is a channel, in training as well.
// CHECK-LABEL: func.func @per_element
// CHECK: %[[FLAT:.*]] = onnx.Flatten_25(%arg0) : (tensor<4x3x2xf32>) -> tensor<4x6xf32>
// CHECK: %[[Y:.*]], %[[MEAN:.*]], %{{.*}} = onnx.BatchNormalization_15(%[[FLAT]], {{.*}}) {training_mode = 1 : i64}
// CHECK: onnx.Reshape_25(%[[Y]], {{.*}} -> tensor<4x3x2xf32>
// CHECK: onnx.Reshape_25(%[[MEAN]], {{.*}} -> tensor<3x2xf32>
func.func @per_element(%x: tensor<4x3x2xf32>, %s: tensor<3x2xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %y:3 = "onnx.BatchNormalization_7"(%x, %s, %s, %s, %s) {spatial = 0 : i64, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<4x3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %y#0, %y#1 : tensor<*xf32>, tensor<*xf32>
}
