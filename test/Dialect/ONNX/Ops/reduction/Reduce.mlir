// RUN: strata-opt --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg %s | FileCheck %s

// The axes of old versions are an attribute; narrow floats are summed in f32.
// CHECK-LABEL: @mean
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: arith.extf
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: arith.truncf
func.func @mean(%x: tensor<2x3xf16>) -> tensor<2xf16> {
  %y = onnx.ReduceMean_11(%x) {axes = array<i64: -1>, keepdims = 0 : i64} : (tensor<2x3xf16>) -> tensor<2xf16>
  return %y : tensor<2xf16>
}

// -----

// Axes that only the run tells.
// CHECK-LABEL: @runtime
// CHECK: scf.for
// CHECK: tensor.insert
func.func @runtime(%x: tensor<2x3xf32>, %axes: tensor<1xi64>) -> tensor<?xf32> {
  %y = onnx.ReduceSum_13(%x, %axes) {keepdims = 0 : i64} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// CHECK-LABEL: @noop
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK: arith.mulf
func.func @noop(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = onnx.ReduceSumSquare_18(%x) {noop_with_empty_axes = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
