// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-pack-weights{vector-bits=512 registers=32 bf16-tiles=true int8-tiles=true cache-bytes=2097152 near-cache-bytes=8192}))' | FileCheck %s
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-pack-weights{vector-bits=512 registers=32 bf16-tiles=true int8-tiles=true cache-bytes=2097152 near-cache-bytes=49152}))' | FileCheck %s --check-prefix=NEAR

// What passes between two taps, 32 rows and 32 lanes of 64 channels, is 8 KB: a first level of 48 KB keeps it, one of
// 8 KB does not. 64 channels in pairs are two steps of a matrix unit: the taps of a line go within the loop over these,
// also as the weights lie: [blocks of lanes, taps down, steps, taps across, pairs of a step, lanes, a pair].
#x = affine_map<(h, w, f, i, j, c, g) -> (h + i, w + j, c, g)>
#w = affine_map<(h, w, f, i, j, c, g) -> (f, c, g, i, j)>
#y = affine_map<(h, w, f, i, j, c, g) -> (h, w, f)>
// CHECK-DAG:   #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0 + d3, d1 + d4, d5, d7, d6)>
// CHECK-DAG:   #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d2 floordiv 32, d3, d5, d4, d7, d2 mod 32, d6)>
// NEAR-LABEL:  func.func @taps(
// NEAR:          linalg.generic {{.*}} ins(%{{.*}} : tensor<10x10x32x2xbf16>, tensor<2x3x3x32x32x2xbf16>)
// CHECK-LABEL: func.func @taps(
// CHECK-SAME:    %[[GIVEN:[^:]*]]: tensor<10x10x32x2xbf16>
// CHECK:         %[[DATA:.*]] = tensor.expand_shape %[[GIVEN]] {{\[\[}}0], [1], [2, 3], [4]] {{.*}} into tensor<10x10x2x16x2xbf16>
// CHECK:         linalg.generic {indexing_maps = [#[[X]], #[[W]], #{{.*}}], {{.*}}} ins(%[[DATA]], %{{.*}} : tensor<10x10x2x16x2xbf16>, tensor<2x3x2x3x16x32x2xbf16>)
func.func @taps(%x: tensor<10x10x32x2xbf16>, %start: tensor<8x8x64xf32>) -> tensor<8x8x64xf32> {
  %w = arith.constant dense<0.5> : tensor<64x32x2x3x3xbf16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<10x10x32x2xbf16>, tensor<64x32x2x3x3xbf16>) outs(%start : tensor<8x8x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x8x64xf32>
  return %0 : tensor<8x8x64xf32>
}

// -----

// Bytes are four to a group: 128 channels are two steps. Every other pixel is a window's first.
#x = affine_map<(h, w, f, i, j, c, g) -> (2 * h + i, 2 * w + j, c, g)>
#w = affine_map<(h, w, f, i, j, c, g) -> (f, c, g, i, j)>
#y = affine_map<(h, w, f, i, j, c, g) -> (h, w, f)>
// CHECK-LABEL: func.func @bytes(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<17x17x2x16x4xi8>, tensor<2x3x2x3x16x32x4xi8>)
func.func @bytes(%x: tensor<17x17x32x4xi8>, %start: tensor<8x8x64xi32>) -> tensor<8x8x64xi32> {
  %w = arith.constant dense<3> : tensor<64x32x4x3x3xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<17x17x32x4xi8>, tensor<64x32x4x3x3xi8>) outs(%start : tensor<8x8x64xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %p = arith.extsi %a : i8 to i32
    %q = arith.extsi %b : i8 to i32
    %m = arith.muli %p, %q : i32
    %s = arith.addi %c, %m : i32
    linalg.yield %s : i32
  } -> tensor<8x8x64xi32>
  return %0 : tensor<8x8x64xi32>
}

// -----

// One tap across, taps that share few rows, or channels of one step: as they are. A step and a half are two smaller ones.
#x = affine_map<(h, w, f, i, j, c, g) -> (h + i, w + j, c, g)>
#far = affine_map<(h, w, f, i, j, c, g) -> (h + 12 * i, w + 12 * j, c, g)>
#w = affine_map<(h, w, f, i, j, c, g) -> (f, c, g, i, j)>
#y = affine_map<(h, w, f, i, j, c, g) -> (h, w, f)>
// CHECK-LABEL: func.func @others(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<10x8x32x2xbf16>, tensor<2x3x1x32x32x2xbf16>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<32x32x32x2xbf16>, tensor<2x3x3x32x32x2xbf16>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<10x10x16x2xbf16>, tensor<2x3x3x16x32x2xbf16>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<10x10x2x12x2xbf16>, tensor<2x3x2x3x12x32x2xbf16>)
func.func @others(%x: tensor<10x8x32x2xbf16>, %y: tensor<10x10x16x2xbf16>, %z: tensor<10x10x24x2xbf16>, %far: tensor<32x32x32x2xbf16>,
                  %start: tensor<8x8x64xf32>) -> (tensor<8x8x64xf32>, tensor<8x8x64xf32>, tensor<8x8x64xf32>, tensor<8x8x64xf32>) {
  %v = arith.constant dense<0.5> : tensor<64x32x2x3x1xbf16>
  %w = arith.constant dense<0.5> : tensor<64x16x2x3x3xbf16>
  %u = arith.constant dense<0.5> : tensor<64x24x2x3x3xbf16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %v : tensor<10x8x32x2xbf16>, tensor<64x32x2x3x1xbf16>) outs(%start : tensor<8x8x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x8x64xf32>
  %d = arith.constant dense<0.5> : tensor<64x32x2x3x3xbf16>
  %3 = linalg.generic {indexing_maps = [#far, #w, #y],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%far, %d : tensor<32x32x32x2xbf16>, tensor<64x32x2x3x3xbf16>) outs(%start : tensor<8x8x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x8x64xf32>
  %1 = linalg.generic {indexing_maps = [#x, #w, #y],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%y, %w : tensor<10x10x16x2xbf16>, tensor<64x16x2x3x3xbf16>) outs(%start : tensor<8x8x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x8x64xf32>
  %2 = linalg.generic {indexing_maps = [#x, #w, #y],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%z, %u : tensor<10x10x24x2xbf16>, tensor<64x24x2x3x3xbf16>) outs(%start : tensor<8x8x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x8x64xf32>
  return %0, %1, %2, %3 : tensor<8x8x64xf32>, tensor<8x8x64xf32>, tensor<8x8x64xf32>, tensor<8x8x64xf32>
}
