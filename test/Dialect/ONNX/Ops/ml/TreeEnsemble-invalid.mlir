// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @sizes(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{has attributes of 2 and of 1 nodes}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: 2>, nodes_modes = dense<1> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 1, 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @weights(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{has 3 weights for 2 leaves}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<1.0> : tensor<3xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: 2>, nodes_modes = dense<1> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @types(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{needs integers as modes and floating-point splits and weights}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: 2>, nodes_modes = dense<1> : tensor<1xui8>, nodes_splits = dense<0> : tensor<1xi64>, nodes_trueleafs = array<i64: 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @mode(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{has the unknown mode 7 in node 0}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: 2>, nodes_modes = dense<7> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @negative(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{has feature -1 in node 0}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: -1>, nodes_modes = dense<1> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @leaf(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{has no leaf 2, which node 0 leads to}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 2>, nodes_featureids = array<i64: 2>, nodes_modes = dense<1> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @target(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{has a leaf for target 1 of 1}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, n_targets = 1 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: 2>, nodes_modes = dense<1> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @set(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{has no set of members for node 0}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: 2>, nodes_modes = dense<6> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @root(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{has no node 1, the root of a tree}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: 2>, nodes_modes = dense<1> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @circle(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{has a tree that leads back to one of its nodes}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: 2>, nodes_modes = dense<1> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 0>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @aggregate(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'aggregate_function' is 4, not 0 to 3}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {aggregate_function = 4 : i64, leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: 2>, nodes_modes = dense<1> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @feature(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{tests feature 3 of 3}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: 3>, nodes_modes = dense<1> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @rank(%x: tensor<3xf32>) {
  // expected-error @+1 {{needs an input of rank 2, not 1}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: 2>, nodes_modes = dense<1> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @transform(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{'post_transform' is 5, not 0 to 4}}
  %0 = onnx.ml.TreeEnsemble_5(%x) {post_transform = 5 : i64, leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>, n_targets = 2 : i64, nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_featureids = array<i64: 2>, nodes_modes = dense<1> : tensor<1xui8>, nodes_splits = dense<0.0> : tensor<1xf32>, nodes_trueleafs = array<i64: 1>, nodes_truenodeids = array<i64: 0>, tree_roots = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
