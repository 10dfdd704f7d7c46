// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(convert-onnx-to-linalg,canonicalize,cse,func.func(strata-generalize,strata-channels-last),canonicalize,cse,func.func(strata-fuse-elementwise,strata-prepare-attention),canonicalize,cse)' | FileCheck %s

// Two heads of K and V for six of Q: each is read where it lies, by a loop of three. The number of queries is known.
// CHECK-LABEL: func.func @shared_heads(
// CHECK:       %[[Q:.*]] = tensor.expand_shape %arg0 {{.*}} : tensor<1x6x5x8xf32> into tensor<1x2x3x5x8xf32>
// CHECK:       %[[K:.*]] = tensor.collapse_shape %arg1 {{.*}} : tensor<1x2x96x8xf32> into tensor<2x96x8xf32>
// CHECK:       linalg.generic {{.*}} ins(%[[Q]], %[[K]] : tensor<1x2x3x5x8xf32>, tensor<2x96x8xf32>) outs({{.*}} : tensor<1x2x3x5x96xf32>)
// CHECK:         arith.mulf
// CHECK:       %[[V:.*]] = tensor.collapse_shape %arg2 {{.*}} : tensor<1x2x96x8xf32> into tensor<2x96x8xf32>
// CHECK:       linalg.generic {{.*}} ins(%{{.*}}, %[[V]] : tensor<1x2x3x5x96xf32>, tensor<2x96x8xf32>)
// CHECK:       tensor.collapse_shape {{.*}} : tensor<1x2x3x5x8xf32> into tensor<1x6x5x8xf32>
// CHECK-NOT:   scf.if
func.func @shared_heads(%q: tensor<1x6x5x8xf32>, %k: tensor<1x2x96x8xf32>, %v: tensor<1x2x96x8xf32>) -> tensor<1x6x5x8xf32> {
  %axis = onnx.Initializer dense<2> : tensor<1xi64>
  %five = onnx.Initializer dense<[1, 2, 3, 96, 8]> : tensor<5xi64>
  %four = onnx.Initializer dense<[1, 6, 96, 8]> : tensor<4xi64>
  %k1 = onnx.Unsqueeze_25(%k, %axis) : (tensor<1x2x96x8xf32>, tensor<1xi64>) -> tensor<1x2x1x96x8xf32>
  %k2 = onnx.Expand_13(%k1, %five) : (tensor<1x2x1x96x8xf32>, tensor<5xi64>) -> tensor<1x2x3x96x8xf32>
  %keys = onnx.Reshape_25(%k2, %four) : (tensor<1x2x3x96x8xf32>, tensor<4xi64>) -> tensor<1x6x96x8xf32>
  %v1 = onnx.Unsqueeze_25(%v, %axis) : (tensor<1x2x96x8xf32>, tensor<1xi64>) -> tensor<1x2x1x96x8xf32>
  %v2 = onnx.Expand_13(%v1, %five) : (tensor<1x2x1x96x8xf32>, tensor<5xi64>) -> tensor<1x2x3x96x8xf32>
  %values = onnx.Reshape_25(%v2, %four) : (tensor<1x2x3x96x8xf32>, tensor<4xi64>) -> tensor<1x6x96x8xf32>
  %columns = onnx.Transpose_25(%keys) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x6x96x8xf32>) -> tensor<1x6x8x96xf32>
  %scores = onnx.MatMul_13(%q, %columns) : (tensor<1x6x5x8xf32>, tensor<1x6x8x96xf32>) -> tensor<1x6x5x96xf32>
  %weights = onnx.Softmax_13(%scores) {axis = -1} : (tensor<1x6x5x96xf32>) -> tensor<1x6x5x96xf32>
  %y = onnx.MatMul_13(%weights, %values) : (tensor<1x6x5x96xf32>, tensor<1x6x96x8xf32>) -> tensor<1x6x5x8xf32>
  return %y : tensor<1x6x5x8xf32>
}

// -----

