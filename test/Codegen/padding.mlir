// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-pack-weights{vector-bits=512 registers=32}))' | FileCheck %s
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(strata-tiled-phase{cpu=skylake-avx512},strata-buffers-phase{cpu=skylake-avx512},strata-vector-phase{cpu=skylake-avx512})' | FileCheck %s --check-prefix=LOOPS

// With a dilation of 12, most taps of most rows lie in the padding: loop 1 over rows, loop 4 over taps, strides 1 and
// 12, the data behind 12 rows of zeros; and so with loops 2 and 5 over columns. The 14 columns are one tile: there is code
// for each tap, of the two first columns of the image, of all, and of the two last ones.
#x = affine_map<(n, h, w, f, kh, kw, c) -> (n, h + kh * 12, w + kw * 12, c)>
#w = affine_map<(n, h, w, f, kh, kw, c) -> (kh, kw, c, f)>
#y = affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>
// CHECK-LABEL: func.func @dilated(
// CHECK:         linalg.generic
// CHECK-SAME:      strata.inside = array<i64: 1, 4, 1, 12, 12, 14, 2, 5, 1, 12, 12, 14>
// LOOPS-LABEL: func.func private @strata_task_0(
// LOOPS:         %[[LOW:.*]] = arith.subi %c12, %[[ROW:.*]] : index
// LOOPS:         %[[DISTANCE:.*]] = arith.maxsi %[[LOW]], %c0
// LOOPS:         %[[FROM:.*]] = arith.ceildivui %[[DISTANCE]], %c12
// LOOPS:         arith.subi %c26, %[[ROW]]
// LOOPS:         %[[TO:.*]] = arith.minui %{{.*}}, %c3
// LOOPS:         %{{.*}}:28 = scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %c1
// LOOPS-NEXT:      %{{.*}}:4 = scf.for %{{.*}} = %c0 to %c32
// LOOPS:           %{{.*}}:28 = scf.for %{{.*}} = %c0 to %c32
// LOOPS:           %{{.*}}:4 = scf.for %{{.*}} = %c0 to %c32
// LOOPS-NOT:       scf.for
// LOOPS:         scf.yield
func.func @dilated(%x: tensor<1x14x14x32xf32>, %start: tensor<1x14x14x32xf32>) -> tensor<1x14x14x32xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<3x3x32x32xf32>
  %p = tensor.pad %x low[0, 12, 12, 0] high[0, 12, 12, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x14x14x32xf32> to tensor<1x38x38x32xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x38x38x32xf32>, tensor<3x3x32x32xf32>) outs(%start : tensor<1x14x14x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x14x14x32xf32>
  return %0 : tensor<1x14x14x32xf32>
}

// -----

// Zero times an infinite weight is a number to keep.
#x = affine_map<(n, h, w, f, kh, kw, c) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, kh, kw, c) -> (kh, kw, c, f)>
#y = affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>
// CHECK-LABEL: func.func @infinite(
// CHECK-NOT:     strata.inside
// LOOPS:         func.func
func.func @infinite(%x: tensor<1x7x7x32xf32>, %start: tensor<1x7x7x32xf32>) -> tensor<1x7x7x32xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0x7f800000> : tensor<3x3x32x32xf32>
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x7x7x32xf32> to tensor<1x9x9x32xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x9x9x32xf32>, tensor<3x3x32x32xf32>) outs(%start : tensor<1x7x7x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x7x7x32xf32>
  return %0 : tensor<1x7x7x32xf32>
}

// -----

// Two rows of 58 are not worth it.
#x = affine_map<(n, h, w, f, kh, kw, c) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, kh, kw, c) -> (kh, kw, c, f)>
#y = affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     strata.inside
// LOOPS:         func.func
func.func @few(%x: tensor<1x56x56x8xf32>, %start: tensor<1x56x56x32xf32>) -> tensor<1x56x56x32xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<3x3x8x32xf32>
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x56x56x8xf32> to tensor<1x58x58x8xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x58x58x8xf32>, tensor<3x3x8x32xf32>) outs(%start : tensor<1x56x56x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x56x56x32xf32>
  return %0 : tensor<1x56x56x32xf32>
}

// -----

