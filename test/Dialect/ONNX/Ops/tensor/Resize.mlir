// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Upsample became Resize; its coordinates are asymmetric. What is repeated a whole number of times is spread out.
// CHECK-LABEL: @upsample
// CHECK: onnx.Resize_19{{.*}}coordinate_transformation_mode = "asymmetric"{{.*}} -> tensor<1x1x4x6xf32>
// LOWER-LABEL: @upsample
// LOWER-NOT: tensor.extract
// LOWER: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1x2x2x3x2xf32>)
// LOWER-NOT: tensor.extract
// LOWER: tensor.collapse_shape {{.*}} into tensor<1x1x4x6xf32>
func.func @upsample(%x: tensor<1x1x2x3xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %y = onnx.Upsample_9(%x, %a) {mode = "nearest"} : (tensor<1x1x2x3xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Of an even scale, the element above begins too early to be a repetition.
// LOWER-LABEL: @above
// LOWER: tensor.extract
func.func @above(%x: tensor<1x1x2x3xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %y = onnx.Resize_19(%x, none, %a, none) {mode = "nearest", nearest_mode = "ceil"} : (tensor<1x1x2x3xf32>, none, tensor<4xf32>, none) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @linear
// CHECK: -> tensor<1x1x8x2xf16>
// LOWER-LABEL: @linear
// LOWER: arith.mulf
func.func @linear(%x: tensor<1x1x4x4xf16>) -> tensor<*xf16> {
  %c = onnx.Initializer dense<[8, 2]> : tensor<2xi64>
  %y = onnx.Resize_19(%x, none, none, %c) {mode = "linear", axes = array<i64: 2, 3>} : (tensor<1x1x4x4xf16>, none, none, tensor<2xi64>) -> tensor<*xf16>
  return %y : tensor<*xf16>
}

// -----

// Sizes that stay need nothing; the last axis comes before one that grows, when there are 4 rows and not 12.
// LOWER-LABEL: @sizes
// LOWER-NOT: linalg.generic {{.*}}"reduction"
// LOWER: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x8x4x7xf32>)
// LOWER: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x8x12x7xf32>)
// LOWER-NOT: "reduction"
// LOWER: return
func.func @sizes(%x: tensor<1x8x4x5xf32>) -> tensor<*xf32> {
  %c = onnx.Initializer dense<[1, 8, 12, 7]> : tensor<4xi64>
  %y = onnx.Resize_19(%x, none, none, %c) {mode = "linear"} : (tensor<1x8x4x5xf32>, none, none, tensor<4xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The last axis comes after one that shrinks.
// LOWER-LABEL: @shrinking
// LOWER: tensor<1x8x3x5xf32>
// LOWER: tensor<1x8x3x7xf32>
// LOWER: return
func.func @shrinking(%x: tensor<1x8x6x5xf32>) -> tensor<*xf32> {
  %c = onnx.Initializer dense<[1, 8, 3, 7]> : tensor<4xi64>
  %y = onnx.Resize_19(%x, none, none, %c) {mode = "linear"} : (tensor<1x8x6x5xf32>, none, none, tensor<4xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// To a size that only the run tells: that it grows is assumed.
// LOWER-LABEL: @to_another_size
// LOWER: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x8x6x?xf32>)
// LOWER: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x8x?x?xf32>)
// LOWER: return
func.func @to_another_size(%x: tensor<1x8x6x5xf32>, %c: tensor<2xi64>) -> tensor<*xf32> {
  %y = onnx.Resize_19(%x, none, none, %c) {axes = array<i64: 2, 3>, mode = "linear"} : (tensor<1x8x6x5xf32>, none, none, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Nothing is resized: nothing is left.
// LOWER-LABEL: @same
// LOWER-NOT: linalg
// LOWER: return
func.func @same(%x: tensor<1x8x6x5xf32>) -> tensor<*xf32> {
  %c = onnx.Initializer dense<[1, 8, 6, 5]> : tensor<4xi64>
  %y = onnx.Resize_19(%x, none, none, %c) {mode = "linear", coordinate_transformation_mode = "align_corners"} : (tensor<1x8x6x5xf32>, none, none, tensor<4xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Nor is it to the size of a tensor that is as large, whatever that is.
// LOWER-LABEL: @same_of_any_size
// LOWER-NOT: linalg.generic
// LOWER: return
func.func @same_of_any_size(%x: tensor<1x8x?x?xf32, #onnx.dims<"", "", "h", "w">>, %y: tensor<1x4x?x?xf32, #onnx.dims<"", "", "h", "w">>) -> tensor<*xf32> {
  %c = onnx.Shape_19(%y) {start = 2 : i64} : (tensor<1x4x?x?xf32, #onnx.dims<"", "", "h", "w">>) -> tensor<2xi64>
  %z = onnx.Resize_19(%x, none, none, %c) {axes = array<i64: 2, 3>, mode = "linear"} : (tensor<1x8x?x?xf32, #onnx.dims<"", "", "h", "w">>, none, none, tensor<2xi64>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}
