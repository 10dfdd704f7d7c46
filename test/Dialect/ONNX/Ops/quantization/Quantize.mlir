// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg | FileCheck %s

// Ties to even, then the zero point, then the bounds.
// SHAPES-LABEL: @perAxis
// SHAPES: onnx.QuantizeLinear_28{{.*}} -> tensor<2x3x4xui8>
// CHECK-LABEL: @perAxis
// By a scale that only the run knows it is a division.
// CHECK: tensor.expand_shape {{.*}} : tensor<3xf32> into tensor<3x1xf32>
// CHECK: arith.divf {{.*}} : f32
// CHECK: math.roundeven
// CHECK: arith.addf
// CHECK: arith.minnumf
func.func @perAxis(%x: tensor<2x3x4xf32>, %scale: tensor<3xf32>, %zero: tensor<3xui8>) -> tensor<*xui8> {
  %0 = onnx.QuantizeLinear_13(%x, %scale, %zero) : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xui8>) -> tensor<*xui8>
  return %0 : tensor<*xui8>
}

// -----

// By one that is known, a product with the reciprocal in f64, rounded once.
// CHECK-LABEL: @known
// CHECK: arith.mulf {{.*}} : f64
// CHECK: arith.truncf {{.*}} : f64 to f32
// CHECK: math.roundeven
func.func @known(%x: tensor<2x3xf32>, %zero: tensor<ui8>) -> tensor<*xui8> {
  %scale = onnx.Initializer dense<0.3> : tensor<f32>
  %0 = onnx.QuantizeLinear_13(%x, %scale, %zero) : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %0 : tensor<*xui8>
}

// -----

// SHAPES-LABEL: @integers
// SHAPES: %[[F:.*]] = onnx.Cast_28(%arg0) {to = 1 : i64}
// SHAPES: onnx.QuantizeLinear_28(%[[F]], %arg1)
func.func @integers(%x: tensor<2xi32>, %scale: tensor<f32>) -> tensor<*xui8> {
  %0 = onnx.QuantizeLinear_13(%x, %scale) : (tensor<2xi32>, tensor<f32>) -> tensor<*xui8>
  return %0 : tensor<*xui8>
}

// -----

// SHAPES-LABEL: @blocks
// SHAPES: onnx.DequantizeLinear_28{{.*}} -> tensor<5x12xf16>
// CHECK-LABEL: @blocks
// CHECK: arith.divui
// CHECK: tensor.extract %{{.*}} : tensor<5x3xf32>
// CHECK: arith.mulf
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @blocks(%x: tensor<5x12xi4>, %scale: tensor<5x3xf32>) -> tensor<*xf16> {
  %0 = onnx.DequantizeLinear_28(%x, %scale) {block_size = 4 : i64, output_dtype = 10 : i64} : (tensor<5x12xi4>, tensor<5x3xf32>) -> tensor<*xf16>
  return %0 : tensor<*xf16>
}

// -----

// SHAPES-LABEL: @product
// SHAPES: onnx.MatMulInteger_10{{.*}} -> tensor<2x4xi32>
// CHECK-LABEL: @product
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<2x3xi8>, tensor<3x4xi8>) outs({{.*}} : tensor<2x4xi32>)
// CHECK: arith.extui {{.*}} : i8 to i32
// CHECK: arith.extsi {{.*}} : i8 to i32
func.func @product(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>) -> tensor<*xi32> {
  %0 = onnx.MatMulInteger_10(%a, %b) : (tensor<2x3xui8>, tensor<3x4xi8>) -> tensor<*xi32>
  return %0 : tensor<*xi32>
}
