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
