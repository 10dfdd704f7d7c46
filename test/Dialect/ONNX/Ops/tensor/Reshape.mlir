// RUN: strata-opt --split-input-file --onnx-infer-shapes %s | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg %s | FileCheck %s

// Heads are split off a known dimension: the batch and the sequence keep their names and stay apart.
// SHAPES-LABEL: @split_heads
// SHAPES: -> tensor<?x?x12x64xf32, #onnx.dims<"b", "s", "", "">>
// CHECK-LABEL: @split_heads
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2, 3]]
func.func @split_heads(%x: tensor<?x?x768xf32, #onnx.dims<"b", "s", "">>) -> tensor<?x?x12x64xf32> {
  %shape = onnx.Initializer dense<[0, 0, 12, -1]> : tensor<4xi64>
  %y = onnx.Reshape_14(%x, %shape) : (tensor<?x?x768xf32, #onnx.dims<"b", "s", "">>, tensor<4xi64>) -> tensor<*xf32>
  %z = onnx.CastShape %y : tensor<*xf32> -> tensor<?x?x12x64xf32>
  return %z : tensor<?x?x12x64xf32>
}

// -----

// CHECK-LABEL: @merge
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]]
func.func @merge(%x: tensor<?x?x768xf32, #onnx.dims<"b", "s", "">>) -> tensor<?x768xf32> {
  %shape = onnx.Initializer dense<[-1, 768]> : tensor<2xi64>
  %y = onnx.Reshape_14(%x, %shape) : (tensor<?x?x768xf32, #onnx.dims<"b", "s", "">>, tensor<2xi64>) -> tensor<?x768xf32>
  return %y : tensor<?x768xf32>
}

// -----

// Only the run tells the sizes: they are checked.
// CHECK-LABEL: @runtime
// CHECK: cf.assert %{{.*}}, "the shape has a negative size"
// CHECK: cf.assert %{{.*}}, "the data does not have as many elements as the shape asks for"
// CHECK: tensor.reshape
func.func @runtime(%x: tensor<2x6xf32>, %shape: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = onnx.Reshape_14(%x, %shape) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// The first version has the shape as an attribute.
// SHAPES-LABEL: @attribute
// SHAPES: onnx.Reshape_1{{.*}} -> tensor<3x4xf32>
// CHECK-LABEL: @attribute
// CHECK: tensor.expand_shape
func.func @attribute(%x: tensor<2x6xf32>) -> tensor<3x4xf32> {
  %y = onnx.Reshape_1(%x) {shape = array<i64: 3, -1>} : (tensor<2x6xf32>) -> tensor<*xf32>
  %z = onnx.CastShape %y : tensor<*xf32> -> tensor<3x4xf32>
  return %z : tensor<3x4xf32>
}
