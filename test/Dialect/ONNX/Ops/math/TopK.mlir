// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Up to version 1 k is an attribute.
// CHECK-LABEL: @attribute
// CHECK: %[[K:.*]] = onnx.Initializer dense<3> : tensor<1xi64>
// CHECK: onnx.TopK_24(%{{.*}}, %[[K]]) : {{.*}} -> (tensor<2x3xf32>, tensor<2x3xi64>)
func.func @attribute(%0: tensor<2x7xf32>) -> (tensor<*xf32>, tensor<*xi64>) {
  %y, %z = onnx.TopK_1(%0) {k = 3 : i64} : (tensor<2x7xf32>) -> (tensor<*xf32>, tensor<*xi64>)
  return %y, %z : tensor<*xf32>, tensor<*xi64>
}

// -----

// Which comes first is a matter of the type's order.
// LOWER-LABEL: @smallest
// LOWER-SAME: -> (tensor<?xi8> {{.*}}, tensor<?xi64>
// LOWER: cf.assert
// LOWER: linalg.generic
// LOWER: arith.extui %{{.*}} : i8 to i64
// LOWER-NOT: arith.xori
// LOWER: call @strata_rt_first_of_rows
func.func @smallest(%0: tensor<?xui8>, %1: tensor<1xi64>) -> (tensor<*xui8>, tensor<*xi64>) {
  %y, %z = onnx.TopK_24(%0, %1) {largest = 0 : i64, axis = 0 : i64} : (tensor<?xui8>, tensor<1xi64>) -> (tensor<*xui8>, tensor<*xi64>)
  return %y, %z : tensor<*xui8>, tensor<*xi64>
}

// -----

// How many elements K has is known at run time alone.
// LOWER-LABEL: @symbolic
// LOWER-SAME: %[[K:[a-z0-9]+]]: tensor<?xi64>
// LOWER: %[[SIZE:.*]] = tensor.dim %[[K]]
// LOWER: %[[ONE:.*]] = arith.cmpi eq, %[[SIZE]]
// LOWER: cf.assert %[[ONE]], "K must have one element"
// LOWER: tensor.extract %[[K]]
func.func @symbolic(%x: tensor<2x4xf32>, %k: tensor<?xi64>) -> (tensor<2x?xf32>, tensor<2x?xi64>) {
  %values, %indices = onnx.TopK_24(%x, %k) : (tensor<2x4xf32>, tensor<?xi64>) -> (tensor<2x?xf32>, tensor<2x?xi64>)
  return %values, %indices : tensor<2x?xf32>, tensor<2x?xi64>
}

// -----

// The order of a half is that of the bits of its f32.
// LOWER-LABEL: @halves
// LOWER: arith.extf %{{.*}} : f16 to f32
// LOWER: %[[BITS:.*]] = arith.bitcast %{{.*}} : f32 to i32
// LOWER: arith.extsi %{{.*}} : i32 to i64
// LOWER: call @strata_rt_first_of_rows
func.func @halves(%0: tensor<9xf16>, %1: tensor<1xi64>) -> (tensor<*xf16>, tensor<*xi64>) {
  %y, %z = onnx.TopK_24(%0, %1) : (tensor<9xf16>, tensor<1xi64>) -> (tensor<*xf16>, tensor<*xi64>)
  return %y, %z : tensor<*xf16>, tensor<*xi64>
}
