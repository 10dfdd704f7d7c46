// RUN: strata-opt %s --onnx-infer-shapes --split-input-file | FileCheck %s

// CHECK-LABEL: @known
// CHECK-SAME: -> tensor<2x5x6x2xf32>
func.func @known(%theta: tensor<2x2x3xf32>) -> tensor<*xf32> {
  %size = onnx.Initializer dense<[2, 3, 5, 6]> : tensor<4xi64>
  %0 = onnx.AffineGrid_20(%theta, %size) : (tensor<2x2x3xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// CHECK-LABEL: @volumes
// CHECK-SAME: -> tensor<?x?x?x?x3xf16, #onnx.dims<"N", "", "", "", "">>
func.func @volumes(%theta: tensor<?x3x4xf16, #onnx.dims<"N", "", "">>, %size: tensor<5xi64>) -> tensor<*xf16> {
  %0 = onnx.AffineGrid_20(%theta, %size) : (tensor<?x3x4xf16, #onnx.dims<"N", "", "">>, tensor<5xi64>) -> tensor<*xf16>
  return %0 : tensor<*xf16>
}
