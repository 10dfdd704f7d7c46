// RUN: strata-opt %s --split-input-file --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s

// The length of what is joined has no name in the model. Whatever is made as long as it by its shape is known to be so:
// nothing is broadcast by the run.
// CHECK-LABEL: @main
// CHECK-NOT: tensor.extract
// CHECK: tensor.concat
// CHECK: linalg.generic
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @main(%x: tensor<2x?x4xf32>, %y: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %first = onnx.Initializer dense<2> : tensor<1xi64>
  %last = onnx.Initializer dense<4> : tensor<1xi64>
  %joined = onnx.Concat_13(%x, %y) {axis = 1} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %shape = onnx.Shape_25(%joined) {start = 1, end = 2} : (tensor<2x?x4xf32>) -> tensor<1xi64>
  %sizes = onnx.Concat_13(%first, %shape, %last) {axis = 0} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %spread = onnx.Expand_13(%joined, %sizes) : (tensor<2x?x4xf32>, tensor<3xi64>) -> tensor<2x?x4xf32>
  %sum = onnx.Add_14(%spread, %joined) : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  return %sum : tensor<2x?x4xf32>
}

// -----

// One of two unknown sizes may be 1. What is 1 in any case, such as the heads of a mask, is not copied for each.
// CHECK-LABEL: @main
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<8x?xf32>)
// CHECK: tensor.extract %arg0
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<1x?xf32>)
// CHECK: tensor.extract %arg1
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<8x?xf32>, tensor<1x?xf32>)
func.func @main(%x: tensor<8x?xf32>, %mask: tensor<1x?xf32>) -> tensor<8x?xf32> {
  %sum = onnx.Add_14(%x, %mask) : (tensor<8x?xf32>, tensor<1x?xf32>) -> tensor<8x?xf32>
  return %sum : tensor<8x?xf32>
}
