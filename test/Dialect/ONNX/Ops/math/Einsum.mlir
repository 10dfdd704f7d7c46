// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg | FileCheck %s

// The ellipsis broadcasts: a batch that may be 1 is settled at run time. A letter has one size.
// CHECK-LABEL: @ellipsis
// CHECK: cf.assert %{{.*}}, "dimensions of the ellipsis do not broadcast"
// CHECK: cf.assert %{{.*}}, "operands differ in the size of a dimension with one label"
// CHECK: arith.select
func.func @ellipsis(%x: tensor<?x2x3xf32>, %y: tensor<?x?x4xf32>) -> tensor<*xf32> {
  %0 = onnx.Einsum_28(%x, %y) {equation = "...ij,...jk->...ik"} : (tensor<?x2x3xf32>, tensor<?x?x4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// The same symbol is the same size: nothing is copied, nothing checked.
// CHECK-LABEL: @symbol
// CHECK-NOT: cf.assert
// CHECK-NOT: arith.select
func.func @symbol(%x: tensor<?x2x3xf32, #onnx.dims<"b", "", "">>, %y: tensor<?x3x4xf32, #onnx.dims<"b", "", "">>) -> tensor<*xf32> {
  %0 = onnx.Einsum_28(%x, %y) {equation = "...ij,...jk->...ik"} : (tensor<?x2x3xf32, #onnx.dims<"b", "", "">>, tensor<?x3x4xf32, #onnx.dims<"b", "", "">>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// A result that ends in what tells products apart is the transposed one of products that lie one behind the other.
// CHECK-LABEL: @heads_last
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<24x256x128xf32>)
// CHECK: linalg.transpose {{.*}} permutation = [1, 2, 0]
func.func @heads_last(%x: tensor<256x24x64xf32>, %y: tensor<128x24x64xf32>) -> tensor<*xf32> {
  %0 = onnx.Einsum_28(%x, %y) {equation = "lhn,shn->lsh"} : (tensor<256x24x64xf32>, tensor<128x24x64xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// One that ends in columns, or has none, is written as it is.
// CHECK-LABEL: @heads_within
// CHECK-NOT: linalg.transpose
func.func @heads_within(%x: tensor<256x24x64xf32>, %y: tensor<128x24x64xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.Einsum_28(%x, %y) {equation = "lhn,shn->lhs"} : (tensor<256x24x64xf32>, tensor<128x24x64xf32>) -> tensor<*xf32>
  %1 = onnx.Einsum_28(%x, %x) {equation = "lhn,lhn->lh"} : (tensor<256x24x64xf32>, tensor<256x24x64xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}
