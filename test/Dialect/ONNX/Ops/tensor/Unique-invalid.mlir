// RUN: strata-opt %s --onnx-infer-shapes --verify-diagnostics

func.func @axis(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axis 2 is out of range}}
  %0 = onnx.Unique_28(%x) {axis = 2 : i64} : (tensor<2x3xf32>) -> (tensor<*xf32>, none, none, none)
  return
}
