// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// One tree with a test for membership, whose leaves vote for two targets: a walk per row of a block, then the sum of the
// rows of weights of the leaves.
// CHECK-LABEL: @members
// CHECK-SAME: -> (tensor<?x2xf32>
// CHECK: scf.for
// CHECK: arith.minsi {{.*}}, %c1024
// CHECK: linalg.generic
// CHECK: scf.for
// CHECK: arith.cmpf oeq
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: tensor.insert_slice
func.func @members(%x: tensor<?x3xf32>) -> tensor<*xf32> {
  %0 = onnx.ml.TreeEnsemble_5(%x) {leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, membership_values = dense<[3.0, 4.0, 0x7FC00000]> : tensor<3xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: 2>, nodes_modes = dense<6> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
