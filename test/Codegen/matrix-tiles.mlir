// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 bf16-tiles=true int8-tiles=true threads=false},canonicalize,cse))' | FileCheck %s
// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 threads=false},canonicalize,cse))' | FileCheck %s --check-prefix=NONE
// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 bf16-tiles=true int8-tiles=true}),canonicalize,cse,strata-outline-tasks)' | FileCheck %s --check-prefix=TASK

// Without the unit, vectors compute the same.
// NONE-NOT:     amx.

// 40 rows are a pair of tiles of 14 and a third one by itself, 40 lanes a pair of tiles and the first 8 of a third one.
// CHECK-LABEL: func.func @product(
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 14 : i16
// CHECK-DAG:     %[[STEP:.*]] = arith.constant 16 : i16
// CHECK-DAG:     %[[BYTES:.*]] = arith.constant 64 : i16
// CHECK-COUNT-4: llvm.alloca
// CHECK:         %[[SCRATCH:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1024xf32>
// CHECK:         %[[IS_OVER:.*]] = arith.cmpi eq
// CHECK:         scf.if %[[IS_OVER]] {
// CHECK:           %[[IS_LAST:.*]] = arith.cmpi uge, %[[LANE:.*]], %c32
// CHECK:           scf.if %[[IS_LAST]] {
// CHECK:             "amx.tilezero"
// CHECK-NOT:         "amx.tilezero"
// CHECK:           } else {
// CHECK-COUNT-2:     "amx.tilezero"
// CHECK:         } else {
// CHECK:           scf.if
// CHECK-COUNT-2:     "amx.tilezero"
// CHECK-NOT:         "amx.tilezero"
// CHECK:           } else {
// CHECK-COUNT-4:     "amx.tilezero"(%[[ROWS]], %[[BYTES]])
// The reduction: 64 pairs, 16 at once.
// CHECK:             scf.for %{{.*}} = %c0 to %c64 step %c16
// CHECK-COUNT-4:       "amx.tileloadd64"
// CHECK:               %[[SUM:.*]] = "amx.tileloadd64"(%[[ROWS]], %[[BYTES]]
// CHECK:               "amx.tdpbf16ps"(%[[ROWS]], %[[BYTES]], %[[BYTES]], %[[SUM]]
// CHECK:               "amx.tilestored64"
// CHECK-COUNT-3:       "amx.tdpbf16ps"
// The sums of a row are added to what the results begin with.
// CHECK:         scf.for
// CHECK:           vector.load %[[SCRATCH]]
// CHECK:           arith.addf
// CHECK:           vector.store

