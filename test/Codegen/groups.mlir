// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-pack-weights{vector-bits=512 registers=32 part-loads=true}),canonicalize)' | FileCheck %s --check-prefix=PACK
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-pack-weights{vector-bits=256}),canonicalize)' | FileCheck %s --check-prefix=ALONE
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 part-loads=true threads=false},canonicalize,cse))' | FileCheck %s

// A convolution in 8 groups of 4 channels and 4 filters: a vector of 16 lanes has those of 4 groups, so their weights lie
// together.
// PACK-DAG:    #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d3 floordiv 4, d5, d6, d7, d3 mod 4, d4)>
// PACK-LABEL:  func.func @weights(
// PACK:          linalg.transpose {{.*}} outs(%{{.*}} : tensor<2x3x3x4x4x4xf32>) permutation = [0, 4, 5, 3, 1, 2]
// PACK:          linalg.generic {indexing_maps = [#{{.*}}, #[[W]], #{{.*}}]
// Where vectors cannot load a part of their lanes, each group is for itself.
// ALONE-DAG:   #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d3, d5, d6, d7, d4)>
// ALONE-LABEL: func.func @weights(
// ALONE:         linalg.generic {indexing_maps = [#{{.*}}, #[[W]], #{{.*}}]
ml_program.global private @w(dense_resource<w> : tensor<8x4x4x3x3xf32>) : tensor<8x4x4x3x3xf32>
func.func @weights(%x: tensor<1x16x16x8x4xf32>, %sums: tensor<1x14x14x8x4xf32>) -> tensor<1x14x14x8x4xf32> {
  %w = ml_program.global_load_const @w : tensor<8x4x4x3x3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, h, w, g, f, kh, kw, c) -> (n, h + kh, w + kw, g, c)>, affine_map<(n, h, w, g, f, kh, kw, c) -> (g, f, c, kh, kw)>, affine_map<(n, h, w, g, f, kh, kw, c) -> (n, h, w, g, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x16x16x8x4xf32>, tensor<8x4x4x3x3xf32>) outs(%sums : tensor<1x14x14x8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x14x14x8x4xf32>
  return %0 : tensor<1x14x14x8x4xf32>
}

// -----

// 14 pixels of 16 results each: what is loaded of one pixel is a number for each of four groups, and serves three rows.
// CHECK-LABEL: func.func @four_groups(
// CHECK-DAG:     %[[MASK:.*]] = arith.constant dense<[true, false, false, false, true, false, false, false, true, false, false, false, true, false, false, false]>
// CHECK:         scf.for %{{.*}} -> (vector<16xf32>, vector<16xf32>
// CHECK-COUNT-3:   vector.load {{.*}} vector<16xf32>
// CHECK-NOT:       vector.load
// CHECK:           %[[LOADED:.*]] = vector.maskedload %{{.*}}, %[[MASK]], %{{.*}} : {{.*}} into vector<16xi32>
// CHECK:           %[[NUMBERS:.*]] = vector.bitcast %[[LOADED]]
// CHECK:           %[[X:.*]] = vector.shuffle %[[NUMBERS]], %[[NUMBERS]] [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12]
// CHECK:           math.fma %[[X]]
// CHECK-NOT:       linalg.generic
func.func @four_groups(%x: memref<1x16x16x8x4xf32>, %w: memref<2x3x3x4x4x4xf32>, %y: memref<1x14x14x8x4xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(n, h, w, g, f, kh, kw, c) -> (n, h + kh, w + kw, g, c)>, affine_map<(n, h, w, g, f, kh, kw, c) -> (g floordiv 4, kh, kw, c, g mod 4, f)>, affine_map<(n, h, w, g, f, kh, kw, c) -> (n, h, w, g, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x16x16x8x4xf32>, memref<2x3x3x4x4x4xf32>) outs(%y : memref<1x14x14x8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// -----

// Of two groups, each is loaded to all lanes, and a mask chooses.
// CHECK-LABEL: func.func @two_groups(
// CHECK-DAG:     %[[FIRST:.*]] = arith.constant dense<[true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false]>
// CHECK:         scf.for
// CHECK:           %[[B:.*]] = vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK:           %[[A:.*]] = vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK:           arith.select %[[FIRST]], %[[A]], %[[B]] : vector<16xi1>, vector<16xf32>
// CHECK-NOT:     linalg.generic
func.func @two_groups(%x: memref<1x16x16x2x8xf32>, %w: memref<1x3x3x8x2x8xf32>, %y: memref<1x14x14x2x8xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(n, h, w, g, f, kh, kw, c) -> (n, h + kh, w + kw, g, c)>, affine_map<(n, h, w, g, f, kh, kw, c) -> (g floordiv 2, kh, kw, c, g mod 2, f)>, affine_map<(n, h, w, g, f, kh, kw, c) -> (n, h, w, g, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x16x16x2x8xf32>, memref<1x3x3x8x2x8xf32>) outs(%y : memref<1x14x14x2x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  }
  return
}
