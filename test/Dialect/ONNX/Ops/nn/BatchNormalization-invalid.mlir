// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --convert-onnx-to-linalg --verify-diagnostics

func.func @scalar(%x: tensor<f32>, %a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' is a scalar}}
  %y = onnx.BatchNormalization_15(%x, %a, %b, %c, %d) : (tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @rank(%x: tensor<2x3xf32>, %a: tensor<1x3xf32>, %b: tensor<1x3xf32>, %c: tensor<1x3xf32>, %d: tensor<1x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'scale' has rank 2, not 1}}
  %y = onnx.BatchNormalization_15(%x, %a, %b, %c, %d) : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @channels(%x: tensor<2x3xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'scale' has 4 elements for 3 channels}}
  %y = onnx.BatchNormalization_15(%x, %a, %b, %c, %d) : (tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @results(%x: tensor<2x3xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  // expected-error @below {{has running statistics as results, but its training_mode is 0}}
  %y, %z, %w = onnx.BatchNormalization_15(%x, %a, %b, %c, %d) : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %y, %z, %w : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
