// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s --check-prefix=UPGRADE
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg | FileCheck %s

// Version 1 spells the type.
// UPGRADE-LABEL: @name
// UPGRADE: onnx.Cast_28(%arg0) {to = 10 : i64} : (tensor<3xf32>) -> tensor<3xf16>
// CHECK-LABEL: @name
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @name(%x: tensor<3xf32>) -> tensor<*xf16> {
  %0 = onnx.Cast_1(%x) {to = "FLOAT16"} : (tensor<3xf32>) -> tensor<*xf16>
  return %0 : tensor<*xf16>
}

// -----

// Clamped before it is converted: no value is undefined.
// CHECK-LABEL: @integer
// CHECK: arith.cmpf uno
// CHECK: %[[NUMBER:.*]] = arith.select
// CHECK: %[[LOW:.*]] = arith.maxnumf %[[NUMBER]]
// CHECK: %[[CLAMPED:.*]] = arith.minnumf %[[LOW]]
// CHECK: %[[BYTE:.*]] = arith.fptosi %[[CLAMPED]] : f32 to i8
// CHECK-NEXT: linalg.yield %[[BYTE]]
func.func @integer(%x: tensor<3xf32>) -> tensor<3xi8> {
  %0 = onnx.Cast_28(%x) {to = 3 : i64} : (tensor<3xf32>) -> tensor<3xi8>
  return %0 : tensor<3xi8>
}

// -----

// f64 to float8 rounds once: through an f32 with a sticky last bit.
// CHECK-LABEL: @small
// CHECK: arith.cmpf one
// CHECK: arith.trunci {{.*}} : i32 to i8
func.func @small(%x: tensor<3xf64>, %y: tensor<1xf8E4M3FN>) -> tensor<3xf8E4M3FN> {
  %0 = onnx.CastLike_25(%x, %y) : (tensor<3xf64>, tensor<1xf8E4M3FN>) -> tensor<3xf8E4M3FN>
  return %0 : tensor<3xf8E4M3FN>
}
