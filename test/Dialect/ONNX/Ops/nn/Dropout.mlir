// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset | FileCheck %s --check-prefix=UPGRADE
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg | FileCheck %s

// Version 7 leaves the mode to the runtime, which runs inference; the mask was of the data's type.
// UPGRADE-LABEL: @mask
// UPGRADE: %[[Y:.*]], %[[MASK:.*]] = onnx.Dropout_22(%arg0, %{{.*}}) : (tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xi1>)
// UPGRADE: onnx.Cast_28(%[[MASK]]) {to = 1 : i64}
// CHECK-LABEL: @mask
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>
// CHECK: return %[[X]],
func.func @mask(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0, %1 = onnx.Dropout_7(%x) {ratio = 0.2 : f32} : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// -----

// Version 6 trains unless told otherwise.
// UPGRADE-LABEL: @test
// UPGRADE-NOT: dense<true>
// UPGRADE: onnx.Dropout_22
func.func @test(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = onnx.Dropout_6(%x) {is_test = 1 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
