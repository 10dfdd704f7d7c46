// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset | FileCheck %s --check-prefix=UPGRADE
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg | FileCheck %s

// Version 7 leaves the mode to the runtime, which runs inference; the mask was of the data's type. The ratio stays as
// exact as the attribute.
// UPGRADE-LABEL: @mask
// UPGRADE: %[[Y:.*]], %[[MASK:.*]] = onnx.Dropout_22(%arg0, %{{.*}}) : (tensor<3xf16>, tensor<f32>) -> (tensor<3xf16>, tensor<3xi1>)
// UPGRADE: onnx.Cast_28(%[[MASK]]) {to = 10 : i64}
// CHECK-LABEL: @mask
// CHECK-SAME: (%[[X:.*]]: tensor<3xf16>
// CHECK: return %[[X]],
func.func @mask(%x: tensor<3xf16>) -> (tensor<3xf16>, tensor<3xf16>) {
  %0, %1 = onnx.Dropout_7(%x) {ratio = 0.2 : f32} : (tensor<3xf16>) -> (tensor<3xf16>, tensor<3xf16>)
  return %0, %1 : tensor<3xf16>, tensor<3xf16>
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

// -----

// UPGRADE-LABEL: @training
// UPGRADE: %[[RATIO:.*]] = onnx.Initializer dense<5.000000e-01> : tensor<f32>
// UPGRADE: %[[MODE:.*]] = onnx.Initializer dense<true> : tensor<i1>
// UPGRADE: onnx.Dropout_22(%{{.*}}, %[[RATIO]], %[[MODE]])
// CHECK-LABEL: @training
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>
// CHECK: %[[KEY:.*]] = call @strata_rt_random_seed
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<3xf32>) outs(%{{.*}}, %{{.*}} : tensor<3xf32>, tensor<3xi1>)
// CHECK: %[[KEPT:.*]] = arith.cmpf oge
// CHECK: %[[SCALED:.*]] = arith.mulf
// CHECK: %[[Y:.*]] = arith.select %[[KEPT]], %[[SCALED]]
// CHECK: linalg.yield %[[Y]], %[[KEPT]]
func.func @training(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0, %1 = onnx.Dropout_1(%x) {consumed_inputs = array<i64: 0>} : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// -----

// Mode and ratio from the run.
// CHECK-LABEL: @run_time
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?xbf16>
// CHECK: cf.assert %{{.*}}, "ratio is not in [0, 1)"
// CHECK: scf.if
// CHECK: call @strata_rt_random_advance
// CHECK: } else {
// CHECK: scf.yield %[[X]]
func.func @run_time(%x: tensor<?xbf16>, %r: tensor<f16>, %t: tensor<i1>) -> tensor<?xbf16> {
  %0 = onnx.Dropout_22(%x, %r, %t) {seed = 7 : i64} : (tensor<?xbf16>, tensor<f16>, tensor<i1>) -> tensor<?xbf16>
  return %0 : tensor<?xbf16>
}
