// RUN: split-file %s %t
// RUN: strata-opt %t/down.mlir --onnx-convert-opset=opset=6 | FileCheck %t/down.mlir
// RUN: strata-opt %t/inputs.mlir --onnx-convert-opset=opset=9 | FileCheck %t/inputs.mlir
// RUN: strata-opt %t/up.mlir --onnx-convert-opset=opset=13,ai.onnx.ml:4 | FileCheck %t/up.mlir
// RUN: strata-opt %t/softmax.mlir --onnx-convert-opset=opset=12 | FileCheck %t/softmax.mlir
// RUN: strata-opt %t/body.mlir --onnx-convert-opset=opset=16 | FileCheck %t/body.mlir
// RUN: strata-opt %t/older.mlir --onnx-convert-opset=opset=11 | FileCheck %t/older.mlir
// RUN: strata-opt %t/oldest.mlir --onnx-convert-opset=opset=7 | FileCheck %t/oldest.mlir
// RUN: strata-opt %t/resize.mlir --onnx-convert-opset=opset=17 | FileCheck %t/resize.mlir
// RUN: strata-opt %t/wider.mlir --onnx-convert-opset=opset=13 | FileCheck %t/wider.mlir
// RUN: strata-opt %t/known.mlir --onnx-convert-opset=opset=12 | FileCheck %t/known.mlir
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

