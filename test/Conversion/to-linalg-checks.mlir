// RUN: strata-opt %s --split-input-file --convert-onnx-to-linalg | FileCheck %s
// RUN: strata-opt %s --split-input-file --convert-onnx-to-linalg --canonicalize | FileCheck %s --check-prefix=CANONICAL

// What the second operator needs of the input is checked in front of the first one. Canonicalization lets that compute
// a batch of 1 to begin with.
// CHECK-LABEL: @main
// CHECK: %[[BATCH:.*]] = tensor.dim %arg0
// CHECK: %[[FITS:.*]] = arith.cmpi eq, %[[BATCH]]
// CHECK: cf.assert %[[FITS]], "the size of a removed dimension is not 1"
// CHECK: tensor.empty
// CHECK: linalg.generic
// CANONICAL-LABEL: @main
// CANONICAL: cf.assert
// CANONICAL: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x4xf32>)
func.func @main(%x: tensor<?x4xf32>) -> tensor<4xf32> {
  %axes = onnx.Initializer dense<0> : tensor<1xi64>
  %0 = onnx.Relu_14(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = onnx.Squeeze_25(%0, %axes) : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Sizes that are data are checked as soon as they are read.
// CHECK-LABEL: @main
// CHECK: tensor.extract
// CHECK: cf.assert
// CHECK: tensor.empty
func.func @main(%x: tensor<3x1xf32>, %size: tensor<2xi64>) -> tensor<4xf32> {
  %axes = onnx.Initializer dense<0> : tensor<1xi64>
  %0 = onnx.Expand_13(%x, %size) : (tensor<3x1xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %1 = onnx.Relu_14(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = onnx.Squeeze_25(%1, %axes) : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @require
// CHECK: %[[C:.*]] = tensor.extract %arg0
// CHECK: %[[NOT:.*]] = arith.cmpi eq, %[[C]], %false
// CHECK: cf.assert %[[NOT]], "takes its then_branch"
func.func @require(%c: tensor<1xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  onnx.Require %c is false else "takes its then_branch" : tensor<1xi1>
  %0 = onnx.Relu_14(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