// However many queries, and a cache: a branch for one, whose sizes are known, and which reads K as it lies.
// CHECK-LABEL: func.func @one_query(
// CHECK-DAG:   %[[ONE:.*]] = arith.constant 1 : index
// CHECK:       %[[KEYS:.*]] = tensor.concat dim(1) %arg1, %arg2
// CHECK-NOT:   linalg.transpose
// CHECK:       %[[IS_ONE:.*]] = arith.cmpi eq, %{{.*}}, %[[ONE]]
// CHECK:       scf.if %[[IS_ONE]] -> (tensor<4x?x8xf32>) {
// CHECK:         %[[Q:.*]] = tensor.cast %arg0 : tensor<4x?x8xf32> to tensor<4x1x8xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[Q]], %[[KEYS]] : tensor<4x1x8xf32>, tensor<4x?x8xf32>) outs({{.*}} : tensor<4x1x?xf32>)
// CHECK:         } -> tensor<4x1x8xf32>
// CHECK:         tensor.cast %{{.*}} : tensor<4x1x8xf32> to tensor<4x?x8xf32>
// CHECK:       } else {
// CHECK:         linalg.generic {{.*}} ins(%arg0, %[[KEYS]] : tensor<4x?x8xf32>, tensor<4x?x8xf32>)
// CHECK:         } -> tensor<4x?x8xf32>
func.func @one_query(%q: tensor<4x?x8xf32, #onnx.dims<"", "s", "">>, %past: tensor<4x?x8xf32, #onnx.dims<"", "p", "">>, %k: tensor<4x?x8xf32, #onnx.dims<"", "s", "">>, %v: tensor<4x?x8xf32, #onnx.dims<"", "t", "">>) -> tensor<4x?x8xf32, #onnx.dims<"", "s", "">> {
  %keys = onnx.Concat_13(%past, %k) {axis = 1} : (tensor<4x?x8xf32, #onnx.dims<"", "p", "">>, tensor<4x?x8xf32, #onnx.dims<"", "s", "">>) -> tensor<4x?x8xf32, #onnx.dims<"", "t", "">>
  %columns = onnx.Transpose_25(%keys) {perm = array<i64: 0, 2, 1>} : (tensor<4x?x8xf32, #onnx.dims<"", "t", "">>) -> tensor<4x8x?xf32, #onnx.dims<"", "", "t">>
  %scores = onnx.MatMul_13(%q, %columns) : (tensor<4x?x8xf32, #onnx.dims<"", "s", "">>, tensor<4x8x?xf32, #onnx.dims<"", "", "t">>) -> tensor<4x?x?xf32, #onnx.dims<"", "s", "t">>
  %weights = onnx.Softmax_13(%scores) {axis = -1} : (tensor<4x?x?xf32, #onnx.dims<"", "s", "t">>) -> tensor<4x?x?xf32, #onnx.dims<"", "s", "t">>
  %y = onnx.MatMul_13(%weights, %v) : (tensor<4x?x?xf32, #onnx.dims<"", "s", "t">>, tensor<4x?x8xf32, #onnx.dims<"", "t", "">>) -> tensor<4x?x8xf32, #onnx.dims<"", "s", "">>
  return %y : tensor<4x?x8xf32, #onnx.dims<"", "s", "">>
}

// -----

// The keys are as many as the queries, of the same tokens: one query is no case of its own.
// CHECK-LABEL: func.func @own_tokens(
// CHECK-NOT:   scf.if
func.func @own_tokens(%q: tensor<4x?x8xf32, #onnx.dims<"", "s", "">>, %w: tensor<8x8xf32>, %v: tensor<4x?x8xf32, #onnx.dims<"", "s", "">>) -> tensor<4x?x8xf32, #onnx.dims<"", "s", "">> {
  %keys = onnx.MatMul_13(%q, %w) : (tensor<4x?x8xf32, #onnx.dims<"", "s", "">>, tensor<8x8xf32>) -> tensor<4x?x8xf32, #onnx.dims<"", "s", "">>
  %columns = onnx.Transpose_25(%keys) {perm = array<i64: 0, 2, 1>} : (tensor<4x?x8xf32, #onnx.dims<"", "s", "">>) -> tensor<4x8x?xf32, #onnx.dims<"", "", "s">>
  %scores = onnx.MatMul_13(%q, %columns) : (tensor<4x?x8xf32, #onnx.dims<"", "s", "">>, tensor<4x8x?xf32, #onnx.dims<"", "", "s">>) -> tensor<4x?x?xf32, #onnx.dims<"", "s", "s">>
  %weights = onnx.Softmax_13(%scores) {axis = -1} : (tensor<4x?x?xf32, #onnx.dims<"", "s", "s">>) -> tensor<4x?x?xf32, #onnx.dims<"", "s", "s">>
  %y = onnx.MatMul_13(%weights, %v) : (tensor<4x?x?xf32, #onnx.dims<"", "s", "s">>, tensor<4x?x8xf32, #onnx.dims<"", "s", "">>) -> tensor<4x?x8xf32, #onnx.dims<"", "s", "">>
  return %y : tensor<4x?x8xf32, #onnx.dims<"", "s", "">>
}
