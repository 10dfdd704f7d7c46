// RUN: strata-opt %s --onnx-expand-gradients --split-input-file | FileCheck %s

// Values are found by the names in locations. The gradient of a product by one of its factors, which was broadcast, is
// summed over the rows that it was broadcast to.

// CHECK-LABEL: @product
// CHECK-SAME: (%[[A:.*]]: tensor<2x3xf32> {{.*}}, %[[B:.*]]: tensor<3xf32>
// CHECK-NOT: Gradient
// CHECK: %[[Y:.*]] = onnx.Mul_14(%[[A]], %[[B]])
// CHECK: %[[ONES:.*]] = onnx.Expand_13
// CHECK: %[[DA:.*]] = onnx.Mul_14(%[[ONES]], %[[B]]) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK: %[[G:.*]] = onnx.Mul_14(%[[ONES]], %[[A]])
// CHECK: %[[AXES:.*]] = onnx.Initializer dense<0> : tensor<1xi64>
// CHECK: %[[SUM:.*]] = onnx.ReduceSum_13(%[[G]], %[[AXES]])
// CHECK: %[[DB:.*]] = onnx.Reshape_25(%[[SUM]], %{{.*}})
// CHECK: return %[[Y]], %[[DA]], %[[DB]]
func.func @product(%a: tensor<2x3xf32> {onnx.name = "a"}, %b: tensor<3xf32> {onnx.name = "b"})
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) {
  %y = onnx.Mul_14(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("m"("y"))
  %da, %db = onnx.training.Gradient_1(%a, %b) {xs = ["a", "b"], y = "y"}
    : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return %y, %da, %db : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>
}

// -----

// At another value, the graph is computed again.

// CHECK-LABEL: @elsewhere
// CHECK-SAME: (%[[A:.*]]: tensor<3xf32> {{.*}}, %[[B:.*]]: tensor<3xf32>
// CHECK: %[[Y:.*]] = onnx.Exp_13(%[[A]])
// CHECK: %[[AT:.*]] = onnx.CastShape %[[B]]
// CHECK: %[[AGAIN:.*]] = onnx.Exp_13(%[[AT]])
// CHECK: %[[D:.*]] = onnx.Mul_14(%{{.*}}, %[[AGAIN]])
// CHECK: return %[[Y]], %[[D]]
func.func @elsewhere(%a: tensor<3xf32> {onnx.name = "a"}, %b: tensor<3xf32> {onnx.name = "b"})
    -> (tensor<3xf32>, tensor<3xf32>) {
  %y = onnx.Exp_13(%a) : (tensor<3xf32>) -> tensor<3xf32> loc("e"("y"))
  %d = onnx.training.Gradient_1(%b) {xs = ["a"], y = "y"} : (tensor<3xf32>) -> tensor<3xf32>
  return %y, %d : tensor<3xf32>, tensor<3xf32>
}
