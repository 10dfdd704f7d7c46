// Everything that cannot be converted is told, and why.
// RUN: strata-opt %s --split-input-file --onnx-convert-opset=opset=6 --verify-diagnostics
// RUN: not strata-opt %s --onnx-convert-opset=opset=99 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not strata-opt %s --onnx-convert-opset=opset=ten 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not strata-opt %s --onnx-convert-opset=opset=com.acme:3 2>&1 | FileCheck %s --check-prefix=DOMAIN

// UNKNOWN: opset 99 of 'ai.onnx' is unknown; the newest known is 28
// NUMBER: 'ten' is no opset: say 13, or ai.onnx.ml:3
// DOMAIN: nothing is known of the versions of domain 'com.acme'

func.func @types(%x: tensor<4xbf16>, %i: tensor<4x!onnx.string>) -> (tensor<4xbf16>, tensor<4xi1>) {
  // expected-error @+1 {{cannot be downgraded to version 6: operand #0 'input' must be}}
  %0 = onnx.Exp_13(%x) : (tensor<4xbf16>) -> tensor<4xbf16>
  // expected-error @+1 {{cannot be downgraded to version 13: operand #0 'A' must be}}
  %1 = onnx.Equal_19(%i, %i) : (tensor<4x!onnx.string>, tensor<4x!onnx.string>) -> tensor<4xi1>
  return %0, %1 : tensor<4xbf16>, tensor<4xi1>
}

// -----

func.func @attributes(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>, tensor<1x1x3x3xi64>) {
  // expected-error @+1 {{cannot be downgraded to version 8: it has no attribute 'ceil_mode', which is 1 : i64}}
  %0 = onnx.MaxPool_22(%x) {ceil_mode = 1 : i64, kernel_shape = array<i64: 2, 2>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x3x3xf32>
  // expected-error @+1 {{cannot be downgraded to version 1: it has no output 'Indices'}}
  %1, %2 = onnx.MaxPool_22(%x) {kernel_shape = array<i64: 2, 2>} : (tensor<1x1x4x4xf32>) -> (tensor<1x1x3x3xf32>, tensor<1x1x3x3xi64>)
  return %0, %1, %2 : tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>, tensor<1x1x3x3xi64>
}

// -----

func.func @inputs(%x: tensor<2x4xf32>, %axes: tensor<1xi64>, %low: tensor<f32>) -> (tensor<?xf32>, tensor<2x4xf32>) {
  // expected-error @+1 {{cannot be downgraded to version 11: 'axes' is a run-time input, there an attribute}}
  %0 = onnx.Squeeze_13(%x, %axes) : (tensor<2x4xf32>, tensor<1xi64>) -> tensor<?xf32>
  // expected-error @+1 {{cannot be downgraded to version 6: 'min' is a run-time input, there an attribute}}
  %1 = onnx.Clip_13(%x, %low) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<?xf32>, tensor<2x4xf32>
}

// -----

func.func @broadcast(%x: tensor<2x4xf32>, %y: tensor<1x4xf32>, %z: tensor<2x1xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // expected-error @+1 {{cannot be downgraded to version 6: it broadcasts only a second operand whose sizes are some of the first one's, side by side, and these are}}
  %0 = onnx.Add_14(%y, %z) : (tensor<1x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  // expected-error @+1 {{cannot be downgraded to version 6: it does not broadcast}}
  %1 = onnx.Max_13(%x, %y) : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

func.func @missing(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>) {
  // expected-error @+1 {{cannot be converted to opset 6 of 'ai.onnx': the operator begins with version 7}}
  %0 = onnx.Sin_22(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @gather(%x: tensor<*xf32>, %i: tensor<3xi64>) -> (tensor<*xf32>) {
  // expected-error @+1 {{cannot be downgraded to version 1: its indices may not be negative, and here they may be}}
  %0 = onnx.Gather_13(%x, %i) : (tensor<*xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// The maximum of no integer is another one in a larger type.
func.func @empty(%x: tensor<0x4xi1>) -> tensor<1x1xi1> {
  // expected-error @+1 {{cannot be downgraded to version 18: operand #0 'data' must be}}
  %0 = onnx.ReduceMax_20(%x) : (tensor<0x4xi1>) -> tensor<1x1xi1>
  return %0 : tensor<1x1xi1>
}

// -----

// What an attempt made before it failed is gone.
func.func @where(%c: tensor<4x1xi1>, %x: tensor<1xbf16>, %y: tensor<2x3x4x6xbf16>) -> tensor<2x3x4x6xbf16> {
  // expected-error @+1 {{cannot be converted to opset 6 of 'ai.onnx': the operator begins with version 9}}
  %0 = onnx.Where_16(%c, %x, %y) : (tensor<4x1xi1>, tensor<1xbf16>, tensor<2x3x4x6xbf16>) -> tensor<2x3x4x6xbf16>
  return %0 : tensor<2x3x4x6xbf16>
}
