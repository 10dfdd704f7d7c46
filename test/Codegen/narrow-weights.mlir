// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-narrow-weights))' | FileCheck %s

// Rounded once, although two products read them; the data stays as it is.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[X:.*]]: tensor<1x256xf32>, %[[Z:.*]]: tensor<15x256xf32>
// CHECK:         %[[LOADED:.*]] = ml_program.global_load_const
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} ins(%[[LOADED]] : tensor<256x64xf32>) outs(%{{.*}} : tensor<256x64xf16>)
// CHECK:           arith.truncf %{{.*}} : f32 to f16
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[W]] : tensor<1x256xf32>, tensor<256x64xf16>)
// CHECK:           %[[E:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK:           arith.mulf %{{.*}}, %[[E]] : f32
// CHECK-NOT:     arith.truncf
// CHECK:         linalg.generic {{.*}} ins(%[[Z]], %[[W]] : tensor<15x256xf32>, tensor<256x64xf16>)
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<256x64xf32>) : tensor<256x64xf32>
func.func @main(%x: tensor<1x256xf32>, %z: tensor<15x256xf32>, %c: tensor<1x64xf32>, %d: tensor<15x64xf32>) -> (tensor<1x64xf32>, tensor<15x64xf32>) {
  %w = ml_program.global_load_const @w : tensor<256x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x256xf32>, tensor<256x64xf32>) outs(%c : tensor<1x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x64xf32>
  %3 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%z, %w : tensor<15x256xf32>, tensor<256x64xf32>) outs(%d : tensor<15x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<15x64xf32>
  return %0, %3 : tensor<1x64xf32>, tensor<15x64xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000803F" } } #-}

// -----

// Many rows, data of both sides, and weights that the nearest cache holds.
// CHECK-LABEL: func.func @stay(
// CHECK-NOT:     f16
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<256x64xf32>) : tensor<256x64xf32>
ml_program.global private @v(dense_resource<v> : tensor<64x64xf32>) : tensor<64x64xf32>
func.func @stay(%x: tensor<16x256xf32>, %r: tensor<?x256xf32>, %y: tensor<1x64xf32>, %g: tensor<256x64xf32>, %u: tensor<1x256xf32>,
                %c: tensor<16x64xf32>, %d: tensor<?x64xf32>, %e: tensor<1x64xf32>)
    -> (tensor<16x64xf32>, tensor<?x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %w = ml_program.global_load_const @w : tensor<256x64xf32>
  %v = ml_program.global_load_const @v : tensor<64x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<16x256xf32>, tensor<256x64xf32>) outs(%c : tensor<16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<16x64xf32>
  %3 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%r, %w : tensor<?x256xf32>, tensor<256x64xf32>) outs(%d : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x64xf32>
  %4 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y, %v : tensor<1x64xf32>, tensor<64x64xf32>) outs(%e : tensor<1x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x64xf32>
  %5 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%u, %g : tensor<1x256xf32>, tensor<256x64xf32>) outs(%e : tensor<1x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x64xf32>
  return %0, %3, %4, %5 : tensor<16x64xf32>, tensor<?x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000803F", v: "0x040000000000803F" } } #-}

// -----

// 65520 would be infinite.
// CHECK-LABEL: func.func @too_large(
// CHECK-NOT:     f16
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<256x64xf32>) : tensor<256x64xf32>
func.func @too_large(%x: tensor<1x256xf32>, %c: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %w = ml_program.global_load_const @w : tensor<256x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x256xf32>, tensor<256x64xf32>) outs(%c : tensor<1x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}
{-# dialect_resources: { builtin: { w: "0x0400000000F07F47" } } #-}
