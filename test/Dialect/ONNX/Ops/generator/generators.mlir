// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Every form of a constant's value.
// SHAPES-LABEL: @constants
// SHAPES: -> (tensor<2xf32>, tensor<f32>, tensor<2x3xf32>)
// CHECK-LABEL: @constants
// CHECK-DAG: arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: arith.constant dense<1.500000e+00> : tensor<f32>
// CHECK-DAG: arith.constant dense<{{\[\[}}0.000000e+00, 3.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 4.000000e+00]]> : tensor<2x3xf32>
func.func @constants() -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.Constant_25() {value_floats = array<f32: 1.0, 2.0>} : () -> tensor<*xf32>
  %1 = onnx.Constant_25() {value_float = 1.5 : f32} : () -> tensor<*xf32>
  %2 = onnx.Constant_11() {sparse_value = #onnx.sparse<dense<[3.0, 4.0]> : tensor<2xf32>, dense<[1, 5]> : tensor<2xi64>, [2, 3]>} : () -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// SHAPES-LABEL: @constantOfShape
// SHAPES: -> (tensor<2x3xf32>, tensor<?x?xi8>)
// CHECK-LABEL: @constantOfShape
// CHECK: cf.assert {{.*}}, "size of dimension 0 is negative"
// CHECK: linalg.fill ins(%c7_i8
func.func @constantOfShape(%shape: tensor<2xi64>) -> (tensor<*xf32>, tensor<*xi8>) {
  %sizes = onnx.Initializer dense<[2, 3]> : tensor<2xi64>
  %0 = onnx.ConstantOfShape_9(%sizes) : (tensor<2xi64>) -> tensor<*xf32>
  %1 = onnx.ConstantOfShape_25(%shape) {value = dense<7> : tensor<1xi8>} : (tensor<2xi64>) -> tensor<*xi8>
  return %0, %1 : tensor<*xf32>, tensor<*xi8>
}

// -----

// Small integer ranges are constants; a count that only the run tells is computed there.
// SHAPES-LABEL: @range
// SHAPES: onnx.Initializer dense<[10, 8, 6]> : tensor<3xi64>
// SHAPES: -> tensor<?xi64>
// CHECK-LABEL: @range
// CHECK: cf.assert {{.*}}, "delta is 0"
// CHECK: arith.divui
func.func @range(%start: tensor<i64>, %limit: tensor<i64>, %delta: tensor<i64>) -> (tensor<*xi64>, tensor<*xi64>) {
  %a = onnx.Initializer dense<10> : tensor<i64>
  %b = onnx.Initializer dense<4> : tensor<i64>
  %c = onnx.Initializer dense<-2> : tensor<i64>
  %0 = onnx.Range_11(%a, %b, %c) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %1 = onnx.Range_11(%start, %limit, %delta) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  return %0, %1 : tensor<*xi64>, tensor<*xi64>
}

// -----

// SHAPES-LABEL: @eye
// SHAPES: onnx.EyeLike_22{{.*}} -> tensor<3x4xf64>
// CHECK-LABEL: @eye
// CHECK: arith.select %{{.*}}, %cst
func.func @eye(%x: tensor<3x4xi32>) -> tensor<*xf64> {
  %0 = onnx.EyeLike_9(%x) {dtype = 11 : i64, k = 1 : i64} : (tensor<3x4xi32>) -> tensor<*xf64>
  return %0 : tensor<*xf64>
}
