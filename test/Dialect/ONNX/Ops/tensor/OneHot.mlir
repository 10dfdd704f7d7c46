// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// A negative index counts from the end.
// CHECK-LABEL: @front
// CHECK: onnx.OneHot_28{{.*}} -> tensor<4x3xf32>
// LOWER-LABEL: @front
// LOWER: linalg.index
// LOWER: arith.select
func.func @front(%x: tensor<3xi32>, %b: tensor<2xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<4> : tensor<i64>
  %y = onnx.OneHot_11(%x, %a, %b) {axis = 0 : i64} : (tensor<3xi32>, tensor<i64>, tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
