// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg -o /dev/null

// Below 13 the operand is flattened at the axis, by default 1.
// CHECK-LABEL: func.func @main
// CHECK: onnx.Flatten_25
// CHECK-SAME: axis = 1
// CHECK: onnx.Softmax_13
// CHECK-SAME: axis = -1
// CHECK: onnx.Reshape_25
// CHECK-SAME: -> tensor<2x3x4xf32>
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<*xf32> {
  %y = onnx.Softmax_11(%x) : (tensor<2x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Batches broadcast; a vector loses its dimension.
// CHECK-LABEL: func.func @main
// CHECK: onnx.MatMul_13
// CHECK-SAME: -> tensor<5x7x2x4xf32>
// CHECK: onnx.MatMul_13
// CHECK-SAME: -> tensor<5x7x2xf32>
func.func @main(%x: tensor<5x1x2x3xf32>, %y: tensor<7x3x4xf32>, %v: tensor<4xf32>) -> tensor<*xf32> {
  %p = onnx.MatMul_13(%x, %y) : (tensor<5x1x2x3xf32>, tensor<7x3x4xf32>) -> tensor<*xf32>
  %q = onnx.MatMul_13(%p, %v) : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %q : tensor<*xf32>
}
