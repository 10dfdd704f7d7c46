// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg | FileCheck %s

// a / (1 + exp(-alpha * a)) * b in f32, rounded once.
// CHECK-LABEL: @narrow
// CHECK-SAME: -> (tensor<2x?xf16>
// CHECK: cf.assert %{{.*}}, "'A' and 'B' differ in size"
// CHECK: %[[ALPHA:.*]] = arith.constant -2.0
// CHECK: %[[S:.*]] = arith.mulf %{{.*}}, %[[ALPHA]] : f32
// CHECK: math.exp %[[S]] : f32
// CHECK: arith.divf
// CHECK: arith.mulf
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK-NOT: arith.truncf
func.func @narrow(%0: tensor<2x?xf16>, %1: tensor<2x?xf16>) -> tensor<*xf16> {
  %y = onnx.SwiGLU_28(%0, %1) {alpha = 2.0 : f32} : (tensor<2x?xf16>, tensor<2x?xf16>) -> tensor<*xf16>
  return %y : tensor<*xf16>
}
