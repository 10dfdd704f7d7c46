// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-pack-weights{vector-bits=512 registers=32 fma=true}))' | FileCheck %s

// Blocks of weights are as wide as the tile for the rows: 14 rows of 2 vectors. A batch of an unknown number has the same
// rows again.
#x = affine_map<(b, m, n, k) -> (b, m, k)>
#w = affine_map<(b, m, n, k) -> (n, k)>
#y = affine_map<(b, m, n, k) -> (b, m, n)>
// CHECK-LABEL: func.func @main(
// CHECK:         tensor.empty() : tensor<8x64x32xf32>
ml_program.global private @w(dense_resource<w> : tensor<256x64xf32>) : tensor<256x64xf32>
func.func @main(%x: tensor<?x14x64xf32>, %y: tensor<?x14x256xf32>) -> tensor<?x14x256xf32> {
  %w = ml_program.global_load_const @w : tensor<256x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x14x64xf32>, tensor<256x64xf32>) outs(%y : tensor<?x14x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x14x256xf32>
  return %0 : tensor<?x14x256xf32>
}

// -----

// One row of each: the rows are what the batch is, unknown, and the tile is that of many, 6 rows of 4 vectors.
#x = affine_map<(b, m, n, k) -> (b, m, k)>
#w = affine_map<(b, m, n, k) -> (n, k)>
#y = affine_map<(b, m, n, k) -> (b, m, n)>
// CHECK-LABEL: func.func @main(
// CHECK:         tensor.empty() : tensor<4x64x64xf32>
ml_program.global private @w(dense_resource<w> : tensor<256x64xf32>) : tensor<256x64xf32>
func.func @main(%x: tensor<?x1x64xf32>, %y: tensor<?x1x256xf32>) -> tensor<?x1x256xf32> {
  %w = ml_program.global_load_const @w : tensor<256x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x1x64xf32>, tensor<256x64xf32>) outs(%y : tensor<?x1x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x1x256xf32>
  return %0 : tensor<?x1x256xf32>
}
