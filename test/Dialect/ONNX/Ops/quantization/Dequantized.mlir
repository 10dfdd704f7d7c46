// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s

// A product of dequantized operands, the right one constant, is one of integers, scaled.
// CHECK-LABEL: @constant_weights
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<2x3xi8>, tensor<3x2xi8>) outs({{.*}} : tensor<2x2xi32>)
// CHECK: arith.muli
// CHECK: arith.sitofp
// CHECK-NOT: linalg.matmul
func.func @constant_weights(%x: tensor<2x3xui8>, %sx: tensor<f32>, %zx: tensor<ui8>) -> tensor<*xf32> {
  %w = onnx.Initializer dense<[[1, 2], [3, 4], [5, -6]]> : tensor<3x2xi8>
  %sw = onnx.Initializer dense<[0.5, 0.25]> : tensor<2xf32>
  %zw = onnx.Initializer dense<0> : tensor<2xi8>
  %0 = onnx.DequantizeLinear_13(%x, %sx, %zx) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %1 = onnx.DequantizeLinear_13(%w, %sw, %zw) : (tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<*xf32>
  %2 = onnx.MatMul_13(%0, %1) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// Scales along the reduction do not come out of the sum.
// CHECK-LABEL: @along_the_reduction
// CHECK: linalg.matmul {{.*}} -> tensor<2x2xf32>
func.func @along_the_reduction(%x: tensor<2x3xui8>, %sx: tensor<f32>, %zx: tensor<ui8>) -> tensor<*xf32> {
  %w = onnx.Initializer dense<[[1, 2], [3, 4], [5, -6]]> : tensor<3x2xi8>
  %sw = onnx.Initializer dense<[0.5, 0.25, 0.125]> : tensor<3xf32>
  %zw = onnx.Initializer dense<0> : tensor<3xi8>
  %0 = onnx.DequantizeLinear_13(%x, %sx, %zx) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %1 = onnx.DequantizeLinear_13(%w, %sw, %zw) {axis = 0 : i64} : (tensor<3x2xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<*xf32>
  %2 = onnx.MatMul_13(%0, %1) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// Of two operands that are both computed, the sums stay those of f32.
// CHECK-LABEL: @two_activations
// CHECK: linalg.matmul {{.*}} -> tensor<2x2xf32>
func.func @two_activations(%x: tensor<2x3xui8>, %y: tensor<3x2xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<*xf32> {
  %0 = onnx.DequantizeLinear_13(%x, %s, %z) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %1 = onnx.DequantizeLinear_13(%y, %s, %z) : (tensor<3x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %2 = onnx.MatMul_13(%0, %1) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// Weights of floats' products are multiplied as they are kept, and the sums scaled.
// CHECK-LABEL: @few_rows
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins({{.*}} : tensor<2x3xf32>, tensor<3x2xi8>) outs({{.*}} : tensor<2x2xf32>)
// CHECK: arith.sitofp %{{.*}} : i32 to f32
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]], %{{.*}} : tensor<2x2xf32>, tensor<2xf32>)
// CHECK: arith.mulf
func.func @few_rows(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %w = onnx.Initializer dense<[[1, 2], [3, 4], [5, -6]]> : tensor<3x2xi8>
  %s = onnx.Initializer dense<[0.5, 0.25]> : tensor<2xf32>
  %0 = onnx.DequantizeLinear_13(%w, %s) : (tensor<3x2xi8>, tensor<2xf32>) -> tensor<*xf32>
  %1 = onnx.MatMul_13(%x, %0) : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// Also where they are transposed between.
// CHECK-LABEL: @transposed
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<2x3xf32>, tensor<3x2xi8>) outs({{.*}} : tensor<2x2xf32>)
// CHECK: arith.sitofp %{{.*}} : i32 to f32
func.func @transposed(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %w = onnx.Initializer dense<[[1, 2, 3], [4, 5, -6]]> : tensor<2x3xi8>
  %s = onnx.Initializer dense<[0.5, 0.25]> : tensor<2xf32>
  %0 = onnx.DequantizeLinear_13(%w, %s) {axis = 0 : i64} : (tensor<2x3xi8>, tensor<2xf32>) -> tensor<*xf32>
  %1 = onnx.Transpose_13(%0) {perm = array<i64: 1, 0>} : (tensor<*xf32>) -> tensor<*xf32>
  %2 = onnx.MatMul_13(%x, %1) : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// Those of blocks are scaled one by one.
// CHECK-LABEL: @blocks
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<1x2x8xf32>, tensor<2x8x1xi8>, tensor<2x1xf32>) outs({{.*}} : tensor<1x1xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[B:.*]]: i8, %[[S:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK-NEXT:   %[[I:.*]] = arith.extsi %[[B]] : i8 to i32
// CHECK-NEXT:   %[[F:.*]] = arith.sitofp %[[I]] : i32 to f32
// CHECK-NEXT:   %[[W:.*]] = arith.mulf %[[F]], %[[S]] : f32
// CHECK-NEXT:   %[[P:.*]] = arith.mulf %[[X]], %[[W]] : f32
// CHECK-NEXT:   arith.addf %[[SUM]], %[[P]] : f32
func.func @blocks(%x: tensor<1x16xf32>) -> tensor<*xf32> {
  %w = onnx.Initializer dense<1> : tensor<16x1xi8>
  %s = onnx.Initializer dense<[[0.5], [0.25]]> : tensor<2x1xf32>
  %0 = onnx.DequantizeLinear_21(%w, %s) {axis = 0 : i64, block_size = 8 : i64} : (tensor<16x1xi8>, tensor<2x1xf32>) -> tensor<*xf32>
  %1 = onnx.MatMul_13(%x, %0) : (tensor<1x16xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// How many rows there are makes no difference here.
// CHECK-LABEL: @many_rows
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<16x3xf32>, tensor<3x2xi8>)
func.func @many_rows(%x: tensor<16x3xf32>) -> tensor<*xf32> {
  %w = onnx.Initializer dense<[[1, 2], [3, 4], [5, -6]]> : tensor<3x2xi8>
  %s = onnx.Initializer dense<[0.5, 0.25]> : tensor<2xf32>
  %0 = onnx.DequantizeLinear_13(%w, %s) : (tensor<3x2xi8>, tensor<2xf32>) -> tensor<*xf32>
  %1 = onnx.MatMul_13(%x, %0) : (tensor<16x3xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// Of halves, too: what they are multiplied with is of f32, and the sums are rounded.
// CHECK-LABEL: @halves
// CHECK: %[[SCALES:.*]] = linalg.generic {{.*}} ins({{.*}} : tensor<2x1xf16>) outs({{.*}} : tensor<2x1xf32>)
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins({{.*}}, %[[SCALES]] : tensor<1x2x8xf32>, tensor<2x8x1xi8>, tensor<2x1xf32>) outs({{.*}} : tensor<1x1xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]] : tensor<1x1xf32>) outs({{.*}} : tensor<1x1xf16>)
// CHECK: arith.truncf
func.func @halves(%x: tensor<1x16xf16>) -> tensor<*xf16> {
  %w = onnx.Initializer dense<1> : tensor<16x1xi8>
  %s = onnx.Initializer dense<[[0.5], [0.25]]> : tensor<2x1xf16>
  %0 = onnx.DequantizeLinear_21(%w, %s) {axis = 0 : i64, block_size = 8 : i64} : (tensor<16x1xi8>, tensor<2x1xf16>) -> tensor<*xf16>
  %1 = onnx.MatMul_13(%x, %0) : (tensor<1x16xf16>, tensor<*xf16>) -> tensor<*xf16>
  return %1 : tensor<*xf16>
}

// -----

// CHECK-LABEL: @halves_of_bytes
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<2x3xi8>, tensor<3x2xi8>) outs({{.*}} : tensor<2x2xi32>)
// CHECK: outs({{.*}} : tensor<2x2xf16>)
func.func @halves_of_bytes(%x: tensor<2x3xi8>, %sx: tensor<f16>) -> tensor<*xf16> {
  %w = onnx.Initializer dense<[[1, 2], [3, 4], [5, -6]]> : tensor<3x2xi8>
  %sw = onnx.Initializer dense<[0.5, 0.25]> : tensor<2xf16>
  %0 = onnx.DequantizeLinear_19(%x, %sx) : (tensor<2x3xi8>, tensor<f16>) -> tensor<*xf16>
  %1 = onnx.DequantizeLinear_19(%w, %sw) : (tensor<3x2xi8>, tensor<2xf16>) -> tensor<*xf16>
  %2 = onnx.MatMul_13(%0, %1) : (tensor<*xf16>, tensor<*xf16>) -> tensor<*xf16>
  return %2 : tensor<*xf16>
}

// -----

// A transposed convolution, too: of each phase the sum of the weights that it has, times the zero point, is taken away,
// and the bias added, before the phases are put side by side. What is around the data is the zero point.
// CHECK-LABEL: @transposed
// CHECK: tensor.pad
// CHECK: tensor.yield %{{.*}} : i8
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins({{.*}} : tensor<1x3x6x6xi8>, tensor<8x3x2x2xi8>) outs({{.*}} : tensor<1x8x5x5xi32>)
// CHECK: %[[TOTAL:.*]] = linalg.generic {{.*}} ins({{.*}} : tensor<8x3x2x2xi8>) outs({{.*}} : tensor<8xi32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]], {{.*}} : tensor<1x8x5x5xi32>, {{.*}}) outs({{.*}} : tensor<1x8x5x5xf32>)
// CHECK: arith.addi
// CHECK: arith.sitofp
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: linalg.transpose
// CHECK-NOT: arith.addf
func.func @transposed(%x: tensor<1x3x4x4xui8>, %sx: tensor<f32>, %zx: tensor<ui8>) -> tensor<*xf32> {
  %w = onnx.Initializer dense<1> : tensor<3x2x3x3xi8>
  %sw = onnx.Initializer dense<[0.5, 0.25]> : tensor<2xf32>
  %bias = onnx.Initializer dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = onnx.DequantizeLinear_13(%x, %sx, %zx) : (tensor<1x3x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %1 = onnx.DequantizeLinear_13(%w, %sw) {axis = 1 : i64} : (tensor<3x2x3x3xi8>, tensor<2xf32>) -> tensor<*xf32>
  %2 = onnx.ConvTranspose_11(%0, %1, %bias) {strides = array<i64: 2, 2>} : (tensor<*xf32>, tensor<*xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}
