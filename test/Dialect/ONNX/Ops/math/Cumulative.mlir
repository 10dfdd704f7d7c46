// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s

// One loop along the axis.
// CHECK-LABEL: @reverse
// CHECK-SAME: -> (tensor<?x3xf32>
// CHECK: scf.for
// CHECK: arith.addf
func.func @reverse(%x: tensor<?x3xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<0> : tensor<i64>
  %y = onnx.CumSum_11(%x, %a) {reverse = 1 : i64, exclusive = 1 : i64} : (tensor<?x3xf32>, tensor<i64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @product
// CHECK: arith.muli %{{.*}} : i32
func.func @product(%x: tensor<4xi32>) -> tensor<*xi32> {
  %a = onnx.Initializer dense<-1> : tensor<i64>
  %y = onnx.CumProd_26(%x, %a) : (tensor<4xi32>, tensor<i64>) -> tensor<*xi32>
  return %y : tensor<*xi32>
}
