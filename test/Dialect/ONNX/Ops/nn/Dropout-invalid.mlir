// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @attribute(%x: tensor<3xf32>) {
  // expected-error @+1 {{ratio is 1.000000e+00, but must be in [0, 1)}}
  %0 = onnx.Dropout_6(%x) {ratio = 1.0 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @operand(%x: tensor<3xf32>) {
  %r = onnx.Initializer dense<-0.5> : tensor<f16>
  // expected-error @+1 {{ratio is -5.000000e-01, but must be in [0, 1)}}
  %0 = onnx.Dropout_12(%x, %r) : (tensor<3xf32>, tensor<f16>) -> tensor<3xf32>
  return
}

// -----

func.func @scalar(%x: tensor<3xf32>, %r: tensor<f32>, %t: tensor<1xi1>) {
  // expected-error @+1 {{training_mode must be a scalar, but is of rank 1}}
  %0 = onnx.Dropout_22(%x, %r, %t) : (tensor<3xf32>, tensor<f32>, tensor<1xi1>) -> tensor<3xf32>
  return
}
