// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @axis(%x: tensor<2x3xf32>, %shape: tensor<1xi64>) {
  // expected-error @+1 {{axis 2 is out of range for rank 2}}
  %0 = onnx.CenterCropPad_18(%x, %shape) {axes = array<i64: 2>} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @rank(%x: tensor<2x3xf32>, %shape: tensor<1x2xi64>) {
  // expected-error @+1 {{needs a shape of rank 1, not 2}}
  %0 = onnx.CenterCropPad_18(%x, %shape) : (tensor<2x3xf32>, tensor<1x2xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @sizes(%x: tensor<2x3xf32>, %shape: tensor<1xi64>) {
  // expected-error @+1 {{has a shape of 1 sizes for 2 axes}}
  %0 = onnx.CenterCropPad_18(%x, %shape) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @negative(%x: tensor<2x3xf32>) {
  %shape = onnx.Constant_25() {value = dense<[2, -1]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-error @+1 {{has a size of -1}}
  %0 = onnx.CenterCropPad_18(%x, %shape) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return
}
