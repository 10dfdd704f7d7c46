// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-generalize,strata-narrow-products{bf16-tiles=true}))' | FileCheck %s
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-generalize,strata-narrow-products{vector-bits=512 bf16-dots=true}))' | FileCheck %s --check-prefix=DOTS

// The operands are rounded, sums stay f32; the data of two products is rounded once.
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-1: arith.truncf %{{.*}} fastmath<afn> : f32 to bf16
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

// Without constant weights and with few rows that use them, and with too few products or results: f32.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     bf16
ml_program.global private @w(dense_resource<w> : tensor<64x4xf32>) : tensor<64x4xf32>
ml_program.global private @v(dense_resource<v> : tensor<4x64xf32>) : tensor<4x64xf32>
func.func @main(%x: tensor<4x64xf32>, %y: tensor<64x64xf32>, %c: tensor<4x64xf32>, %d: tensor<4x4xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  %w = ml_program.global_load_const @w : tensor<64x4xf32>
  %v = ml_program.global_load_const @v : tensor<4x64xf32>
  %0 = linalg.matmul ins(%x, %y : tensor<4x64xf32>, tensor<64x64xf32>) outs(%c : tensor<4x64xf32>) -> tensor<4x64xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<4x64xf32>, tensor<64x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<4x4xf32>, tensor<4x64xf32>) outs(%c : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %0, %2 : tensor<4x64xf32>, tensor<4x64xf32>
}

// -----

// What a convolution reads is kept as it is rounded where additions and pools are its other readers, behind moves of
// elements, too; the largest elements are the same before and after.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x32x8x8xf32>)
// CHECK:         %[[NARROW:.*]] = linalg.generic {{.*}} ins(%[[WIDE]] : tensor<1x32x8x8xf32>) outs(%{{.*}} : tensor<1x32x8x8xbf16>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.truncf
// CHECK-NOT:     ins(%[[WIDE]]
// CHECK:         %[[POOLED:.*]] = linalg.generic {{.*}} ins(%[[NARROW]], %{{.*}} : tensor<1x32x8x8xbf16>, tensor<2x2xf32>) outs(%{{.*}} : tensor<1x32x4x4xf32>)
// CHECK:           %[[X:.*]] = arith.extf
// CHECK:           arith.maximumf %{{.*}}, %[[X]] : f32
// CHECK:         %[[SMALL:.*]] = linalg.generic {{.*}} ins(%[[POOLED]] : tensor<1x32x4x4xf32>) outs(%{{.*}} : tensor<1x32x4x4xbf16>)
// CHECK:         %[[BOTH:.*]] = tensor.concat dim(1) %[[SMALL]], %[[SMALL]]
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[BOTH]], %{{.*}} : tensor<1x64x4x4xbf16>, tensor<64x64x1x1xbf16>)
// CHECK:         linalg.generic {{.*}} ins(%[[SUM]], %[[BOTH]] : tensor<1x64x4x4xf32>, tensor<1x64x4x4xbf16>)
#same = affine_map<(a, b, c, d) -> (a, b, c, d)>
ml_program.global private @w(dense_resource<w> : tensor<32x16x1x1xf32>) : tensor<32x16x1x1xf32>
ml_program.global private @v(dense_resource<v> : tensor<64x64x1x1xf32>) : tensor<64x64x1x1xf32>
func.func @main(%x: tensor<1x16x8x8xf32>, %c: tensor<1x32x8x8xf32>, %d: tensor<1x32x4x4xf32>, %e: tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32> {
  %w = ml_program.global_load_const @w : tensor<32x16x1x1xf32>
  %v = ml_program.global_load_const @v : tensor<64x64x1x1xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x16x8x8xf32>, tensor<32x16x1x1xf32>) outs(%c : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %1 = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>} ins(%0, %window : tensor<1x32x8x8xf32>, tensor<2x2xf32>) outs(%d : tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
  %2 = tensor.concat dim(1) %1, %1 : (tensor<1x32x4x4xf32>, tensor<1x32x4x4xf32>) -> tensor<1x64x4x4xf32>
  %3 = linalg.conv_2d_nchw_fchw ins(%2, %v : tensor<1x64x4x4xf32>, tensor<64x64x1x1xf32>) outs(%e : tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32>
  %4 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%3, %2 : tensor<1x64x4x4xf32>, tensor<1x64x4x4xf32>) outs(%e : tensor<1x64x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %5 = arith.addf %a, %b : f32
    linalg.yield %5 : f32
  } -> tensor<1x64x4x4xf32>
  return %4 : tensor<1x64x4x4xf32>
}

// -----

// A result of the function stays f32, and so do a product's operands for whoever else reads them.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[KEPT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x16x8x8xf32>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[KEPT]] : tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>)
// CHECK:         return %{{.*}}, %[[KEPT]]
#same = affine_map<(a, b, c, d) -> (a, b, c, d)>
ml_program.global private @w(dense_resource<w> : tensor<16x32x1x1xf32>) : tensor<16x32x1x1xf32>
ml_program.global private @v(dense_resource<v> : tensor<16x16x3x3xf32>) : tensor<16x16x3x3xf32>
func.func @main(%x: tensor<1x32x8x8xf32>, %c: tensor<1x16x8x8xf32>) -> (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) {
  %w = ml_program.global_load_const @w : tensor<16x32x1x1xf32>
  %v = ml_program.global_load_const @v : tensor<16x16x3x3xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x32x8x8xf32>, tensor<16x32x1x1xf32>) outs(%c : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %d: index, %e: index):
    tensor.yield %zero : f32
  } : tensor<1x16x8x8xf32> to tensor<1x16x10x10xf32>
  %1 = linalg.conv_2d_nchw_fchw ins(%p, %v : tensor<1x16x10x10xf32>, tensor<16x16x3x3xf32>) outs(%c : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %2 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%1, %0 : tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) outs(%c : tensor<1x16x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %5 = arith.addf %a, %b : f32
    linalg.yield %5 : f32
  } -> tensor<1x16x8x8xf32>
  return %2, %0 : tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>
}