#x = affine_map<(m, n, k, g) -> (m, k, g)>
#w = affine_map<(m, n, k, g) -> (n floordiv 32, k, n mod 32, g)>
#o = affine_map<(m, n, k, g) -> (m, n)>
func.func @product(%x: memref<40x64x2xbf16>, %w: memref<2x64x32x2xbf16>, %y: memref<40x40xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<40x64x2xbf16>, memref<2x64x32x2xbf16>) outs(%y : memref<40x40xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// Slots belong to the task, not to one of its parts.
// TASK-LABEL: func.func private @strata_task_0(
// TASK:         llvm.alloca
// TASK:         memref.alloca()
// TASK:         scf.for
// TASK-NOT:     {{llvm|memref}}.alloca{{ |\(}}
// TASK:         return
func.func @large(%x: memref<4096x64x2xbf16>, %w: memref<2x64x32x2xbf16>, %y: memref<4096x40xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<4096x64x2xbf16>, memref<2x64x32x2xbf16>) outs(%y : memref<4096x40xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// Four 8-bit integers are a group; unsigned data and signed weights have an instruction of their own.
// CHECK-LABEL: func.func @integers(
// CHECK:         "amx.tdpbusd"
// CHECK:         arith.addi
func.func @integers(%x: memref<40x32x4xi8>, %w: memref<2x32x32x4xi8>, %y: memref<40x40xi32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<40x32x4xi8>, memref<2x32x32x4xi8>) outs(%y : memref<40x40xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %1 = arith.extui %a : i8 to i32
    %2 = arith.extsi %b : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  }
  return
}

// Lines of 17 pixels that lie 19 apart: tiles of 16 go over all 16 * 19 + 17 pixels, whose last two tiles are moved back
// to end with them, and what follows is made of the parts of each line.
// CHECK-LABEL: func.func @borders(
// CHECK-DAG:     %[[LAST:.*]] = arith.constant 305 : index
// CHECK:         scf.for %[[FIRST:.*]] = %c0 to %c321 step %c32
// CHECK:           arith.minui %[[FIRST]], %[[LAST]]
// CHECK:           "amx.tdpbf16ps"
// CHECK:           scf.for %[[LINE:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK:             %[[BEGIN:.*]] = arith.muli %[[LINE]], %c19
// CHECK:             %[[FROM:.*]] = arith.maxui %{{.*}}, %[[BEGIN]]
// CHECK:             %[[END:.*]] = arith.addi %[[BEGIN]], %c17
// CHECK:             arith.minui %{{.*}}, %[[END]]
// CHECK:             scf.for
// CHECK:               vector.store
#window = affine_map<(h, w, n, p, q, k, g) -> (h + p, w + q, k, g)>
#filter = affine_map<(h, w, n, p, q, k, g) -> (n floordiv 32, p, q, k, n mod 32, g)>
#image = affine_map<(h, w, n, p, q, k, g) -> (h, w, n)>
func.func @borders(%x: memref<19x19x16x2xbf16>, %w: memref<1x3x3x16x32x2xbf16>, %y: memref<17x17x32xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#window, #filter, #image],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<19x19x16x2xbf16>, memref<1x3x3x16x32x2xbf16>) outs(%y : memref<17x17x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// Nobody knows how many images there are, perhaps one: rows are the pixels of a line, those of two lines at a time.
// CHECK-LABEL: func.func @images(
// CHECK:         %[[IMAGES:.*]] = memref.dim
// CHECK:         scf.for %{{.*}} = %c0 to %[[IMAGES]] step %c1
// CHECK:           scf.for %{{.*}} = %c0 to %c7 step %c2
// CHECK:             "amx.tdpbf16ps"(%c7_i16, %c64_i16, %c64_i16,
#pixels = affine_map<(i, h, w, n, k, g) -> (i, 2 * h, 2 * w, k, g)>
#matrix = affine_map<(i, h, w, n, k, g) -> (n floordiv 32, k, n mod 32, g)>
#results = affine_map<(i, h, w, n, k, g) -> (i, h, w, n)>
func.func @images(%x: memref<?x13x13x16x2xbf16>, %w: memref<1x16x32x2xbf16>, %y: memref<?x7x7x32xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#pixels, #matrix, #results],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<?x13x13x16x2xbf16>, memref<1x16x32x2xbf16>) outs(%y : memref<?x7x7x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// Lines of an unknown number of pixels, one behind the other, whose results have a border: rows are all pixels, of any
// line, and what follows is made of the parts of each line.
// CHECK-LABEL: func.func @lines(
// CHECK:         %[[H:.*]] = memref.dim %arg0, %c0
// CHECK:         %[[W:.*]] = memref.dim %arg0, %c1
// CHECK:         %[[PIXELS:.*]] = arith.muli %[[H]], %[[W]] : index
// CHECK:         arith.minui %[[PIXELS]], %c16
// CHECK:         scf.for %{{.*}} = %c0 to %[[PIXELS]] step %c32
// CHECK:           "amx.tdpbf16ps"
// CHECK:           arith.divui %{{.*}}, %[[W]]
// CHECK:           arith.ceildivui %{{.*}}, %[[W]]
// CHECK:           scf.for %[[LINE:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK:             %[[BEGIN:.*]] = arith.muli %[[LINE]], %[[W]]
// CHECK:             arith.addi %[[BEGIN]], %[[W]]
// CHECK:             scf.for
// CHECK:               vector.store
#point = affine_map<(h, w, n, k, g) -> (h, w, k, g)>
#points = affine_map<(h, w, n, k, g) -> (n floordiv 32, k, n mod 32, g)>
#bordered = affine_map<(h, w, n, k, g) -> (h, w, n)>
func.func @lines(%x: memref<?x?x16x2xbf16>, %w: memref<1x16x32x2xbf16>, %y: memref<?x?x32xf32, strided<[?, 32, 1], offset: ?>>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#point, #points, #bordered],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<?x?x16x2xbf16>, memref<1x16x32x2xbf16>) outs(%y : memref<?x?x32xf32, strided<[?, 32, 1], offset: ?>>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// Lines of 28 pixels would be two tiles of 14 each. Without a border between them, and with 32 steps, it pays to find the
// line of each row: the 784 pixels are 49 tiles of 16. With two steps it does not.
// CHECK-LABEL: func.func @deep(
// CHECK:         scf.for %{{.*}} = %c0 to %c784 step %c32
// CHECK:           "amx.tdpbf16ps"(%c16_i16,
// CHECK:           arith.divui %{{.*}}, %c28
// CHECK-LABEL: func.func @shallow(
// CHECK:         scf.for %{{.*}} = %c0 to %c28 step %c1
// CHECK:           "amx.tdpbf16ps"(%c14_i16,
func.func @deep(%x: memref<28x28x512x2xbf16>, %w: memref<1x512x32x2xbf16>, %y: memref<28x28x32xf32, strided<[960, 32, 1], offset: 992>>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#point, #points, #bordered],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<28x28x512x2xbf16>, memref<1x512x32x2xbf16>) outs(%y : memref<28x28x32xf32, strided<[960, 32, 1], offset: 992>>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}
func.func @shallow(%x: memref<28x28x32x2xbf16>, %w: memref<1x32x32x2xbf16>, %y: memref<28x28x32xf32, strided<[960, 32, 1], offset: 992>>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#point, #points, #bordered],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<28x28x32x2xbf16>, memref<1x32x32x2xbf16>) outs(%y : memref<28x28x32xf32, strided<[960, 32, 1], offset: 992>>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// One row uses each block of weights once: what it uses next is asked for a page ahead, all 32 lines of a step.
// CHECK-LABEL: func.func @once(
// CHECK:           scf.for
// CHECK:             scf.for %[[K:.*]] = %c0 to %c2048 step %c16
// CHECK:               %[[AHEAD:.*]] = arith.addi %[[FROM:.*]], %c2048
// CHECK:               memref.prefetch %{{.*}}[%[[AHEAD]]], read, locality<2>, data
// CHECK-COUNT-31:      memref.prefetch
// CHECK-NOT:           memref.prefetch
// CHECK:               "amx.tdpbf16ps"
func.func @once(%x: memref<1x2048x2xbf16>, %w: memref<4x2048x32x2xbf16>, %y: memref<1x128xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<1x2048x2xbf16>, memref<4x2048x32x2xbf16>) outs(%y : memref<1x128xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// Of weights that several tiles use, and the first level has no room for, the next step's 32 lines are asked for behind
// the loads of this one; so are the lines that one row of each tile writes: 16 rows in 16 steps.
// CHECK-LABEL: func.func @near(
// CHECK:           scf.for %[[K:.*]] = %c0 to %c256 step %c16
// CHECK-COUNT-4:     "amx.tileloadd64"
// CHECK-COUNT-32:    memref.prefetch %{{.*}}, read, locality<3>, data : memref<?xbf16
// CHECK-NOT:         memref.prefetch %{{.*}}, read
// CHECK:             %[[ROW:.*]] = arith.divui %[[K]], %c16
// CHECK:             %[[FIRST:.*]] = arith.addi %{{.*}}, %[[ROW]]
// CHECK:             arith.muli %[[FIRST]], %c1024
// CHECK-COUNT-4:     memref.prefetch %{{.*}}, write, locality<3>, data : memref<?xf32
// CHECK-NOT:         memref.prefetch
// CHECK-COUNT-4:     "amx.tdpbf16ps"
func.func @near(%x: memref<512x256x2xbf16>, %w: memref<32x256x32x2xbf16>, %y: memref<512x1024xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<512x256x2xbf16>, memref<32x256x32x2xbf16>) outs(%y : memref<512x1024xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// Every line has one tile, but all of them use a block of weights: the next step's 32 lines come near, and each tile
// brings two lines of the next block.
// CHECK-LABEL: func.func @tileOfLine(
// CHECK:           scf.for %[[BLOCK:.*]] = %c0 to %c128 step %c32
// CHECK:             scf.for %[[LINE:.*]] = %c0 to %c28 step %c1
// CHECK:               scf.for %{{.*}} = %c0 to %c768 step %c16
// CHECK:                 %[[SHARE:.*]] = arith.muli %[[LINE]], %c64
// CHECK:                 %[[AT:.*]] = arith.addi %{{.*}}, %[[SHARE]]
// CHECK-NEXT:            memref.prefetch %{{.*}}[%[[AT]]], read, locality<2>, data
// CHECK-COUNT-1:         memref.prefetch %{{.*}}, read, locality<2>, data
// CHECK-COUNT-32:        memref.prefetch %{{.*}}, read, locality<3>, data
// CHECK-NOT:             memref.prefetch %{{.*}}, read
// CHECK-COUNT-4:         "amx.tdpbf16ps"
#taps = affine_map<(h, w, n, i, j, k, g) -> (h + i, w + j, k, g)>
#tapWeights = affine_map<(h, w, n, i, j, k, g) -> (n floordiv 32, i, j, k, n mod 32, g)>
#tapPixels = affine_map<(h, w, n, i, j, k, g) -> (h, w, n)>
func.func @tileOfLine(%x: memref<30x30x256x2xbf16>, %w: memref<4x3x3x256x32x2xbf16>, %y: memref<28x28x128xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#taps, #tapWeights, #tapPixels],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<30x30x256x2xbf16>, memref<4x3x3x256x32x2xbf16>) outs(%y : memref<28x28x128xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// 40 pixels are three tiles of 14: each has a second in the next line.
// CHECK-LABEL: func.func @threeTiles(
// CHECK:           scf.for %[[LINE:.*]] = %c0 to %c20 step %c2
// CHECK:             scf.for %[[PIXEL:.*]] = %c0 to %c40 step %c14
// CHECK:               %[[FIRST:.*]] = arith.minui %[[PIXEL]], %c26
// CHECK:               %[[NEXT:.*]] = arith.addi %[[LINE]], %c1
// CHECK-COUNT-4:       "amx.tdpbf16ps"(%c14_i16
// CHECK-NOT:           "amx.tdpbf16ps"
func.func @threeTiles(%x: memref<22x42x16x2xbf16>, %w: memref<1x3x3x16x32x2xbf16>, %y: memref<20x40x32xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#taps, #tapWeights, #tapPixels],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<22x42x16x2xbf16>, memref<1x3x3x16x32x2xbf16>) outs(%y : memref<20x40x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// Of an unknown number of rows, too, tiles bring shares of the next block, or what comes a page ahead if one is all there
// is. Its second half is left out where the first has all rows.
// CHECK-LABEL: func.func @unknown(
// CHECK:           %[[FIRST:.*]] = arith.minui
// CHECK:           %[[OVER:.*]] = arith.cmpi eq
// CHECK:           scf.if %[[OVER]] {
// CHECK:             scf.for %{{.*}} = %c0 to %c2048 step %c16
// CHECK:               %[[NEXT:.*]] = arith.select
// CHECK:               scf.for %[[I:.*]] = %c0 to %{{.*}} step %c32
// CHECK-NEXT:            %[[AT:.*]] = arith.addi %[[NEXT]], %[[I]]
// CHECK-NEXT:            memref.prefetch %{{.*}}[%[[AT]]], read, locality<2>, data
// CHECK-COUNT-2:       "amx.tdpbf16ps"
// CHECK-NOT:           "amx.tdpbf16ps"
// CHECK:           } else {
// CHECK-COUNT-4:       "amx.tdpbf16ps"
func.func @unknown(%x: memref<?x2048x2xbf16>, %w: memref<4x2048x32x2xbf16>, %y: memref<?x128xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<?x2048x2xbf16>, memref<4x2048x32x2xbf16>) outs(%y : memref<?x128xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// Keys of an unknown number, in whole blocks: the blocks stay a loop of their own, so that a tile has 16 pairs.
// CHECK-LABEL: func.func @keys(
// CHECK:         %[[BLOCKS:.*]] = memref.dim %arg1, %c1
// CHECK:           scf.for %{{.*}} = %c0 to %[[BLOCKS]] step %c1
// CHECK-NOT:         scf.for
// CHECK-COUNT-4:     "amx.tdpbf16ps"(%c16_i16, %c64_i16, %c64_i16,
#weights = affine_map<(m, n, b, k, g) -> (m, (b * 16 + k) * 2 + g)>
#keys = affine_map<(m, n, b, k, g) -> (n floordiv 32, b, k, n mod 32, g)>
#sums = affine_map<(m, n, b, k, g) -> (m, n)>
func.func @keys(%x: memref<64x?xbf16>, %w: memref<2x?x16x32x2xbf16>, %y: memref<64x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#weights, #keys, #sums],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<64x?xbf16>, memref<2x?x16x32x2xbf16>) outs(%y : memref<64x64xf32>) attrs = {strata.padded_keys} {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// In a loop over blocks of rows: what a block needs on the stack is there before the loop.
// CHECK-LABEL: func.func @rows(
// CHECK-COUNT-4: llvm.alloca
// CHECK:         memref.alloca()
// CHECK:         scf.for
// CHECK-NOT:     {{llvm|memref}}.alloca{{ |\(}}
// CHECK:           "amx.tdpbf16ps"
// CHECK-NOT:     {{llvm|memref}}.alloca{{ |\(}}
func.func @rows(%x: memref<256x32xbf16>, %w: memref<1x16x32x2xbf16>, %y: memref<256x32xf32>) attributes {strata.kernel} {
  scf.forall (%i) = (0) to (256) step (32) {
    %a = memref.subview %x[%i, 0] [32, 32] [1, 1] : memref<256x32xbf16> to memref<32x32xbf16, strided<[32, 1], offset: ?>>
    %b = memref.subview %y[%i, 0] [32, 32] [1, 1] : memref<256x32xf32> to memref<32x32xf32, strided<[32, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(m, n, k, g) -> (m, k * 2 + g)>, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%a, %w : memref<32x32xbf16, strided<[32, 1], offset: ?>>, memref<1x16x32x2xbf16>) outs(%b : memref<32x32xf32, strided<[32, 1], offset: ?>>)
        attrs = {strata.nest = 0} {
    ^bb0(%p: bf16, %q: bf16, %s: f32):
      %1 = arith.extf %p : bf16 to f32
      %2 = arith.extf %q : bf16 to f32
      %3 = arith.mulf %1, %2 : f32
      %4 = arith.addf %s, %3 : f32
      linalg.yield %4 : f32
    }
  }
  return
}

// Two products in one loop: the unit is configured once, for eight registers, so both take eight groups at once, where
// each by itself would take twelve and sixteen.
// CHECK-LABEL: func.func @one_shape(
// CHECK:         scf.for %{{.*}} = %c0 to %c24 step %c8
// CHECK-COUNT-4:   "amx.tdpbf16ps"
// CHECK:         scf.for %{{.*}} = %c0 to %c32 step %c8
// CHECK-COUNT-4:   "amx.tdpbf16ps"
func.func @one_shape(%x: memref<256x48xbf16>, %z: memref<256x64xbf16>, %w: memref<1x24x32x2xbf16>, %v: memref<1x32x32x2xbf16>,
                     %y: memref<256x32xf32>, %u: memref<256x32xf32>) attributes {strata.kernel} {
  scf.forall (%i) = (0) to (256) step (32) {
    %a = memref.subview %x[%i, 0] [32, 48] [1, 1] : memref<256x48xbf16> to memref<32x48xbf16, strided<[48, 1], offset: ?>>
    %b = memref.subview %y[%i, 0] [32, 32] [1, 1] : memref<256x32xf32> to memref<32x32xf32, strided<[32, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(m, n, k, g) -> (m, k * 2 + g)>, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%a, %w : memref<32x48xbf16, strided<[48, 1], offset: ?>>, memref<1x24x32x2xbf16>) outs(%b : memref<32x32xf32, strided<[32, 1], offset: ?>>)
        attrs = {strata.nest = 0} {
    ^bb0(%p: bf16, %q: bf16, %s: f32):
      %1 = arith.extf %p : bf16 to f32
      %2 = arith.extf %q : bf16 to f32
      %3 = arith.mulf %1, %2 : f32
      %4 = arith.addf %s, %3 : f32
      linalg.yield %4 : f32
    }
    %c = memref.subview %z[%i, 0] [32, 64] [1, 1] : memref<256x64xbf16> to memref<32x64xbf16, strided<[64, 1], offset: ?>>
    %d = memref.subview %u[%i, 0] [32, 32] [1, 1] : memref<256x32xf32> to memref<32x32xf32, strided<[32, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(m, n, k, g) -> (m, k * 2 + g)>, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%c, %v : memref<32x64xbf16, strided<[64, 1], offset: ?>>, memref<1x32x32x2xbf16>) outs(%d : memref<32x32xf32, strided<[32, 1], offset: ?>>)
        attrs = {strata.nest = 1} {
    ^bb0(%p: bf16, %q: bf16, %s: f32):
      %1 = arith.extf %p : bf16 to f32
      %2 = arith.extf %q : bf16 to f32
      %3 = arith.mulf %1, %2 : f32
      %4 = arith.addf %s, %3 : f32
      linalg.yield %4 : f32
    }
  }
  return
}

// A long last stage lets the unit fall asleep: between the rows of the first tile and those of the second it multiplies
// nothing, and that goes behind the sums; between fewer rows where there is more to compute.
// CHECK-LABEL: func.func @awake(
// CHECK:         %[[SUMS:.*]] = memref.alloc{{.*}} : memref<{{.*}}xf32>
// CHECK-COUNT-4: amx.tilestored64
// CHECK:         scf.for
// CHECK:           math.exp
// CHECK:         "amx.tilezero"
// CHECK:         "amx.tilezero"
// CHECK:         "amx.tilezero"
// CHECK:         %[[NOTHING:.*]] = "amx.tdpbf16ps"
// CHECK:         "amx.tilestored64"({{.*}}, %[[NOTHING]])
// CHECK:         scf.for
// CHECK:           math.exp
// CHECK-NOT:     amx.tdpbf16ps
// CHECK:         return
// CHECK-LABEL: func.func @wide_awake(
// CHECK-COUNT-4: amx.tilestored64
// CHECK:         scf.for {{.*}} step %c4
// CHECK:           scf.for {{.*}} step %c2
// CHECK:             math.exp
// CHECK:           "amx.tdpbf16ps"
// CHECK:         scf.for {{.*}} step %c4
// CHECK:           "amx.tdpbf16ps"
// CHECK-NOT:     amx.tdpbf16ps
// CHECK:         return
func.func @awake(%x: memref<64x32x2xbf16>, %w: memref<1x32x32x2xbf16>, %y: memref<64x32xf32>) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %sums = memref.alloc() : memref<64x32xf32>
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%sums : memref<64x32xf32>) {
  ^bb0(%s: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, k, p) -> (m, k, p)>, affine_map<(m, n, k, p) -> (n floordiv 32, k, n mod 32, p)>, affine_map<(m, n, k, p) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<64x32x2xbf16>, memref<1x32x32x2xbf16>) outs(%sums : memref<64x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<64x32xf32>) outs(%y : memref<64x32xf32>) {
  ^bb0(%s: f32, %o: f32):
    %0 = arith.negf %s : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %s, %2 : f32
    linalg.yield %3 : f32
  }
  memref.dealloc %sums : memref<64x32xf32>
  return
}
func.func @wide_awake(%x: memref<64x32x2xbf16>, %w: memref<1x32x32x2xbf16>, %y: memref<64x32xf32>) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %sums = memref.alloc() : memref<64x32xf32>
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%sums : memref<64x32xf32>) {
  ^bb0(%s: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, k, p) -> (m, k, p)>, affine_map<(m, n, k, p) -> (n floordiv 32, k, n mod 32, p)>, affine_map<(m, n, k, p) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<64x32x2xbf16>, memref<1x32x32x2xbf16>) outs(%sums : memref<64x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<64x32xf32>) outs(%y : memref<64x32xf32>) {
  ^bb0(%s: f32, %o: f32):
    %0 = arith.negf %s : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %s, %2 : f32
    %4 = math.tanh %3 : f32
    %5 = math.log1p %2 : f32
    %6 = math.erf %5 : f32
    %7 = arith.divf %4, %6 : f32
    linalg.yield %7 : f32
  }
  memref.dealloc %sums : memref<64x32xf32>
  return
}
