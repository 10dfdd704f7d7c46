// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// A bitcast between f16 and bf16 would be emulated as a computation.
// CHECK-LABEL: @half
// CHECK: arith.bitcast %{{.*}} : f16 to i16
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
func.func @half(%x: tensor<3xf16>) -> tensor<3xbf16> {
  %0 = onnx.BitCast_26(%x) {to = 16 : i64} : (tensor<3xf16>) -> tensor<3xbf16>
  return %0 : tensor<3xbf16>
}

// -----

// The real part has the low bits.
// CHECK-LABEL: @complex
// CHECK: %[[REAL:.*]] = complex.re
// CHECK: %[[LOW:.*]] = arith.bitcast %[[REAL]] : f32 to i32
// CHECK-DAG: %[[WIDE:.*]] = arith.extui %[[LOW]] : i32 to i64
// CHECK-DAG: arith.shli
// CHECK: %[[BITS:.*]] = arith.ori
// CHECK: arith.bitcast %[[BITS]] : i64 to f64
func.func @complex(%x: tensor<3xcomplex<f32>>) -> tensor<3xf64> {
  %0 = onnx.BitCast_26(%x) {to = 11 : i64} : (tensor<3xcomplex<f32>>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

// -----

// CHECK-LABEL: @to_complex
// CHECK: %[[HIGH:.*]] = arith.shrui
// CHECK: complex.create
func.func @to_complex(%x: tensor<3xui64>) -> tensor<3xcomplex<f32>> {
  %0 = onnx.BitCast_26(%x) {to = 14 : i64} : (tensor<3xui64>) -> tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}

// -----

// CHECK-LABEL: @floats
// CHECK-SAME: -> (tensor<?xi32>
// CHECK: arith.bitcast %{{.*}} : f32 to i32
func.func @floats(%0: tensor<?xf32>) -> tensor<*xui32> {
  %y = onnx.BitCast_26(%0) {to = 12 : i64} : (tensor<?xf32>) -> tensor<*xui32>
  return %y : tensor<*xui32>
}

// -----

// A narrow integer is extended within its byte by its sign.
// CHECK-LABEL: @narrow
// CHECK-SAME: %[[X:.*]]: tensor<4xi8>
// CHECK: %[[UP:.*]] = arith.shli %{{.*}}, %[[FOUR:.*]] : i8
// CHECK: arith.shrsi %[[UP]], %[[FOUR]] : i8
func.func @narrow(%0: tensor<4xui4>) -> tensor<*xi4> {
  %y = onnx.BitCast_26(%0) {to = 22 : i64} : (tensor<4xui4>) -> tensor<*xi4>
  return %y : tensor<*xi4>
}

// -----

// CHECK-LABEL: @bool
// CHECK: arith.cmpi ne, %{{.*}} : i8
func.func @bool(%0: tensor<4xi8>) -> tensor<*xi1> {
  %y = onnx.BitCast_26(%0) {to = 9 : i64} : (tensor<4xi8>) -> tensor<*xi1>
  return %y : tensor<*xi1>
}
