// RUN: strata-opt %s --onnx-upgrade-opset | FileCheck %s

// CHECK-LABEL: @steps
func.func @steps(%x: tensor<4xf32>) {
  // Through 6 (which drops the hint) and 13 (which adds types) to 14.
  // CHECK: onnx.Relu_14(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NOT: consumed_inputs
  %0 = onnx.Relu_1(%x) {consumed_inputs = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: onnx.Erf_13
  %1 = onnx.Erf_9(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @subgraph
func.func @subgraph(%c: tensor<i1>, %x: tensor<4xf32>) {
  // CHECK: onnx.If_25
  // CHECK: onnx.Exp_13
  %0 = onnx.If_11(%c) graph {
    %1 = onnx.Identity_13(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %1 : tensor<4xf32>
  } graph {
    %1 = onnx.Exp_6(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %1 : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  return
}