// -----

// Of two convolutions that are added, one is added in the other's tiles: its result waits as bf16. That of the other one
// never leaves the registers.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[FIRST:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x32x8x8xbf16>, tensor<16x32x1x1xbf16>)
// CHECK:         %[[LATE:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x32x8x8xbf16>, tensor<16x32x1x1xbf16>)
// CHECK:         %[[ROUNDED:.*]] = linalg.generic {{.*}} ins(%[[LATE]] : tensor<1x16x8x8xf32>) outs(%{{.*}} : tensor<1x16x8x8xbf16>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.truncf
// CHECK:         linalg.generic {{.*}} ins(%[[FIRST]], %[[ROUNDED]] : tensor<1x16x8x8xf32>, tensor<1x16x8x8xbf16>)
#same = affine_map<(a, b, c, d) -> (a, b, c, d)>
ml_program.global private @w(dense_resource<w> : tensor<16x32x1x1xf32>) : tensor<16x32x1x1xf32>
ml_program.global private @v(dense_resource<v> : tensor<16x32x1x1xf32>) : tensor<16x32x1x1xf32>
func.func @main(%x: tensor<1x32x8x8xf32>, %y: tensor<1x32x8x8xf32>, %c: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %w = ml_program.global_load_const @w : tensor<16x32x1x1xf32>
  %v = ml_program.global_load_const @v : tensor<16x32x1x1xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x32x8x8xf32>, tensor<16x32x1x1xf32>) outs(%c : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %1 = linalg.conv_2d_nchw_fchw ins(%y, %v : tensor<1x32x8x8xf32>, tensor<16x32x1x1xf32>) outs(%c : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %2 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0, %1 : tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) outs(%c : tensor<1x16x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %5 = arith.addf %a, %b : f32
    linalg.yield %5 : f32
  } -> tensor<1x16x8x8xf32>
  return %2 : tensor<1x16x8x8xf32>
}

// -----

// What is given in each run is rounded where 48 rows use it, for their copy costs less than they gain.
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-2: arith.truncf
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<48x64xbf16>, tensor<64x64xbf16>)
func.func @main(%x: tensor<48x64xf32>, %y: tensor<64x64xf32>, %c: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<48x64xf32>, tensor<64x64xf32>) outs(%c : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %0 : tensor<48x64xf32>
}

