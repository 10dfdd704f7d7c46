// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// From version 7 on C always broadcasts.
// CHECK-LABEL: @old
// CHECK: onnx.Gemm_13(%{{.*}}) : {{.*}} -> tensor<2x5xf32>
func.func @old(%x: tensor<2x3xf32>, %a: tensor<3x5xf32>, %b: tensor<5xf32>) -> tensor<*xf32> {
  %y = onnx.Gemm_1(%x, %a, %b) {broadcast = 1 : i64} : (tensor<2x3xf32>, tensor<3x5xf32>, tensor<5xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// LOWER-LABEL: @turned
// LOWER-SAME: -> (tensor<?x5xf16>
// LOWER: linalg.generic
// LOWER: arith.extf
// LOWER: arith.mulf %{{.*}} : f32
// LOWER: arith.truncf %{{.*}} : f32 to f16
func.func @turned(%x: tensor<3x?xf16>, %a: tensor<5x3xf16>, %b: tensor<5xf16>) -> tensor<*xf16> {
  %y = onnx.Gemm_13(%x, %a, %b) {transA = 1 : i64, transB = 1 : i64, alpha = 0.5 : f32} : (tensor<3x?xf16>, tensor<5x3xf16>, tensor<5xf16>) -> tensor<*xf16>
  return %y : tensor<*xf16>
}
