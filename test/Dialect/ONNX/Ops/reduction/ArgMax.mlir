// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: @kept
// CHECK: onnx.ArgMax_13{{.*}} -> tensor<2x1xi64>
func.func @kept(%x: tensor<2x?xf32>) -> tensor<*xi64> {
  %y = onnx.ArgMax_1(%x) {axis = 1 : i64} : (tensor<2x?xf32>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}

// -----

// Of equal elements the first one, or the last.
// CHECK-LABEL: @last
// CHECK: onnx.ArgMin_13{{.*}} -> tensor<4xi64>
// LOWER-LABEL: @last
// LOWER: linalg.generic
// LOWER: arith.cmpi ule
// LOWER: arith.select
func.func @last(%x: tensor<3x4xui8>) -> tensor<*xi64> {
  %y = onnx.ArgMin_13(%x) {keepdims = 0 : i64, select_last_index = 1 : i64} : (tensor<3x4xui8>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}

// -----

// Along rows of a vector and more: the extreme element, and then the first place that has it, or a NaN.
// LOWER-LABEL: @rows
// LOWER:      %[[BEST:.*]] = linalg.generic
// LOWER:        arith.maximumf
// LOWER:      %[[WHERE:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[BEST]] : tensor<3x40xf32>
// LOWER:        arith.cmpf uno
// LOWER:        arith.cmpf oeq
// LOWER:        arith.minsi %{{.*}} : i32
// LOWER:      ins(%[[WHERE]] : tensor<3xi32>)
// LOWER-NEXT: ^bb0
// LOWER-NEXT:   arith.extsi
// The last one, of rows whose length only a run knows.
// LOWER-LABEL: @last_of_rows
// LOWER:      arith.minui
// LOWER:      arith.cmpi eq
// LOWER:      arith.maxsi %{{.*}} : i64
// LOWER-NOT:  arith.extsi
func.func @rows(%x: tensor<3x40xf32>) -> tensor<*xi64> {
  %y = onnx.ArgMax_13(%x) {axis = -1 : i64} : (tensor<3x40xf32>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}
func.func @last_of_rows(%x: tensor<3x?xui8>) -> tensor<*xi64> {
  %y = onnx.ArgMin_13(%x) {axis = 1 : i64, select_last_index = 1 : i64} : (tensor<3x?xui8>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}
