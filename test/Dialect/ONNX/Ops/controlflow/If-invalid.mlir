// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @outputs(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{has 1 outputs, but then_branch has 2}}
  %y = onnx.If_16(%c) graph {
    onnx.Yield %x : tensor<2xf32>
  } graph {
    onnx.Yield %x, %x : tensor<2xf32>, tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @types(%c: tensor<i1>, %x: tensor<2xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{makes output 0 tensor(float) in one branch and tensor(int64) in the other}}
  %y = onnx.If_16(%c) graph {
    onnx.Yield %i : tensor<2xi64>
  } graph {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @inputs(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{then_branch has 1 inputs; it must have none}}
  %y = onnx.If_16(%c) graph {
    onnx.Yield %x : tensor<2xf32>
  } graph {
  ^bb0(%a: tensor<2xf32>):
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
