// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @block(%x: tensor<1x4x2x2xf32>) -> tensor<*xf32> {
  // expected-error @below {{attribute 'blocksize' has the value 0, but must be at least 1}}
  %y = onnx.DepthToSpace_28(%x) {blocksize = 0 : i64} : (tensor<1x4x2x2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @mode(%x: tensor<1x4x2x2xf32>) -> tensor<*xf32> {
  // expected-error @below {{attribute 'mode' has the unknown value 'X'; it must be 'DCR' or 'CRD'}}
  %y = onnx.DepthToSpace_28(%x) {blocksize = 2 : i64, mode = "X"} : (tensor<1x4x2x2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @rank(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{needs an input of rank 4, not 2}}
  %y = onnx.SpaceToDepth_28(%x) {blocksize = 2 : i64} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @channels(%x: tensor<1x5x2x2xf32>) -> tensor<*xf32> {
  // expected-error @below {{channels of size 5, which 4 does not divide}}
  %y = onnx.DepthToSpace_28(%x) {blocksize = 2 : i64} : (tensor<1x5x2x2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
