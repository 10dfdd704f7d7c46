// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Every form of a constant's value.
// SHAPES-LABEL: @constants
// SHAPES: -> (tensor<2xf32>, tensor<f32>, tensor<2x3xf32>)
// CHECK-LABEL: @constants
// CHECK-DAG: arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: arith.constant dense<1.500000e+00> : tensor<f32>
// CHECK-DAG: arith.constant dense<{{\[\[}}0.000000e+00, 3.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 4.000000e+00]]> : tensor<2x3xf32>
func.func @constants() -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.Constant_25() {value_floats = array<f32: 1.0, 2.0>} : () -> tensor<*xf32>
  %1 = onnx.Constant_25() {value_float = 1.5 : f32} : () -> tensor<*xf32>
  %2 = onnx.Constant_11() {sparse_value = #onnx.sparse<dense<[3.0, 4.0]> : tensor<2xf32>, dense<[1, 5]> : tensor<2xi64>, [2, 3]>} : () -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
