// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --verify-diagnostics

func.func @sizes(%a: tensor<2x3xf32>, %b: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{sizes 3 and 4 of dimension 1 do not broadcast}}
  %0 = onnx.Add_14(%a, %b) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @legacyRank(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ranks 2 and 1 differ, and broadcast is not set}}
  %0 = onnx.Add_6(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @legacySize(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{sizes 3 and 1 of dimension 1 differ, and broadcast is not set}}
  %0 = onnx.Add_6(%a, %b) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @axis(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{axis 2 is out of range for operands of rank 2 and 1}}
  %0 = onnx.Add_6(%a, %b) {axis = 2 : i64, broadcast = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @unknownRank(%a: tensor<*xf32>, %b: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{broadcasting from an axis needs the ranks of both operands}}
  %0 = onnx.Add_6(%a, %b) {axis = 1 : i64, broadcast = 1 : i64} : (tensor<*xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @shapes(%a: tensor<2xf32>, %b: tensor<1xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{operands have different shapes}}
  %0 = onnx.Sum_6(%a, %b) : (tensor<2xf32>, tensor<1xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @fmod(%a: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{fmod must be 1 for floating-point operands}}
  %0 = onnx.Mod_13(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @fmodValue(%a: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{fmod is 2, but must be 0 or 1}}
  %0 = onnx.Mod_28(%a, %a) {fmod = 2 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @direction(%a: tensor<2xui8>) -> tensor<*xui8> {
  // expected-error @+1 {{direction 'UP' is neither LEFT nor RIGHT}}
  %0 = onnx.BitShift_28(%a, %a) {direction = "UP"} : (tensor<2xui8>, tensor<2xui8>) -> tensor<*xui8>
  return %0 : tensor<*xui8>
}

// -----

func.func @slope(%x: tensor<2x3xf32>, %slope: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{size 2 of slope does not broadcast to size 3 of dimension 1 of X}}
  %0 = onnx.PRelu_16(%x, %slope) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
