// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @rate(%bins: tensor<i32>, %length: tensor<i32>, %low: tensor<f32>, %high: tensor<f32>) {
  %rate = onnx.Initializer dense<0> : tensor<i32>
  // expected-error @+1 {{has a sample rate of 0, less than 1}}
  %0 = onnx.MelWeightMatrix_17(%bins, %length, %rate, %low, %high) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  return
}

// -----

func.func @bins(%length: tensor<i32>, %rate: tensor<i32>, %low: tensor<f32>, %high: tensor<f32>) {
  %bins = onnx.Initializer dense<-1> : tensor<i32>
  // expected-error @+1 {{has -1 mel bins}}
  %0 = onnx.MelWeightMatrix_17(%bins, %length, %rate, %low, %high) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  return
}

// -----

func.func @length(%bins: tensor<i32>, %rate: tensor<i32>, %low: tensor<f32>, %high: tensor<f32>) {
  %length = onnx.Initializer dense<-2> : tensor<i32>
  // expected-error @+1 {{has a DFT length of -2}}
  %0 = onnx.MelWeightMatrix_17(%bins, %length, %rate, %low, %high) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  return
}

// -----

func.func @type(%bins: tensor<i32>, %length: tensor<i32>, %rate: tensor<i32>, %low: tensor<f32>, %high: tensor<f32>) {
  // expected-error @+1 {{'output_datatype' is 99, which is no element type}}
  %0 = onnx.MelWeightMatrix_17(%bins, %length, %rate, %low, %high) {output_datatype = 99 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  return
}
