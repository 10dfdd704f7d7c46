// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @sizes(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has attributes of 2 and of 3 nodes}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 1.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @votes(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has attributes of 1 and of 2 votes}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 0.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @twice(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has two nodes 1 in tree 0}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 1>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @mode(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has the unknown mode BRANCH in node 0}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @feature(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has feature -1 in node 0}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: -1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @child(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has no node 5 in tree 0, which node 0 leads to}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 5, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @circle(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has a tree that leads back to one of its nodes}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 0, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @leaf(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has no leaf 0 in tree 0, which vote 0 is of}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 0, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @target(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has a vote for 1 of 1}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {n_targets = 1 : i64, nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, target_ids = array<i64: 0, 1>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @targets(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{'n_targets' is 0}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {n_targets = 0 : i64, nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @base(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has 2 base values for 1 targets}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {base_values = array<f32: 0.0, 1.0>, nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @tensor(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{needs floating-point numbers in 'nodes_values_as_tensor'}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, nodes_values_as_tensor = dense<0> : tensor<3xi64>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @aggregate(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{'aggregate_function' is 'MEAN', not AVERAGE, SUM, MIN or MAX}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {aggregate_function = "MEAN", nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @transform(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{'post_transform' is 'CUBE', not NONE}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, post_transform = "CUBE", target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @features(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{tests feature 2 of 2}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 2, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>} : (tensor<1x2xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @labels(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{needs labels in one of 'classlabels_strings' and 'classlabels_int64s'}}
  %0:2 = onnx.ml.TreeEnsembleClassifier_3(%x) {class_ids = array<i64: 0, 0>, class_nodeids = array<i64: 1, 2>, class_treeids = array<i64: 0, 0>, class_weights = array<f32: 1.0, 2.0>, nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}

// -----

func.func @classifier_base(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has 1 base values for 3 labels}}
  %0:2 = onnx.ml.TreeEnsembleClassifier_3(%x) {base_values = array<f32: 1.0>, class_ids = array<i64: 0, 0>, class_nodeids = array<i64: 1, 2>, class_treeids = array<i64: 0, 0>, class_weights = array<f32: 1.0, 2.0>, classlabels_int64s = array<i64: 1, 2, 3>, nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}

// -----

func.func @classifier_votes(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{has a vote for 2 of 2}}
  %0:2 = onnx.ml.TreeEnsembleClassifier_3(%x) {class_ids = array<i64: 0, 2>, class_nodeids = array<i64: 1, 2>, class_treeids = array<i64: 0, 0>, class_weights = array<f32: 1.0, 2.0>, classlabels_int64s = array<i64: 1, 2>, nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 1, 0, 0>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 1, 2>, nodes_treeids = array<i64: 0, 0, 0>, nodes_truenodeids = array<i64: 1, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 0.0>} : (tensor<1x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}
