// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-pack-weights{vector-bits=512 registers=32 fma=true}))' | FileCheck %s
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-pack-weights{vector-bits=512 registers=32 fma=true bf16-dots=true}))' | FileCheck %s --check-prefix=DOTS

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

// The same in more dimensions.
#x = affine_map<(b, c, d, e, f, g, m, n, k) -> (b, c, d, e, f, g, m, k)>
#w = affine_map<(b, c, d, e, f, g, m, n, k) -> (n, k)>
#y = affine_map<(b, c, d, e, f, g, m, n, k) -> (b, c, d, e, f, g, m, n)>
// CHECK-LABEL: func.func @main(
// CHECK:         tensor.empty() : tensor<8x64x32xf32>
ml_program.global private @w(dense_resource<w> : tensor<256x64xf32>) : tensor<256x64xf32>
func.func @main(%x: tensor<?x1x1x1x1x1x14x64xf32>, %y: tensor<?x1x1x1x1x1x14x256xf32>) -> tensor<?x1x1x1x1x1x14x256xf32> {
  %w = ml_program.global_load_const @w : tensor<256x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x1x1x1x1x1x14x64xf32>, tensor<256x64xf32>) outs(%y : tensor<?x1x1x1x1x1x14x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x1x1x1x1x1x14x256xf32>
  return %0 : tensor<?x1x1x1x1x1x14x256xf32>
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

// -----

// Rows of 4 KiB share a set of lines of the first-level cache, which has eight: not so many of them are read side by
// side, and the vectors are four.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @main(
// CHECK:         tensor.empty() : tensor<4x1024x64xf32>
ml_program.global private @w(dense_resource<w> : tensor<256x1024xf32>) : tensor<256x1024xf32>
func.func @main(%x: tensor<14x1024xf32>, %y: tensor<14x256xf32>) -> tensor<14x256xf32> {
  %w = ml_program.global_load_const @w : tensor<256x1024xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<14x1024xf32>, tensor<256x1024xf32>) outs(%y : tensor<14x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<14x256xf32>
  return %0 : tensor<14x256xf32>
}

// -----

// Products of pairs, whose weights are in two vectors elsewhere: rows of 2048 pairs are as far apart.
#x = affine_map<(m, n, k, g) -> (m, k, g)>
#w = affine_map<(m, n, k, g) -> (n, k, g)>
#y = affine_map<(m, n, k, g) -> (m, n)>
// DOTS-LABEL: func.func @main(
// DOTS:         tensor.empty() : tensor<4x1024x64x2xbf16>
ml_program.global private @w(dense_resource<w> : tensor<256x1024x2xbf16>) : tensor<256x1024x2xbf16>
func.func @main(%x: tensor<128x1024x2xbf16>, %y: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %w = ml_program.global_load_const @w : tensor<256x1024x2xbf16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<128x1024x2xbf16>, tensor<256x1024x2xbf16>) outs(%y : tensor<128x256xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %p = arith.mulf %0, %1 : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

// -----

// What a product of an unknown number of them reads transposed is copied where that pays for one of them.
#x = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#w = affine_map<(b, h, m, n, k) -> (b, h, k, n)>
#y = affine_map<(b, h, m, n, k) -> (b, h, m, n)>
// CHECK-LABEL: func.func @keys(
// CHECK:         %[[KEYS:.*]] = linalg.transpose ins(%arg1 : tensor<?x16x12x16xf32>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[KEYS]] : tensor<?x12x16x16xf32>, tensor<?x12x16x16xf32>)
func.func @keys(%q: tensor<?x12x16x16xf32>, %k: tensor<?x16x12x16xf32>, %y: tensor<?x12x16x16xf32>, %n: index) -> tensor<?x12x16x16xf32> {
  %e = tensor.empty(%n) : tensor<?x12x16x16xf32>
  %t = linalg.transpose ins(%k : tensor<?x16x12x16xf32>) outs(%e : tensor<?x12x16x16xf32>) permutation = [0, 2, 3, 1]
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %t : tensor<?x12x16x16xf32>, tensor<?x12x16x16xf32>) outs(%y : tensor<?x12x16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %1, %c : f32
    linalg.yield %2 : f32
  } -> tensor<?x12x16x16xf32>
  return %0 : tensor<?x12x16x16xf32>
}
