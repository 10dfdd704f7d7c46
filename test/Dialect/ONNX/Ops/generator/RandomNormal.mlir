// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes | FileCheck %s --check-prefix=SHAPE

// Box and Muller without calls: the same everywhere.
// SHAPE-LABEL: @normal
// SHAPE: -> tensor<?x3xbf16>
// CHECK-LABEL: @normal
// CHECK: linalg.generic
// CHECK: arith.divf
// CHECK: %[[RADIUS:.*]] = math.sqrt
// CHECK: %[[Z:.*]] = arith.mulf %[[RADIUS]]
// CHECK: %[[S:.*]] = arith.mulf %[[Z]]
// CHECK: %[[X:.*]] = arith.addf %[[S]]
// CHECK: arith.truncf %[[X]] : f64 to bf16
func.func @normal(%x: tensor<?x3xbf16>) -> tensor<*xbf16> {
  %0 = onnx.RandomNormalLike_22(%x) {mean = 1.0 : f32, scale = 2.0 : f32} : (tensor<?x3xbf16>) -> tensor<*xbf16>
  return %0 : tensor<*xbf16>
}

// -----

// CHECK-LABEL: @version_1
// CHECK: linalg.generic
// CHECK-NOT: arith.truncf {{.*}} f64
// CHECK: linalg.yield {{.*}} : f64
func.func @version_1() -> tensor<5xf64> {
  %0 = onnx.RandomNormal_1() {shape = array<i64: 5>, dtype = 11 : i64} : () -> tensor<5xf64>
  return %0 : tensor<5xf64>
}
