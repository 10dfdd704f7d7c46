// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s

// The handle of nothing is zero.
// CHECK-LABEL: @none
// CHECK: arith.constant dense<0> : tensor<i64>
func.func @none() -> !onnx.optional<tensor<?xf32>> {
  %y = onnx.Optional_28() {elem_type = tensor<?xf32>} : () -> !onnx.optional<tensor<?xf32>>
  return %y : !onnx.optional<tensor<?xf32>>
}

// -----

// CHECK-LABEL: @has
// CHECK-SAME: -> (tensor<i1>
// CHECK: %[[H:.*]] = tensor.extract
// CHECK: arith.cmpi ne, %[[H]]
func.func @has(%x: !onnx.optional<tensor<?xf32>>) -> tensor<*xi1> {
  %y = onnx.OptionalHasElement_28(%x) : (!onnx.optional<tensor<?xf32>>) -> tensor<*xi1>
  return %y : tensor<*xi1>
}

// -----

// CHECK-LABEL: @get
// CHECK-SAME: -> (tensor<?xf32>
// CHECK: cf.assert
func.func @get(%x: !onnx.optional<tensor<?xf32>>) -> tensor<*xf32> {
  %y = onnx.OptionalGetElement_28(%x) : (!onnx.optional<tensor<?xf32>>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