// Of a line in four tiles of 21 columns, the first one and the last one leave the 9 products with padding out; those
// between them have none. Each element of the data is loaded once for the taps of all columns that read it.
#x = affine_map<(n, h, w, c, kh, kw) -> (n, h + kh, w + kw * 3, c)>
#w = affine_map<(n, h, w, c, kh, kw) -> (kh, kw, c)>
#y = affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>
// CHECK-LABEL: func.func @tiles(
// CHECK:         strata.inside = array<i64: 1, 4, 1, 1, 2, 8, 2, 5, 1, 3, 6, 84>
// LOOPS-LABEL: func.func @tiles(
// LOOPS:         func.func private @strata_task_0(
// LOOPS:         %{{.*}}:21 = scf.for %{{.*}} = %[[FROM:.*]] to %[[TO:.*]] step %c1
// LOOPS-COUNT-96:  math.fma
// LOOPS-NEXT:      scf.yield
// LOOPS:         scf.for %{{.*}} = %c21 to %c63 step %c21
// LOOPS:           %{{.*}}:21 = scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %c1
// LOOPS-COUNT-105:   math.fma
// LOOPS-NEXT:        scf.yield
// LOOPS:         %{{.*}}:21 = scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %c1
// LOOPS-COUNT-96:  math.fma
// LOOPS-NEXT:      scf.yield
func.func @tiles(%x: tensor<1x8x84x16xf32>, %start: tensor<1x8x84x16xf32>) -> tensor<1x8x84x16xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<5x5x16xf32>
  %p = tensor.pad %x low[0, 2, 6, 0] high[0, 2, 6, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x8x84x16xf32> to tensor<1x12x96x16xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x12x96x16xf32>, tensor<5x5x16xf32>) outs(%start : tensor<1x8x84x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x8x84x16xf32>
  return %0 : tensor<1x8x84x16xf32>
}

// -----

// Weights of 16 bits that are extended.
// CHECK-LABEL: func.func @halves(
// CHECK:         strata.inside
// LOOPS:         func.func
#x = affine_map<(n, h, w, f, kh, kw, c) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, kh, kw, c) -> (kh, kw, c, f)>
#y = affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>
#all = affine_map<(i, j, k, l) -> (i, j, k, l)>
func.func @halves(%x: tensor<1x7x7x32xf32>, %start: tensor<1x7x7x32xf32>) -> tensor<1x7x7x32xf32> {
  %zero = arith.constant 0.0 : f32
  %h = arith.constant dense<0.5> : tensor<3x3x32x32xf16>
  %e = tensor.empty() : tensor<3x3x32x32xf32>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%h : tensor<3x3x32x32xf16>) outs(%e : tensor<3x3x32x32xf32>) {
  ^bb0(%a: f16, %o: f32):
    %1 = arith.extf %a : f16 to f32
    linalg.yield %1 : f32
  } -> tensor<3x3x32x32xf32>
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x7x7x32xf32> to tensor<1x9x9x32xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x9x9x32xf32>, tensor<3x3x32x32xf32>) outs(%start : tensor<1x7x7x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x7x7x32xf32>
  return %0 : tensor<1x7x7x32xf32>
}

// -----

// CHECK-LABEL: func.func @infinite_halves(
// CHECK-NOT:     strata.inside
// LOOPS:         func.func
#x = affine_map<(n, h, w, f, kh, kw, c) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, kh, kw, c) -> (kh, kw, c, f)>
#y = affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>
#all = affine_map<(i, j, k, l) -> (i, j, k, l)>
func.func @infinite_halves(%x: tensor<1x7x7x32xf32>, %start: tensor<1x7x7x32xf32>) -> tensor<1x7x7x32xf32> {
  %zero = arith.constant 0.0 : f32
  %h = arith.constant dense<0xfc00> : tensor<3x3x32x32xf16>
  %e = tensor.empty() : tensor<3x3x32x32xf32>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%h : tensor<3x3x32x32xf16>) outs(%e : tensor<3x3x32x32xf32>) {
  ^bb0(%a: f16, %o: f32):
    %1 = arith.extf %a : f16 to f32
    linalg.yield %1 : f32
  } -> tensor<3x3x32x32xf32>
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x7x7x32xf32> to tensor<1x9x9x32xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x9x9x32xf32>, tensor<3x3x32x32xf32>) outs(%start : tensor<1x7x7x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x7x7x32xf32>
  return %0 : tensor<1x7x7x32xf32>
}
