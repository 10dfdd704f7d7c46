// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @depth(%x: tensor<3xi64>, %b: tensor<2xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<-1> : tensor<i64>
  // expected-error @below {{has the depth -1}}
  %y = onnx.OneHot_28(%x, %a, %b) : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @axis(%x: tensor<3xi64>, %b: tensor<2xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<4> : tensor<i64>
  // expected-error @below {{axis 2 is out of range for rank 2}}
  %y = onnx.OneHot_28(%x, %a, %b) {axis = 2 : i64} : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
