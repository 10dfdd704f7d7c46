// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg | FileCheck %s

// How many elements K has is known at run time alone.
// CHECK-LABEL: @symbolic
// CHECK-SAME: %[[K:[a-z0-9]+]]: tensor<?xi64>
// CHECK: %[[SIZE:.*]] = tensor.dim %[[K]]
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[SIZE]]
// CHECK: cf.assert %[[ONE]], "K must have one element"
// CHECK: tensor.extract %[[K]]
func.func @symbolic(%x: tensor<2x4xf32>, %k: tensor<?xi64>) -> (tensor<2x?xf32>, tensor<2x?xi64>) {
  %values, %indices = onnx.TopK_24(%x, %k) : (tensor<2x4xf32>, tensor<?xi64>) -> (tensor<2x?xf32>, tensor<2x?xi64>)
  return %values, %indices : tensor<2x?xf32>, tensor<2x?xi64>
}