// -----

// Dot products are twice as fast as those of f32, minimal filtering needs a quarter of them: the 3x3 convolution keeps
// its operands, and the image that it reads is not kept in bf16.
// CHECK-LABEL: func.func @image(
// CHECK:         ins(%{{.*}}, %{{.*}} : tensor<1x64x56x56xbf16>, tensor<64x64x1x1xbf16>)
// CHECK:         ins(%{{.*}}, %{{.*}} : tensor<1x64x58x58xbf16>, tensor<64x64x3x3xbf16>)
// DOTS-LABEL: func.func @image(
// DOTS:         ins(%{{.*}}, %{{.*}} : tensor<1x64x56x56xbf16>, tensor<64x64x1x1xbf16>)
// DOTS:         ins(%{{.*}}, %{{.*}} : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>)
ml_program.global private @v(dense_resource<v> : tensor<64x64x1x1xf32>) : tensor<64x64x1x1xf32>
ml_program.global private @w(dense_resource<w> : tensor<64x64x3x3xf32>) : tensor<64x64x3x3xf32>
func.func @image(%a: tensor<1x64x56x56xf32>, %c: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %v = ml_program.global_load_const @v : tensor<64x64x1x1xf32>
  %w = ml_program.global_load_const @w : tensor<64x64x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %x = linalg.exp ins(%a : tensor<1x64x56x56xf32>) outs(%c : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %v : tensor<1x64x56x56xf32>, tensor<64x64x1x1xf32>) outs(%c : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x64x56x56xf32> to tensor<1x64x58x58xf32>
  %1 = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) outs(%0 : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  return %1 : tensor<1x64x56x56xf32>
}

// -----

// Volumes are images one behind the other.
// CHECK-LABEL: func.func @volume(
// CHECK:         tensor<64x64x3x3x3xbf16>
// DOTS-LABEL: func.func @volume(
// DOTS-NOT:     bf16
ml_program.global private @w(dense_resource<w> : tensor<64x64x3x3x3xf32>) : tensor<64x64x3x3x3xf32>
func.func @volume(%x: tensor<1x64x10x58x58xf32>, %c: tensor<1x64x8x56x56xf32>) -> tensor<1x64x8x56x56xf32> {
  %w = ml_program.global_load_const @w : tensor<64x64x3x3x3xf32>
  %0 = linalg.conv_3d_ncdhw_fcdhw ins(%x, %w : tensor<1x64x10x58x58xf32>, tensor<64x64x3x3x3xf32>) outs(%c : tensor<1x64x8x56x56xf32>) -> tensor<1x64x8x56x56xf32>
  return %0 : tensor<1x64x8x56x56xf32>
}

// -----

// Steps of two slices are as good as one; those of two lines are not images.
// DOTS-LABEL: func.func @slices(
// DOTS-NOT:     bf16
// DOTS-LABEL: func.func @lines(
// DOTS:         tensor<64x64x3x3x3xbf16>
ml_program.global private @w(dense_resource<w> : tensor<64x64x3x3x3xf32>) : tensor<64x64x3x3x3xf32>
func.func @slices(%x: tensor<1x64x17x58x58xf32>, %c: tensor<1x64x8x56x56xf32>) -> tensor<1x64x8x56x56xf32> {
  %w = ml_program.global_load_const @w : tensor<64x64x3x3x3xf32>
  %0 = linalg.conv_3d_ncdhw_fcdhw {strides = dense<[2, 1, 1]> : tensor<3xi64>} ins(%x, %w : tensor<1x64x17x58x58xf32>, tensor<64x64x3x3x3xf32>) outs(%c : tensor<1x64x8x56x56xf32>) -> tensor<1x64x8x56x56xf32>
  return %0 : tensor<1x64x8x56x56xf32>
}
func.func @lines(%x: tensor<1x64x10x113x58xf32>, %c: tensor<1x64x8x56x56xf32>) -> tensor<1x64x8x56x56xf32> {
  %w = ml_program.global_load_const @w : tensor<64x64x3x3x3xf32>
  %0 = linalg.conv_3d_ncdhw_fcdhw {strides = dense<[1, 2, 1]> : tensor<3xi64>} ins(%x, %w : tensor<1x64x10x113x58xf32>, tensor<64x64x3x3x3xf32>) outs(%c : tensor<1x64x8x56x56xf32>) -> tensor<1x64x8x56x56xf32>
  return %0 : tensor<1x64x8x56x56xf32>
}

// -----

// So are products in loops: weights once, before, what changes in each iteration in it.
// CHECK-LABEL: func.func @loop(
// CHECK:         arith.truncf
// CHECK:         scf.for
// CHECK:           arith.truncf
// CHECK:           linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x64xbf16>, tensor<64x64xbf16>)
ml_program.global private @w(dense_resource<w> : tensor<64x64xf32>) : tensor<64x64xf32>
func.func @loop(%h: tensor<1x64xf32>, %c: tensor<1x64xf32>, %n: index) -> tensor<1x64xf32> {
  %w = ml_program.global_load_const @w : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%now = %h) -> tensor<1x64xf32> {
    %next = linalg.matmul ins(%now, %w : tensor<1x64xf32>, tensor<64x64xf32>) outs(%c : tensor<1x64xf32>) -> tensor<1x64xf32>
    scf.yield %next : tensor<1x64xf32>
  }
  return %last : tensor<1x64xf32>
}

