// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// SHAPES-LABEL: @eye
// SHAPES: onnx.EyeLike_22{{.*}} -> tensor<3x4xf64>
// CHECK-LABEL: @eye
// CHECK: arith.select %{{.*}}, %cst
func.func @eye(%x: tensor<3x4xi32>) -> tensor<*xf64> {
  %0 = onnx.EyeLike_9(%x) {dtype = 11 : i64, k = 1 : i64} : (tensor<3x4xi32>) -> tensor<*xf64>
  return %0 : tensor<*xf64>
}
