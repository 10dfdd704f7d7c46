// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=256 registers=16 fma=true threads=false cache-bytes=524288},cse))' | FileCheck %s

// Weights that are large for the cache go block by block, and the data stays in it for all of them: 17 tiles
// of six rows.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @rows
// CHECK:         scf.for %[[FROM:.*]] = %c0 to %c1494 step %c17
// CHECK:           scf.for %{{.*}} = %c0 to %c160 step %c16
// CHECK:             %[[END:.*]] = arith.minui %{{.*}}, %c1494
// CHECK:             scf.for %{{.*}} = %[[FROM]] to %[[END]] step %c1
func.func @rows(%x: memref<8960x320xf32>, %w: memref<10x320x16xf32>, %y: memref<8960x160xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8960x320xf32>, memref<10x320x16xf32>) outs(%y : memref<8960x160xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// A result in the middle of a padded image has rows for each line of it: a block is seven lines of an image.
#x = affine_map<(n, h, x, f, c) -> (n, h, x, c)>
#w = affine_map<(n, h, x, f, c) -> (f floordiv 16, c, f mod 16)>
#y = affine_map<(n, h, x, f, c) -> (n, h, x, f)>
// CHECK-LABEL: func.func @lines
// CHECK:         scf.for %{{.*}} = %c0 to %c8 step %c1
// CHECK:           scf.for %[[FROM:.*]] = %c0 to %c80 step %c7
// CHECK:             scf.for %{{.*}} = %c0 to %c160 step %c16
// CHECK:               %[[TO:.*]] = arith.addi %[[FROM]], %c7
// CHECK:               %[[END:.*]] = arith.minui %[[TO]], %c80
// CHECK:               scf.for %{{.*}} = %[[FROM]] to %[[END]] step %c1
func.func @lines(%x: memref<8x80x14x320xf32>, %w: memref<10x320x16xf32>, %y: memref<8x80x14x160xf32, strided<[241920, 2880, 160, 1], offset: 6080>>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x80x14x320xf32>, memref<10x320x16xf32>) outs(%y : memref<8x80x14x160xf32, strided<[241920, 2880, 160, 1], offset: 6080>>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Images that are small: a block is three of them.
#x = affine_map<(n, h, x, f, c) -> (n, h, x, c)>
#w = affine_map<(n, h, x, f, c) -> (f floordiv 16, c, f mod 16)>
#y = affine_map<(n, h, x, f, c) -> (n, h, x, f)>
// CHECK-LABEL: func.func @images
// CHECK:         scf.for %[[FROM:.*]] = %c0 to %c9 step %c3
// CHECK:           scf.for %{{.*}} = %c0 to %c160 step %c16
// CHECK:             scf.for %{{.*}} = %[[FROM]] to %{{.*}} step %c1
// CHECK:               scf.for %{{.*}} = %c0 to %c5 step %c1
func.func @images(%x: memref<9x5x5x320xf32>, %w: memref<10x320x16xf32>, %y: memref<9x5x5x160xf32, strided<[7840, 1120, 160, 1], offset: 1280>>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<9x5x5x320xf32>, memref<10x320x16xf32>) outs(%y : memref<9x5x5x160xf32, strided<[7840, 1120, 160, 1], offset: 1280>>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Data that the cache has room for stays in one piece.
#x = affine_map<(n, h, x, f, c) -> (n, h, x, c)>
#w = affine_map<(n, h, x, f, c) -> (f floordiv 16, c, f mod 16)>
#y = affine_map<(n, h, x, f, c) -> (n, h, x, f)>
// CHECK-LABEL: func.func @small
// CHECK:         scf.for %{{.*}} = %c0 to %c160 step %c16
// CHECK:           scf.for %{{.*}} = %c0 to %c2 step %c1
func.func @small(%x: memref<2x5x5x320xf32>, %w: memref<10x320x16xf32>, %y: memref<2x5x5x160xf32, strided<[7840, 1120, 160, 1], offset: 1280>>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x5x5x320xf32>, memref<10x320x16xf32>) outs(%y : memref<2x5x5x160xf32, strided<[7840, 1120, 160, 1], offset: 1280>>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
