// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-generalize,strata-narrow-products))' | FileCheck %s

// The operands are rounded, sums stay f32; the data of two products is rounded once.
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-1: arith.truncf %{{.*}} : f32 to bf16
// CHECK:         ml_program.global_load_const @w
// CHECK:         arith.truncf
// CHECK-NOT:     arith.truncf
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x64xbf16>, tensor<64x40xbf16>) outs(%{{.*}} : tensor<4x40xf32>)
// CHECK:           %[[X:.*]] = arith.extf
// CHECK:           %[[Y:.*]] = arith.extf
// CHECK:           arith.mulf %[[X]], %[[Y]] : f32
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x64xbf16>, tensor<64x40xbf16>)
ml_program.global private @w(dense_resource<w> : tensor<64x40xf32>) : tensor<64x40xf32>
func.func @main(%x: tensor<4x64xf32>, %c: tensor<4x40xf32>) -> (tensor<4x40xf32>, tensor<4x40xf32>) {
  %w = ml_program.global_load_const @w : tensor<64x40xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x64xf32>, tensor<64x40xf32>) outs(%c : tensor<4x40xf32>) -> tensor<4x40xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<4x64xf32>, tensor<64x40xf32>) outs(%0 : tensor<4x40xf32>) -> tensor<4x40xf32>
  return %0, %1 : tensor<4x40xf32>, tensor<4x40xf32>
}

// -----

// Before the padding, which is then of bf16.
// CHECK-LABEL: func.func @main(
// CHECK:         arith.truncf
// CHECK:         tensor.pad
// CHECK:         tensor<1x16x6x6xbf16> to tensor<1x16x8x8xbf16>
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x16x8x8xbf16>, tensor<32x16x3x3xbf16>)
ml_program.global private @w(dense_resource<w> : tensor<32x16x3x3xf32>) : tensor<32x16x3x3xf32>
func.func @main(%x: tensor<1x16x6x6xf32>, %c: tensor<1x32x6x6xf32>) -> tensor<1x32x6x6xf32> {
  %w = ml_program.global_load_const @w : tensor<32x16x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %d: index, %e: index):
    tensor.yield %zero : f32
  } : tensor<1x16x6x6xf32> to tensor<1x16x8x8xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) outs(%c : tensor<1x32x6x6xf32>) -> tensor<1x32x6x6xf32>
  return %0 : tensor<1x32x6x6xf32>
}

// -----

// Without constant weights, and with too few products or results: f32.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     bf16
ml_program.global private @w(dense_resource<w> : tensor<64x8xf32>) : tensor<64x8xf32>
ml_program.global private @v(dense_resource<v> : tensor<8x64xf32>) : tensor<8x64xf32>
func.func @main(%x: tensor<4x64xf32>, %y: tensor<64x64xf32>, %c: tensor<4x64xf32>, %d: tensor<4x8xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  %w = ml_program.global_load_const @w : tensor<64x8xf32>
  %v = ml_program.global_load_const @v : tensor<8x64xf32>
  %0 = linalg.matmul ins(%x, %y : tensor<4x64xf32>, tensor<64x64xf32>) outs(%c : tensor<4x64xf32>) -> tensor<4x64xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<4x64xf32>, tensor<64x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<4x8xf32>, tensor<8x64xf32>) outs(%c : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %0, %2 : tensor<4x64xf32>, tensor<4x64xf32>
}
