// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Small integer ranges are constants; a count that only the run tells is computed there.
// SHAPES-LABEL: @range
// SHAPES: onnx.Initializer dense<[10, 8, 6]> : tensor<3xi64>
// SHAPES: -> tensor<?xi64>
// CHECK-LABEL: @range
// CHECK: cf.assert {{.*}}, "delta is 0"
// CHECK: arith.divui
func.func @range(%start: tensor<i64>, %limit: tensor<i64>, %delta: tensor<i64>) -> (tensor<*xi64>, tensor<*xi64>) {
  %a = onnx.Initializer dense<10> : tensor<i64>
  %b = onnx.Initializer dense<4> : tensor<i64>
  %c = onnx.Initializer dense<-2> : tensor<i64>
  %0 = onnx.Range_11(%a, %b, %c) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %1 = onnx.Range_11(%start, %limit, %delta) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  return %0, %1 : tensor<*xi64>, tensor<*xi64>
}
