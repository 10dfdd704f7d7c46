// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Batches broadcast.
// CHECK-LABEL: @batches
// CHECK: -> tensor<5x7x2x4xf32>
func.func @batches(%x: tensor<5x1x2x3xf32>, %a: tensor<7x3x4xf32>) -> tensor<*xf32> {
  %y = onnx.MatMul_13(%x, %a) : (tensor<5x1x2x3xf32>, tensor<7x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// A vector loses its dimension.
// CHECK-LABEL: @vector
// CHECK: -> tensor<5x2xf32>
func.func @vector(%x: tensor<5x2x3xf32>, %a: tensor<3xf32>) -> tensor<*xf32> {
  %y = onnx.MatMul_13(%x, %a) : (tensor<5x2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// LOWER-LABEL: @plain
// LOWER: linalg.matmul ins(%{{.*}} : tensor<2x3xf32>, tensor<3x4xf32>)
func.func @plain(%x: tensor<2x3xf32>, %a: tensor<3x4xf32>) -> tensor<*xf32> {
  %y = onnx.MatMul_1(%x, %a) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