//--- older.mlir
// What older operators compute, where there is no step.
// CHECK-LABEL: @main
func.func @main(%x: tensor<2x3xf32>, %d: tensor<?x3x?xf32>, %i: tensor<4xi16>, %k: tensor<i64>)
    -> (tensor<1xi64>, tensor<4xi16>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi64>, tensor<3xf32>) {
  // CHECK: %[[SHAPE:.*]] = onnx.Shape_1(%arg1)
  // CHECK: onnx.Slice_11(%[[SHAPE]]
  %0 = onnx.Shape_25(%d) {start = 1 : i64, end = 2 : i64} : (tensor<?x3x?xf32>) -> tensor<1xi64>
  // An arithmetic shift of bits that are not negative.
  // CHECK: onnx.Less_9
  // CHECK: onnx.BitShift_11(%{{.*}}, %{{.*}}) {direction = "RIGHT"} : (tensor<{{.*}}xui16>, tensor<{{.*}}xui16>)
  %1 = onnx.BitShift_28(%i, %i) {direction = "RIGHT"} : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi16>
  // A uniform number below the probability, not above it as in the function body.
  // CHECK: %[[U:.*]] = onnx.RandomUniformLike_1(%arg0)
  // CHECK: onnx.Less_9(%[[U]], %arg0)
  %b = onnx.Bernoulli_22(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: onnx.Mod_10(%{{.*}}, %{{.*}}) {fmod = 1 : i64}
  %2 = onnx.Mod_28(%b, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: onnx.Less_9(%{{.*}}, %arg3)
  // CHECK: onnx.Where_9
  %3 = onnx.Trilu_14(%x, %k) : (tensor<2x3xf32>, tensor<i64>) -> tensor<2x3xf32>
  // CHECK: onnx.Slice_11
  // CHECK: onnx.ArgMax_11(%{{.*}}) {axis = 1 : i64, keepdims = 0 : i64}
  // CHECK: onnx.Sub_7
  %4 = onnx.ArgMax_13(%x) {axis = 1 : i64, keepdims = 0 : i64, select_last_index = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  %5 = onnx.Initializer dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %6 = onnx.Initializer dense<0> : tensor<i64>
  // CHECK: %[[PARTS:.*]]:3 = onnx.Split_11
  // CHECK: onnx.Mul_7(%[[PARTS]]#0, %[[PARTS]]#1)
  // CHECK: onnx.Concat_11
  %7 = onnx.CumProd_26(%5, %6) : (tensor<3xf32>, tensor<i64>) -> tensor<3xf32>
  return %0, %1, %2, %3, %4, %7 : tensor<1xi64>, tensor<4xi16>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi64>, tensor<3xf32>
}

//--- oldest.mlir
// CHECK-LABEL: @main
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>, %s: tensor<2xi64>, %n: tensor<4xi64>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<3xi1>, tensor<4xi64>, tensor<3xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: onnx.Tile_6(%{{.*}}, %arg2)
  %0 = onnx.ConstantOfShape_25(%s) {value = dense<2.0> : tensor<1xf32>} : (tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: onnx.Tile_6(%{{.*}}, %arg2)
  // CHECK: onnx.Mul_7(%arg0
  %1 = onnx.Expand_13(%x, %s) : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // NaN is equal to nothing.
  // CHECK: onnx.Less_7(%arg0, %arg1)
  // CHECK: onnx.And_7
  %2 = onnx.Equal_19(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  // CHECK: onnx.Div_7(%arg3, %arg3)
  %3 = onnx.Mod_28(%n, %n) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  // CHECK: %[[BOTH:.*]] = onnx.Concat_4
  // CHECK: onnx.Gather_1(%[[BOTH]]
  %4 = onnx.Where_16(%2, %x, %y) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: %[[FLAT:.*]] = onnx.Reshape_5(%arg0
  // CHECK: onnx.Gather_1(%[[FLAT]]
  %5 = onnx.GatherElements_13(%x, %n) : (tensor<3xf32>, tensor<4xi64>) -> tensor<4xf32>
  // CHECK: onnx.Less_7
  // CHECK: onnx.Gather_1(%arg1
  %6 = onnx.Gather_13(%y, %n) : (tensor<3xf32>, tensor<4xi64>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<?x?xf32>, tensor<?x?xf32>, tensor<3xi1>, tensor<4xi64>, tensor<3xf32>, tensor<4xf32>, tensor<4xf32>
}

//--- resize.mlir
// Scales of some axes, of which only the run knows.
// CHECK-LABEL: @main
// CHECK: %[[ALL:.*]] = onnx.Gather_13
// CHECK: onnx.Resize_13(%arg0, none, %[[ALL]])
func.func @main(%x: tensor<1x1x4x4xf32>, %s: tensor<2xf32>) -> tensor<1x1x?x?xf32> {
  %0 = onnx.Resize_19(%x, none, %s, none) {axes = array<i64: 2, 3>} : (tensor<1x1x4x4xf32>, none, tensor<2xf32>, none) -> tensor<1x1x?x?xf32>
  return %0 : tensor<1x1x?x?xf32>
}

//--- wider.mlir
// Types that the older version lacks: computed in one that holds them, and rounded once.
// CHECK-LABEL: @main
func.func @main(%x: tensor<4xbf16>, %i: tensor<4xi16>) -> (tensor<4xbf16>, tensor<4xi16>) {
  // CHECK: %[[X:.*]] = onnx.Cast_13(%arg0) {to = 1 : i64} : (tensor<4xbf16>) -> tensor<4xf32>
  // CHECK: %[[Y:.*]] = onnx.Elu_6(%[[X]]) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: onnx.Cast_13(%[[Y]]) {to = 16 : i64}
  %0 = onnx.Elu_22(%x) : (tensor<4xbf16>) -> tensor<4xbf16>
  // CHECK: onnx.Add_13(%{{.*}}, %{{.*}}) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = onnx.Add_14(%i, %i) : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi16>
  return %0, %1 : tensor<4xbf16>, tensor<4xi16>
}

//--- known.mlir
// Inputs that are computed of known shapes are constants, if they must be.
// CHECK-LABEL: @main
// CHECK-NOT: Shape
// CHECK: onnx.ReduceSum_11(%arg0) {axes = array<i64: 1>
func.func @main(%x: tensor<2x3xf32>, %y: tensor<1x7xf32>) -> tensor<2x1xf32> {
  %0 = onnx.Shape_25(%y) {end = 1 : i64} : (tensor<1x7xf32>) -> tensor<1xi64>
  %1 = onnx.ReduceSum_13(%x, %0) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  return %1 : tensor<2x1xf32>
}
