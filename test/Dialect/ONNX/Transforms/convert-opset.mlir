// RUN: split-file %s %t
// RUN: strata-opt %t/down.mlir --onnx-convert-opset=opset=6 | FileCheck %t/down.mlir
// RUN: strata-opt %t/inputs.mlir --onnx-convert-opset=opset=9 | FileCheck %t/inputs.mlir
// RUN: strata-opt %t/up.mlir --onnx-convert-opset=opset=13,ai.onnx.ml:4 | FileCheck %t/up.mlir
// RUN: strata-opt %t/softmax.mlir --onnx-convert-opset=opset=12 | FileCheck %t/softmax.mlir
// RUN: strata-opt %t/body.mlir --onnx-convert-opset=opset=16 | FileCheck %t/body.mlir
// RUN: strata-opt %t/subgraph.mlir --onnx-convert-opset=opset=12 | FileCheck %t/subgraph.mlir

//--- down.mlir
// The opset and the IR version follow; constants of converted models are no inputs, which IR version 4 allows.
// CHECK: module attributes {onnx.ir_version = 4 : i64, onnx.opset_import = {ai.onnx = 6 : i64, ai.onnx.ml = 3 : i64}}
module attributes {onnx.ir_version = 10 : i64, onnx.opset_import = {ai.onnx = 21 : i64, ai.onnx.ml = 3 : i64}} {
  // CHECK-LABEL: @main
  func.func @main(%x: tensor<2x3x4x4xf32>, %channels: tensor<3x1x1xf32>, %s: tensor<3xf32>) {
    // CHECK: onnx.Relu_6
    %0 = onnx.Relu_14(%x) : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
    // CHECK: %[[C:.*]] = onnx.Squeeze_1(%arg1) {axes = array<i64: 1, 2>} : (tensor<3x1x1xf32>) -> tensor<3xf32>
    // CHECK: onnx.Add_6(%{{.*}}, %[[C]]) {axis = 1 : i64, broadcast = 1 : i64}
    %1 = onnx.Add_14(%0, %channels) : (tensor<2x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<2x3x4x4xf32>
    // CHECK: onnx.Mul_6(%{{.*}}, %{{.*}}) : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>)
    %2 = onnx.Mul_14(%0, %1) : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
    // CHECK: onnx.BatchNormalization_6(%{{.*}}) {is_test = 1 : i64}
    %3 = onnx.BatchNormalization_15(%2, %s, %s, %s, %s) {training_mode = 0 : i64} : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x4xf32>
    // CHECK: onnx.MaxPool_1(%{{.*}}) {kernel_shape = array<i64: 2, 2>}
    %4 = onnx.MaxPool_22(%3) {ceil_mode = 0 : i64, dilations = array<i64: 1, 1>, kernel_shape = array<i64: 2, 2>} : (tensor<2x3x4x4xf32>) -> tensor<2x3x3x3xf32>
    // CHECK: onnx.Concat_4(%{{.*}}) {axis = 3 : i64}
    %5 = onnx.Concat_13(%4, %4) {axis = -1 : i64} : (tensor<2x3x3x3xf32>, tensor<2x3x3x3xf32>) -> tensor<2x3x3x6xf32>
    // CHECK: onnx.Cast_6(%{{.*}}) {to = 11 : i64}
    %6 = onnx.Cast_21(%5) {saturate = 1 : i64, to = 11 : i64} : (tensor<2x3x3x6xf32>) -> tensor<2x3x3x6xf64>
    // CHECK: onnx.Selu_6
    %7 = onnx.Selu_22(%5) : (tensor<2x3x3x6xf32>) -> tensor<2x3x3x6xf32>
    return
  }
}

//--- inputs.mlir
// Constant inputs become attributes, and nothing is left of them.
// CHECK-LABEL: @main
// CHECK-NOT: Initializer
func.func @main(%x: tensor<2x1x4xf32>) {
  %axes = onnx.Initializer dense<-2> : tensor<1xi64>
  %two = onnx.Initializer dense<2> : tensor<1xi64>
  %low = onnx.Initializer dense<-1.5> : tensor<f32>
  %zero = onnx.Initializer dense<0> : tensor<1xi64>
  %pads = onnx.Initializer dense<[0, 1]> : tensor<2xi64>
  // CHECK: onnx.Squeeze_1(%arg0) {axes = array<i64: 1>}
  %0 = onnx.Squeeze_21(%x, %axes) : (tensor<2x1x4xf32>, tensor<1xi64>) -> tensor<2x4xf32>
  // CHECK: onnx.Unsqueeze_1(%{{.*}}) {axes = array<i64: 1>}
  %1 = onnx.Unsqueeze_21(%0, %axes) : (tensor<2x4xf32>, tensor<1xi64>) -> tensor<2x1x4xf32>
  // CHECK: onnx.Clip_6(%{{.*}}) {max = 3.40282347E+38 : f32, min = -1.500000e+00 : f32}
  %2 = onnx.Clip_13(%1, %low) : (tensor<2x1x4xf32>, tensor<f32>) -> tensor<2x1x4xf32>
  // CHECK: onnx.ReduceMax_1(%{{.*}}) {axes = array<i64: 1>, keepdims = 0 : i64}
  %3 = onnx.ReduceMax_20(%2, %axes) {keepdims = 0 : i64} : (tensor<2x1x4xf32>, tensor<1xi64>) -> tensor<2x4xf32>
  // CHECK: onnx.ReduceSum_1(%{{.*}}) : (tensor<2x4xf32>) -> tensor<1x1xf32>
  %4 = onnx.ReduceSum_13(%3) : (tensor<2x4xf32>) -> tensor<1x1xf32>
  // CHECK: onnx.Slice_1(%{{.*}}) {axes = array<i64: 0>, ends = array<i64: 2>, starts = array<i64: 0>}
  %5 = onnx.Slice_13(%3, %zero, %two, %axes) : (tensor<2x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x4xf32>
  // CHECK: onnx.Split_2(%{{.*}}) {axis = 1 : i64} :
  %6, %7 = onnx.Split_18(%3) {axis = 1 : i64, num_outputs = 2 : i64} : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  // CHECK: onnx.Pad_2(%{{.*}}) {pads = array<i64: 0, 0, 1, 0>, value = -1.500000e+00 : f32}
  %8 = onnx.Pad_21(%3, %pads, %low, %axes) : (tensor<2x4xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<3x4xf32>
  // CHECK: onnx.TopK_1(%{{.*}}) {axis = 1 : i64, k = 2 : i64}
  %9, %10 = onnx.TopK_11(%3, %two) {axis = -1 : i64, largest = 1 : i64} : (tensor<2x4xf32>, tensor<1xi64>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  return
}

//--- up.mlir
// Steps may go past the wanted version; what they made comes back down.
// CHECK: module attributes {onnx.ir_version = 7 : i64, onnx.opset_import = {ai.onnx = 13 : i64, ai.onnx.ml = 4 : i64}}
module attributes {onnx.ir_version = 3 : i64, onnx.opset_import = {ai.onnx = 6 : i64, ai.onnx.ml = 2 : i64}} {
  // CHECK-LABEL: @main
  func.func @main(%x: tensor<2x3xf32>) {
    // CHECK: onnx.Flatten_13
    // CHECK: onnx.Softmax_13(%{{.*}}) {axis = -1 : i64}
    // CHECK: onnx.Shape_13
    // CHECK: onnx.Reshape_13
    %0 = onnx.Softmax_1(%x) {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    // CHECK: onnx.Clip_13(%arg0, %{{.*}}, %{{.*}})
    %1 = onnx.Clip_6(%x) {min = 0.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

//--- softmax.mlir
// CHECK: %[[T:.*]] = onnx.Transpose_1(%arg0) {perm = array<i64: 2, 1, 0>} : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
// CHECK: %[[S:.*]] = onnx.Softmax_11(%[[T]]) {axis = 2 : i64}
// CHECK: onnx.Transpose_1(%[[S]]) {perm = array<i64: 2, 1, 0>} : (tensor<4x3x2xf32>) -> tensor<2x3x4xf32>
// CHECK: onnx.LogSoftmax_11(%arg0) {axis = 2 : i64}
func.func @main(%x: tensor<2x3x4xf32>) {
  %0 = onnx.Softmax_13(%x) {axis = 0 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = onnx.LogSoftmax_13(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

//--- body.mlir
// LayerNormalization begins with version 17: in terms of what there is at 16.
// CHECK-NOT: LayerNormalization
// CHECK: onnx.ReduceMean_13
// CHECK-NOT: _18
func.func @main(%x: tensor<2x8xf32>, %scale: tensor<8xf32>) -> tensor<2x8xf32> {
  %0 = onnx.LayerNormalization_17(%x, %scale) : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

//--- subgraph.mlir
// CHECK: onnx.If_11
// CHECK: onnx.Identity_1
// CHECK: onnx.Exp_6
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) {
  %0 = onnx.If_25(%c) graph {
    %1 = onnx.Identity_25(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %1 : tensor<4xf32>
  } graph {
    %1 = onnx.Exp_13(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %1 : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  return
}
