// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @rank(%x: tensor<2x3xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @below {{'input' has rank 2, less than 3}}
  %y = onnx.InstanceNormalization_22(%x, %a, %b) : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @parameter_rank(%x: tensor<2x3x4xf32>, %a: tensor<1x3xf32>, %b: tensor<1x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{operand 1 has rank 2, not 1}}
  %y = onnx.InstanceNormalization_22(%x, %a, %b) : (tensor<2x3x4xf32>, tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @parameter(%x: tensor<2x3x4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @below {{operand 1 has 4 elements, not 3}}
  %y = onnx.InstanceNormalization_22(%x, %a, %b) : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @groups(%x: tensor<2x4x4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'num_groups' is 0, less than 1}}
  %y = onnx.GroupNormalization_21(%x, %a, %b) {num_groups = 0 : i64} : (tensor<2x4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @divide(%x: tensor<2x4x4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @below {{has 4 channels, which do not divide into 3 groups}}
  %y = onnx.GroupNormalization_21(%x, %a, %b) {num_groups = 3 : i64} : (tensor<2x4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @unknown(%x: tensor<2x?x4xf32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @below {{cannot be upgraded: the number of channels is not known}}
  %y = onnx.GroupNormalization_18(%x, %a, %b) {num_groups = 2 : i64} : (tensor<2x?x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
