// RUN: strata-opt --split-input-file --verify-diagnostics --onnx-infer-shapes %s

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

func.func @body(%m: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{carries 1 values, so its body needs 3 inputs; it has 2}}
  %y = onnx.Loop_16(%m, %c, %x) graph {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>):
    onnx.Yield %go, %x : tensor<i1>, tensor<2xf32>
  } : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @scan(%x: tensor<2xf32>) {
  // expected-error @+1 {{num_scan_inputs is 2 with 1 inputs}}
  %y = onnx.Scan_16(%x) {num_scan_inputs = 2 : i64} graph {
  ^bb0(%e: tensor<f32>):
    onnx.Yield %e : tensor<f32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}
