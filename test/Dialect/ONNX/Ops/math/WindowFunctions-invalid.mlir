// RUN: strata-opt %s --split-input-file --verify-diagnostics --onnx-infer-shapes

func.func @negative() -> tensor<*xf32> {
  %c = onnx.Initializer dense<-1> : tensor<i32>
  // expected-error @+1 {{has the size -1}}
  %0 = onnx.HannWindow_17(%c) : (tensor<i32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
