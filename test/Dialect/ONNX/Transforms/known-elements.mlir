// RUN: strata-opt %s --split-input-file --onnx-infer-shapes | FileCheck %s

// Sizes that are computed in floats, as exporters do it for resized images.
// CHECK-LABEL: func.func @scaled
// CHECK-SAME: -> tensor<1x3x150x226xf32>
func.func @scaled(%x: tensor<1x3x100x151xf32>) -> tensor<*xf32> {
  %factor = onnx.Initializer dense<1.5> : tensor<f32>
  %start = onnx.Initializer dense<2> : tensor<1xi64>
  %end = onnx.Initializer dense<4> : tensor<1xi64>
  %shape = onnx.Shape_25(%x) {start = 2 : i64} : (tensor<1x3x100x151xf32>) -> tensor<*xi64>
  %whole = onnx.Shape_25(%x) : (tensor<1x3x100x151xf32>) -> tensor<*xi64>
  %zero = onnx.Initializer dense<0> : tensor<1xi64>
  %two = onnx.Initializer dense<2> : tensor<1xi64>
  %lead = onnx.Slice_13(%whole, %zero, %two, none, none) : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, none, none) -> tensor<*xi64>
  %floats = onnx.Cast_28(%shape) {to = 1 : i64} : (tensor<*xi64>) -> tensor<*xf32>
  %scaled = onnx.Mul_14(%floats, %factor) : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %rounded = onnx.Floor_13(%scaled) : (tensor<*xf32>) -> tensor<*xf32>
  %sizes = onnx.Cast_28(%rounded) {to = 7 : i64} : (tensor<*xf32>) -> tensor<*xi64>
  %target = onnx.Concat_13(%lead, %sizes) {axis = 0 : i64} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %y = onnx.Resize_19(%x, none, none, %target) {mode = "linear"} : (tensor<1x3x100x151xf32>, none, none, tensor<*xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// In the type's own precision: 2^24 + 1 is no float.
// CHECK-LABEL: func.func @rounded
// CHECK: onnx.Initializer dense<16777216> : tensor<1xi64>
func.func @rounded() -> tensor<*xi64> {
  %n = onnx.Initializer dense<16777217> : tensor<1xi64>
  %f = onnx.Cast_28(%n) {to = 1 : i64} : (tensor<1xi64>) -> tensor<*xf32>
  %i = onnx.Cast_28(%f) {to = 7 : i64} : (tensor<*xf32>) -> tensor<*xi64>
  return %i : tensor<*xi64>
}

// -----

// Lists of two dimensions: pads that are turned around, as torch's exporter writes them.
// CHECK-LABEL: func.func @pads
// CHECK: onnx.Initializer dense<[5, 3, 1, 6, 4, 2]> : tensor<6xi64>
func.func @pads() -> tensor<*xi64> {
  %list = onnx.Initializer dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi64>
  %form = onnx.Initializer dense<[-1, 2]> : tensor<2xi64>
  %pairs = onnx.Reshape_25(%list, %form) : (tensor<6xi64>, tensor<2xi64>) -> tensor<*xi64>
  %last = onnx.Initializer dense<-1> : tensor<1xi64>
  %low = onnx.Initializer dense<-9223372036854775807> : tensor<1xi64>
  %zero = onnx.Initializer dense<0> : tensor<1xi64>
  %turned = onnx.Slice_13(%pairs, %last, %low, %zero, %last) : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %columns = onnx.Transpose_25(%turned) {perm = array<i64: 1, 0>} : (tensor<*xi64>) -> tensor<*xi64>
  %flat = onnx.Reshape_25(%columns, %last) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  return %flat : tensor<*xi64>
}

// -----

// What is no number is not compared away, and a sum of several depends on its order.
// CHECK-LABEL: func.func @careful
// CHECK: onnx.ReduceMax
// CHECK: onnx.ReduceSum
func.func @careful() -> (tensor<*xf32>, tensor<*xf32>) {
  %x = onnx.Initializer dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  %y = onnx.Initializer dense<[1.0, 1.0e-8]> : tensor<2xf32>
  %m = onnx.ReduceMax_20(%x, none) : (tensor<2xf32>, none) -> tensor<*xf32>
  %s = onnx.ReduceSum_13(%y, none) : (tensor<2xf32>, none) -> tensor<*xf32>
  return %m, %s : tensor<*xf32>, tensor<*xf32>
}