// -----

// What convolutions of single channels read is rounded where it is made, if it takes half of the second level; their sums
// and weights are not.
// CHECK-LABEL: func.func @channels(
// CHECK:         %[[SUM:.*]] = linalg.generic
// CHECK:           arith.addf
// CHECK:         arith.truncf
// CHECK:         } : tensor<4x96x112x112xbf16> to tensor<4x96x114x114xbf16>
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x96x114x114xbf16>, tensor<96x3x3xf32>) outs(%{{.*}} : tensor<4x96x112x112xf32>)
// CHECK:           arith.extf
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     arith.truncf
// CHECK:         return
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
ml_program.global private @w(dense_resource<w> : tensor<96x3x3xf32>) : tensor<96x3x3xf32>
func.func @channels(%x: tensor<4x96x112x112xf32>, %e: tensor<4x96x112x112xf32>) -> tensor<4x96x112x112xf32> {
  %zero = arith.constant 0.0 : f32
  %w = ml_program.global_load_const @w : tensor<96x3x3xf32>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<4x96x112x112xf32>) outs(%e : tensor<4x96x112x112xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<4x96x112x112xf32>
  %p = tensor.pad %y low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<4x96x112x112xf32> to tensor<4x96x114x114xf32>
  %0 = linalg.depthwise_conv_2d_nchw_chw ins(%p, %w : tensor<4x96x114x114xf32>, tensor<96x3x3xf32>) outs(%e : tensor<4x96x112x112xf32>) -> tensor<4x96x112x112xf32>
  return %0 : tensor<4x96x112x112xf32>
}
func.func @few(%x: tensor<1x96x42x42xf32>, %e: tensor<1x96x40x40xf32>) -> tensor<1x96x40x40xf32> {
  %w = ml_program.global_load_const @w : tensor<96x3x3xf32>
  %0 = linalg.depthwise_conv_2d_nchw_chw ins(%x, %w : tensor<1x96x42x42xf32>, tensor<96x3x3xf32>) outs(%e : tensor<1x96x40x40xf32>) -> tensor<1x96x40x40xf32>
  return %0 : tensor<1x96x40x40xf32>
}

// -----

