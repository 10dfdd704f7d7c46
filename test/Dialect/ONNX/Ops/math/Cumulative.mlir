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

// -----

// Along the last axis the sum is a number, carried beside the result; elements do not change places.
// CHECK-LABEL: @rows
// CHECK-NOT:   linalg.generic
// CHECK:       scf.for
// CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SUM:.*]] = %{{.*}}) -> (tensor<8x512xi64>, i64)
// CHECK:       %[[X:.*]] = tensor.extract
// CHECK:       %[[NEXT:.*]] = arith.addi %[[SUM]], %[[X]]
// CHECK:       %[[Y:.*]] = tensor.insert %[[NEXT]]
// CHECK:       scf.yield %[[Y]], %[[NEXT]]
func.func @rows(%x: tensor<8x512xi64>) -> tensor<*xi64> {
  %a = onnx.Initializer dense<1> : tensor<i64>
  %y = onnx.CumSum_14(%x, %a) : (tensor<8x512xi64>, tensor<i64>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}

// -----

// Of other axes, the parts of a slice that the first-level cache has room for; the sums and the result in one pass.
// CHECK-LABEL: @slices
// CHECK-SAME:  (%[[DATA:.*]]: tensor<64x128x96xf32>
// CHECK:       scf.for
// CHECK:       linalg.fill {{.*}} -> tensor<16x1x96xf32>
// CHECK:       scf.for
// CHECK:       tensor.extract_slice %[[DATA]]{{.*}} to tensor<16x1x96xf32>
// CHECK:       %[[BOTH:.*]]:2 = linalg.generic
// CHECK-NOT:   linalg.generic
// CHECK:       tensor.insert_slice %[[BOTH]]#1
// CHECK:       scf.yield %{{.*}}, %[[BOTH]]#0
func.func @slices(%x: tensor<64x128x96xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<1> : tensor<i64>
  %y = onnx.CumSum_14(%x, %a) : (tensor<64x128x96xf32>, tensor<i64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
