// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @groups(%r: tensor<f32>, %t: tensor<i64>, %x: tensor<3xf32>) {
  // expected-error @+1 {{takes 3 inputs per tensor, which 2 is not a multiple of}}
  %0:2 = onnx.training.Adagrad_1(%r, %t, %x, %x) : (tensor<f32>, tensor<i64>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @results(%r: tensor<f32>, %t: tensor<i64>, %x: tensor<3xf32>) {
  // expected-error @+1 {{has 1 results for 1 tensors, not 2}}
  %0 = onnx.training.Adagrad_1(%r, %t, %x, %x, %x) : (tensor<f32>, tensor<i64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @mode(%r: tensor<f32>, %t: tensor<i64>, %x: tensor<3xf32>) {
  // expected-error @+1 {{'mode' is 'fast', not standard or nesterov}}
  %0:2 = onnx.training.Momentum_1(%r, %t, %x, %x, %x) {alpha = 0.9 : f32, beta = 0.7 : f32, mode = "fast", norm_coefficient = 0.0 : f32} : (tensor<f32>, tensor<i64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @types(%r: tensor<f32>, %t: tensor<i64>, %x: tensor<3xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{has inputs of different types for tensor 0}}
  %0:2 = onnx.training.Adagrad_1(%r, %t, %x, %x, %y) : (tensor<f32>, tensor<i64>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}