// In a chain of products each reads the rounded result of the one before it, though the first one is rounded before all
// others, for a convolution.
// CHECK-LABEL: func.func @chain(
// CHECK:         %[[A:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[W:.*]] : tensor<64x64xbf16>, tensor<64x64xbf16>)
// CHECK:         %[[NA:.*]] = linalg.generic {{.*}} ins(%[[A]] :
// CHECK:         %[[B:.*]] = linalg.generic {{.*}} ins(%[[NA]], %[[W]] :
// CHECK:         %[[NB:.*]] = linalg.generic {{.*}} ins(%[[B]] :
// CHECK:         %[[C:.*]] = linalg.generic {{.*}} ins(%[[NB]], %[[W]] :
// CHECK:         %[[NC:.*]] = linalg.generic {{.*}} ins(%[[C]] :
// CHECK:         %[[D:.*]] = linalg.generic {{.*}} ins(%[[NC]], %[[W]] :
// CHECK:         %[[IMAGE:.*]] = tensor.expand_shape %[[NA]]
// CHECK:         linalg.generic {{.*}} ins(%[[IMAGE]], %{{.*}} : tensor<1x64x8x8xbf16>
// CHECK:         return %[[D]]
ml_program.global private @w(dense_resource<w> : tensor<64x64xf32>) : tensor<64x64xf32>
ml_program.global private @f(dense_resource<f> : tensor<32x64x3x3xf32>) : tensor<32x64x3x3xf32>
func.func @chain(%x: tensor<64x64xf32>, %c: tensor<64x64xf32>, %d: tensor<1x32x6x6xf32>) -> (tensor<64x64xf32>, tensor<1x32x6x6xf32>) {
  %w = ml_program.global_load_const @w : tensor<64x64xf32>
  %f = ml_program.global_load_const @f : tensor<32x64x3x3xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %image = tensor.expand_shape %0 [[0, 1], [2, 3]] output_shape [1, 64, 8, 8] : tensor<64x64xf32> into tensor<1x64x8x8xf32>
  %4 = linalg.conv_2d_nchw_fchw ins(%image, %f : tensor<1x64x8x8xf32>, tensor<32x64x3x3xf32>) outs(%d : tensor<1x32x6x6xf32>) -> tensor<1x32x6x6xf32>
  return %3, %4 : tensor<64x64xf32>, tensor<1x32x6x6xf32>
}

// -----

