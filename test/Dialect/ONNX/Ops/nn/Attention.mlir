// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg | FileCheck %s --check-prefix=LINALG

// Version 24 adds an operand, 25 the window.
// CHECK-LABEL: func.func @main
// CHECK: onnx.Attention_25
// CHECK-SAME: -> tensor<2x4x8xf32>
// LINALG-LABEL: func.func @main
// LINALG: iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]
// LINALG: math.exp
// LINALG: iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]
func.func @main(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<*xf32> {
  %y = onnx.Attention_23(%q, %k, %v) {q_num_heads = 2 : i64, kv_num_heads = 2 : i64} : (tensor<2x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The cache grows by the new keys.
// CHECK-LABEL: func.func @main
// CHECK: onnx.Attention_25
// CHECK-SAME: -> (tensor<1x4x1x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>)
// LINALG-LABEL: func.func @main
// LINALG: tensor.concat dim(2)
func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x2x1x8xf32>, %p: tensor<1x2x5x8xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %y, %pk, %pv = onnx.Attention_25(%q, %k, %k, none, %p, %p) : (tensor<1x4x1x8xf32>, tensor<1x2x1x8xf32>, tensor<1x2x1x8xf32>, none, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %y, %pk, %pv : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// The number of heads need not be known.
// CHECK-LABEL: func.func @main
// CHECK: onnx.Attention_25
// LINALG-LABEL: func.func @main
// LINALG: "the heads of queries do not divide among those of keys"
// LINALG: iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]
func.func @main(%q: tensor<2x?x4x8xf32>, %k: tensor<2x?x6x8xf32>) -> tensor<*xf32> {
  %y = onnx.Attention_25(%q, %k, %k) : (tensor<2x?x4x8xf32>, tensor<2x?x6x8xf32>, tensor<2x?x6x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
