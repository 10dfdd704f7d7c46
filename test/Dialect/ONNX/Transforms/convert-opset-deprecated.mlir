// RUN: strata-opt %s --onnx-convert-opset=opset=ai.onnx.ml:5 --verify-diagnostics

func.func @main(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  // expected-error @+1 {{cannot be converted to opset 5 of 'ai.onnx.ml': the operator is deprecated there}}
  %0 = onnx.ml.TreeEnsembleRegressor_3(%x) {nodes_falsenodeids = array<i64: 0>, nodes_featureids = array<i64: 0>, nodes_modes = ["LEAF"], nodes_nodeids = array<i64: 0>, nodes_treeids = array<i64: 0>, nodes_truenodeids = array<i64: 0>, nodes_values = array<f32: 0.0>, target_ids = array<i64: 0>, target_nodeids = array<i64: 0>, target_treeids = array<i64: 0>, target_weights = array<f32: 1.0>} : (tensor<?x1xf32>) -> tensor<?x1xf32>
  return %0 : tensor<?x1xf32>
}
