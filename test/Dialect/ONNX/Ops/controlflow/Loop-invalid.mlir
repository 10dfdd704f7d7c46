// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @body(%m: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{carries 1 values, so its body needs 3 inputs; it has 2}}
  %y = onnx.Loop_16(%m, %c, %x) graph {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>):
    onnx.Yield %go, %x : tensor<i1>, tensor<2xf32>
  } : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @results(%m: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{has 1 outputs, so its body needs 2; it has 1}}
  %y = onnx.Loop_16(%m, %c, %x) graph {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<2xf32>):
    onnx.Yield %go : tensor<i1>
  } : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @carried(%m: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{carries 2 values, but has only 1 outputs}}
  %y = onnx.Loop_16(%m, %c, %x, %x) graph {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<2xf32>, %w: tensor<2xf32>):
    onnx.Yield %go, %v : tensor<i1>, tensor<2xf32>
  } : (tensor<i64>, tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
