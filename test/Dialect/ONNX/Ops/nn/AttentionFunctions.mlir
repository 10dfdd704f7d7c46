// RUN: strata-opt %s --split-input-file --onnx-infer-shapes | FileCheck %s

// CHECK-LABEL: func.func @flex
// CHECK: onnx.preview.FlexAttention_1(
// CHECK: } : {{.*}} -> tensor<2x8x5x6xf32>
func.func @flex(%q: tensor<2x8x5x4xf32>, %k: tensor<2x2x7x4xf32>, %v: tensor<2x2x7x6xf32>) -> tensor<*xf32> {
  %0 = onnx.preview.FlexAttention_1(%q, %k, %v) graph {
  } graph {
  } : (tensor<2x8x5x4xf32>, tensor<2x2x7x4xf32>, tensor<2x2x7x6xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @linear
// CHECK: onnx.LinearAttention_27{{.*}} -> (tensor<?x5x24xf32, #onnx.dims<"b", "", "">>, tensor<?x2x4x6xf32, #onnx.dims<"b", "", "", "">>)
func.func @linear(%q: tensor<?x5x16xf32, #onnx.dims<"b", "", "">>, %k: tensor<?x5x8xf32>, %v: tensor<?x5x12xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0, %1 = onnx.LinearAttention_27(%q, %k, %v) {q_num_heads = 4 : i64, kv_num_heads = 2 : i64, update_rule = "linear"}
      : (tensor<?x5x16xf32, #onnx.dims<"b", "", "">>, tensor<?x5x8xf32>, tensor<?x5x12xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @conv
// CHECK: onnx.CausalConvWithState_27{{.*}} -> (tensor<2x4x8xf32>, tensor<2x4x2xf32>)
func.func @conv(%x: tensor<2x4x8xf32>, %w: tensor<4x1x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0, %1 = onnx.CausalConvWithState_27(%x, %w) : (tensor<2x4x8xf32>, tensor<4x1x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}
