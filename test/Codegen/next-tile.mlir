// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=256 registers=16 fma=true threads=false cache-bytes=524288},cse))' | FileCheck %s

// A depthwise window over a large image, 8 pixels of 8 channels at a time: the eight of each line that the next tile is the
// first to read are asked for, and those that it writes.
#data = affine_map<(n, y, x, c, i, j) -> (n, y + i, x + j, c)>
#taps = affine_map<(n, y, x, c, i, j) -> (i, j, c)>
#out = affine_map<(n, y, x, c, i, j) -> (n, y, x, c)>
// CHECK-LABEL: func.func @large_image
// CHECK-COUNT-8: memref.prefetch %{{.*}}, read, locality<3>
// CHECK-NOT:     read
// CHECK-COUNT-8: memref.prefetch %{{.*}}, write, locality<3>
// CHECK-NOT:     prefetch
func.func @large_image(%x: memref<1x114x122x96xf32>, %w: memref<3x3x96xf32>, %y: memref<1x112x120x96xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#data, #taps, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<1x114x122x96xf32>, memref<3x3x96xf32>) outs(%y : memref<1x112x120x96xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// What is in the second level, or near it, hardware brings in time.
#data = affine_map<(n, y, x, c, i, j) -> (n, y + i, x + j, c)>
#taps = affine_map<(n, y, x, c, i, j) -> (i, j, c)>
#out = affine_map<(n, y, x, c, i, j) -> (n, y, x, c)>
// CHECK-LABEL: func.func @small_image
// CHECK-NOT:     prefetch
func.func @small_image(%x: memref<1x30x58x96xf32>, %w: memref<3x3x96xf32>, %y: memref<1x28x56x96xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#data, #taps, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<1x30x58x96xf32>, memref<3x3x96xf32>) outs(%y : memref<1x28x56x96xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Lines of few tiles: while one is computed, the next one is asked for, which lies 2880 elements behind the three that the
// windows read, and 2688 behind what is written.
#data = affine_map<(n, y, x, c, i, j) -> (n, y + i, x + j, c)>
#taps = affine_map<(n, y, x, c, i, j) -> (i, j, c)>
#out = affine_map<(n, y, x, c, i, j) -> (n, y, x, c)>
// CHECK-LABEL: func.func @short_lines
// CHECK-DAG:     %[[LINES:.*]] = arith.constant 8640 : index
// CHECK-DAG:     %[[LINE:.*]] = arith.constant 2688 : index
// CHECK:         %[[NEXT:.*]] = arith.addi %[[AT:.*]], %[[LINES]] : index
// CHECK-NEXT:    memref.prefetch %{{.*}}[%[[NEXT]]], read, locality<3>
// CHECK-COUNT-6: memref.prefetch %{{.*}}, read, locality<3>
// CHECK-NOT:     read, locality<3>
// CHECK:         %[[NEXT:.*]] = arith.addi %[[AT:.*]], %[[LINE]] : index
// CHECK-NEXT:    memref.prefetch %{{.*}}[%[[NEXT]]], write, locality<3>
// CHECK-NEXT:    vector.store %{{.*}}, %{{.*}}[%[[AT]]]
func.func @short_lines(%x: memref<8x30x30x96xf32>, %w: memref<3x3x96xf32>, %y: memref<8x28x28x96xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#data, #taps, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<8x30x30x96xf32>, memref<3x3x96xf32>) outs(%y : memref<8x28x28x96xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Few channels become many: what is written is most of the work. What is read is read in order.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @many_results
// CHECK-NOT:     prefetch {{.*}}, read
// CHECK:         memref.prefetch %{{.*}}, write, locality<3>
func.func @many_results(%x: memref<12544x16xf32>, %w: memref<4x16x16xf32>, %y: memref<12544x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<12544x16xf32>, memref<4x16x16xf32>) outs(%y : memref<12544x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Many channels become few: one tile of lanes is all that reads a row, so the next tile's rows are asked for meanwhile.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @few_results
// CHECK:         memref.prefetch %{{.*}}, read, locality<2>
// CHECK-NOT:     prefetch {{.*}}, write
func.func @few_results(%x: memref<23040x64xf32>, %w: memref<64x8xf32>, %y: memref<23040x8xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<23040x64xf32>, memref<64x8xf32>) outs(%y : memref<23040x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// With the channels of an image as rows, the vectors of 16 pixels are copied, and lie far apart: what the next block
// copies is asked for, and where it writes. There is a stream for each channel. A block need not begin with a line: its
// last pixel is in the line that is new.
#x = affine_map<(n, f, p, c) -> (n, c, p)>
#w = affine_map<(n, f, p, c) -> (f, c)>
#y = affine_map<(n, f, p, c) -> (n, f, p)>
// CHECK-LABEL: func.func @channels_first
// CHECK-NOT:     prefetch
// CHECK:         %[[NEXT:.*]] = arith.addi %[[AT:.*]], %c31 : index
// CHECK-NEXT:    memref.prefetch %{{.*}}[%[[NEXT]]], read, locality<3>
// CHECK-NEXT:    vector.load %{{.*}}[%[[AT]]]
// CHECK:         memref.prefetch %{{.*}}, write, locality<3>
// CHECK-NEXT:    vector.store
// CHECK-NEXT:    vector.store
// CHECK-NEXT:    %[[NEXT:.*]] = arith.addi %[[AT:.*]], %c16 : index
// CHECK-NEXT:    memref.prefetch %{{.*}}[%[[NEXT]]], write, locality<3>
// CHECK-NEXT:    vector.store %{{.*}}, %{{.*}}[%[[AT]]]
func.func @channels_first(%x: memref<6x64x3840xf32>, %w: memref<64x64xf32>, %y: memref<6x64x3840xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<6x64x3840xf32>, memref<64x64xf32>) outs(%y : memref<6x64x3840xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Of many channels, the next block comes to the second level, and the first one gets what some steps later read.
#x = affine_map<(n, f, p, c) -> (n, c, p)>
#w = affine_map<(n, f, p, c) -> (f, c)>
#y = affine_map<(n, f, p, c) -> (n, f, p)>
// CHECK-LABEL: func.func @many_channels
// CHECK:         %[[NEXT:.*]] = arith.addi %[[AT:.*]], %c31 : index
// CHECK-NEXT:    memref.prefetch %{{.*}}[%[[NEXT]]], read, locality<2>
// CHECK:         %[[LATER:.*]] = arith.addi %[[AT]], %{{.*}} : index
// CHECK-NEXT:    memref.prefetch %{{.*}}[%[[LATER]]], read, locality<3>
// CHECK-NEXT:    vector.load %{{.*}}[%[[AT]]]
func.func @many_channels(%x: memref<2x512x4480xf32>, %w: memref<8x512xf32>, %y: memref<2x8x4480xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x512x4480xf32>, memref<8x512xf32>) outs(%y : memref<2x8x4480xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Three filters are one tile, which copies nothing and reads each channel once.
#x = affine_map<(n, f, p, c) -> (n, c, p)>
#w = affine_map<(n, f, p, c) -> (f, c)>
#y = affine_map<(n, f, p, c) -> (n, f, p)>
// CHECK-LABEL: func.func @few_filters
// CHECK:         %[[NEXT:.*]] = arith.addi %[[AT:.*]], %c31 : index
// CHECK-NEXT:    memref.prefetch %{{.*}}[%[[NEXT]]], read, locality<3>
// CHECK-NEXT:    vector.load %{{.*}}[%[[AT]]]
func.func @few_filters(%x: memref<4x80x5376xf32>, %w: memref<3x80xf32>, %y: memref<4x3x5376xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<4x80x5376xf32>, memref<3x80xf32>) outs(%y : memref<4x3x5376xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
