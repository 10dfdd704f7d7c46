// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Indices are checked once, before they are used.
// CHECK-LABEL: @rows
// CHECK: onnx.Gather_13{{.*}} -> tensor<2x3x4xf32>
// LOWER-LABEL: @rows
// LOWER: cf.assert %{{.*}}, "an index is out of range
// LOWER: linalg.index
// LOWER: tensor.extract
func.func @rows(%x: tensor<?x4xf32>, %a: tensor<2x3xi32>) -> tensor<*xf32> {
  %y = onnx.Gather_1(%x, %a) : (tensor<?x4xf32>, tensor<2x3xi32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @elements
// CHECK: onnx.GatherElements_13{{.*}} -> tensor<3x2xf32>
func.func @elements(%x: tensor<3x4xf32>, %a: tensor<3x2xi64>) -> tensor<*xf32> {
  %y = onnx.GatherElements_11(%x, %a) {axis = -1 : i64} : (tensor<3x4xf32>, tensor<3x2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @tuples
// CHECK: onnx.GatherND_13{{.*}} -> tensor<5x2x4xf32>
func.func @tuples(%x: tensor<5x3x4xf32>, %a: tensor<5x2x1xi64>) -> tensor<*xf32> {
  %y = onnx.GatherND_12(%x, %a) {batch_dims = 1 : i64} : (tensor<5x3x4xf32>, tensor<5x2x1xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