// Few filters are worth rounding the data for where windows read each element often: six of 3x3, not of 1x1. A matrix
// unit takes two of 2x2.
// CHECK-LABEL: func.func @window(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x64x9x9xbf16>, tensor<6x64x3x3xbf16>)
// CHECK-LABEL: func.func @pixel(
// CHECK-NOT:     bf16
// CHECK-LABEL: func.func @two(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x64x9x9xbf16>, tensor<2x64x2x2xbf16>)
// DOTS-LABEL: func.func @window(
// DOTS:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x64x9x9xbf16>, tensor<6x64x3x3xbf16>)
// DOTS-LABEL: func.func @pixel(
// DOTS-NOT:     bf16
// DOTS-LABEL: func.func @two(
// DOTS-NOT:     bf16
ml_program.global private @w(dense_resource<w> : tensor<6x64x3x3xf32>) : tensor<6x64x3x3xf32>
ml_program.global private @v(dense_resource<v> : tensor<6x64x1x1xf32>) : tensor<6x64x1x1xf32>
ml_program.global private @u(dense_resource<u> : tensor<2x64x2x2xf32>) : tensor<2x64x2x2xf32>
func.func @window(%x: tensor<1x64x9x9xf32>, %c: tensor<1x6x4x4xf32>) -> tensor<1x6x4x4xf32> {
  %w = ml_program.global_load_const @w : tensor<6x64x3x3xf32>
  %0 = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x64x9x9xf32>, tensor<6x64x3x3xf32>)
    outs(%c : tensor<1x6x4x4xf32>) -> tensor<1x6x4x4xf32>
  return %0 : tensor<1x6x4x4xf32>
}
func.func @pixel(%x: tensor<1x64x9x9xf32>, %c: tensor<1x6x9x9xf32>) -> tensor<1x6x9x9xf32> {
  %v = ml_program.global_load_const @v : tensor<6x64x1x1xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %v : tensor<1x64x9x9xf32>, tensor<6x64x1x1xf32>)
    outs(%c : tensor<1x6x9x9xf32>) -> tensor<1x6x9x9xf32>
  return %0 : tensor<1x6x9x9xf32>
}
func.func @two(%x: tensor<1x64x9x9xf32>, %c: tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32> {
  %u = ml_program.global_load_const @u : tensor<2x64x2x2xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %u : tensor<1x64x9x9xf32>, tensor<2x64x2x2xf32>)
    outs(%c : tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  return %0 : tensor<1x2x8x8xf32>
}

// -----

// A border of elements of the image: what is inserted and read at other places is so in bf16, and the image rounded once.
// CHECK-LABEL: func.func @border(
// CHECK:         %[[IMAGE:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<1x64x8x8xf32>) outs(%{{.*}} : tensor<1x64x8x8xbf16>)
// CHECK-DAG:     %[[EMPTY:.*]] = tensor.empty() : tensor<1x64x9x8xbf16>
// CHECK-DAG:     %[[PART:.*]] = tensor.insert_slice %[[IMAGE]] into %[[EMPTY]][0, 0, 1, 0]
// CHECK:         %[[FIRST:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x64x1x8xbf16>)
// CHECK:           %[[READ:.*]] = tensor.extract %[[IMAGE]]
// CHECK-NEXT:      linalg.yield %[[READ]] : bf16
// CHECK:         %[[ALL:.*]] = tensor.insert_slice %[[FIRST]] into %[[PART]][0, 0, 0, 0]
// CHECK:         linalg.generic {{.*}} ins(%[[ALL]], %{{.*}} : tensor<1x64x9x8xbf16>
// DOTS-LABEL: func.func @border(
ml_program.global private @w(dense_resource<w> : tensor<32x64x3x3xf32>) : tensor<32x64x3x3xf32>
func.func @border(%x: tensor<1x64x8x8xf32>, %c: tensor<1x32x7x6xf32>) -> tensor<1x32x7x6xf32> {
  %w = ml_program.global_load_const @w : tensor<32x64x3x3xf32>
  %c1 = arith.constant 1 : index
  %room = tensor.empty() : tensor<1x64x9x8xf32>
  %0 = tensor.insert_slice %x into %room[0, 0, 1, 0] [1, 64, 8, 8] [1, 1, 1, 1] : tensor<1x64x8x8xf32> into tensor<1x64x9x8xf32>
  %row = tensor.empty() : tensor<1x64x1x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%row : tensor<1x64x1x8xf32>) {
  ^bb0(%o: f32):
    %n = linalg.index 0 : index
    %k = linalg.index 1 : index
    %j = linalg.index 3 : index
    %e = tensor.extract %x[%n, %k, %c1, %j] : tensor<1x64x8x8xf32>
    linalg.yield %e : f32
  } -> tensor<1x64x1x8xf32>
  %2 = tensor.insert_slice %1 into %0[0, 0, 0, 0] [1, 64, 1, 8] [1, 1, 1, 1] : tensor<1x64x1x8xf32> into tensor<1x64x9x8xf32>
  %3 = linalg.conv_2d_nchw_fchw ins(%2, %w : tensor<1x64x9x8xf32>, tensor<32x64x3x3xf32>) outs(%c : tensor<1x32x7x6xf32>) -> tensor<1x32x7x6xf32>
  return %3 : tensor<1x32x7x6xf32>
}

// -----

// What rows are read at stays what it is.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:      %[[X:.*]]: tensor<9x64xf32>, %[[PLACES:.*]]: tensor<8x64xi64>
// CHECK:         %[[SHORT:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<9x64xf32>) outs(%{{.*}} : tensor<9x64xbf16>)
// CHECK:         %[[ROWS:.*]] = linalg.generic {{.*}} ins(%[[PLACES]] : tensor<8x64xi64>) outs(%{{.*}} : tensor<8x64xbf16>)
// CHECK-NEXT:    ^bb0(%{{.*}}: i64, %{{.*}}: bf16):
// CHECK:           tensor.extract %[[SHORT]]
// CHECK:         linalg.generic {{.*}} ins(%[[ROWS]], %{{.*}} : tensor<8x64xbf16>
// DOTS-LABEL: func.func @rows(
ml_program.global private @w(dense_resource<w> : tensor<64x32xf32>) : tensor<64x32xf32>
func.func @rows(%x: tensor<9x64xf32>, %places: tensor<8x64xi64>, %c: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %w = ml_program.global_load_const @w : tensor<64x32xf32>
  %e = tensor.empty() : tensor<8x64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%places : tensor<8x64xi64>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%at: i64, %o: f32):
    %i = arith.index_cast %at : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%i, %j] : tensor<9x64xf32>
    linalg.yield %v : f32
  } -> tensor<8x64xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<8x64xf32>, tensor<64x32xf32>) outs(%c : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}
