// RUN: strata-opt %s --onnx-infer-shapes --verify-diagnostics

func.func @bound(%x: tensor<3xf32>, %max: tensor<3xf32>) {
  // expected-error @+1 {{max must be a scalar, but is of type 'tensor<3xf32>'}}
  %0 = onnx.Clip_13(%x, none, %max) : (tensor<3xf32>, none, tensor<3xf32>) -> tensor<3xf32>
  return
}
