// RUN: strata-opt %s --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @trees
// CHECK-SAME: -> (tensor<?x1xf32>
// x < 0.0 is x <= the number below it, whose bits are in the table of nodes: feature 1 and the children from place 1 on.
// CHECK: dense<[4294967297, -9223372036854775807,
// CHECK: arith.bitcast {{.*}} : i64 to f64
// CHECK: arith.cmpf ole, {{.*}} : f64
// CHECK-NOT: arith.cmpf
// CHECK: arith.truncf
func.func @trees(%x: tensor<?x2xf64>) -> tensor<*xf32> {
  %0 = onnx.ml.TreeEnsembleRegressor_1(%x) {nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<?x2xf64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
