// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-group-reductions{bf16=true},strata-pack-weights{vector-bits=512}),cse)' | FileCheck %s
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-group-reductions))' | FileCheck %s --check-prefix=NONE
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-group-reductions{int8=true tiles=false}))' | FileCheck %s --check-prefix=GROUPS
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-group-reductions{bf16=true tiles=false}))' | FileCheck %s --check-prefix=PADDED

// Pairs of the reduction lie side by side in the data, and behind the lanes in the weights.
// NONE-NOT:      tensor.expand_shape
// CHECK-DAG:   #[[X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG:   #[[W:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 floordiv 32, d2, d1 mod 32, d3)>
// CHECK-LABEL: func.func @main(
// CHECK:         tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [4, 32, 2] : tensor<4x64xbf16> into tensor<4x32x2xbf16>
// CHECK:         linalg.generic {indexing_maps = [#[[X]], #[[W]], #{{.*}}]{{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x32x2xbf16>, tensor<2x32x32x2xbf16>)
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<64x40xbf16>) : tensor<64x40xbf16>
func.func @main(%x: tensor<4x64xbf16>, %c: tensor<4x40xf32>) -> tensor<4x40xf32> {
  %w = ml_program.global_load_const @w : tensor<64x40xbf16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x64xbf16>, tensor<64x40xbf16>) outs(%c : tensor<4x40xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x40xf32>
  return %0 : tensor<4x40xf32>
}

// -----

// 35 products are filled up to 36, which are 18 pairs and tile badly: to 64. Results of one tile are one block.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     tensor.pad %{{.*}} low[0, 0] high[0, 29]
// CHECK-DAG:     tensor.pad %{{.*}} low[0, 0] high[29, 0]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x32x2xbf16>, tensor<1x32x16x2xbf16>)
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<35x16xbf16>) : tensor<35x16xbf16>
func.func @main(%x: tensor<4x35xbf16>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %w = ml_program.global_load_const @w : tensor<35x16xbf16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x35xbf16>, tensor<35x16xbf16>) outs(%c : tensor<4x16xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// 144 products are 72 pairs, six tiles of 12: filled up, they are five of 16.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     tensor.pad %{{.*}} low[0, 0] high[0, 16]
// CHECK-DAG:     tensor.pad %{{.*}} low[0, 0] high[16, 0]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x80x2xbf16>, tensor<1x80x16x2xbf16>)
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<144x16xbf16>) : tensor<144x16xbf16>
func.func @main(%x: tensor<4x144xbf16>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %w = ml_program.global_load_const @w : tensor<144x16xbf16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x144xbf16>, tensor<144x16xbf16>) outs(%c : tensor<4x16xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// For vectors, whole groups are enough: 66 becomes 68.
// GROUPS-LABEL: func.func @bytes(
// GROUPS-DAG:     tensor.pad %{{.*}} low[0, 0] high[0, 2]
// GROUPS:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x17x4xi8>, tensor<17x4x16xi8>)
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<66x16xi8>) : tensor<66x16xi8>
func.func @bytes(%x: tensor<4x66xi8>, %c: tensor<4x16xi32>) -> tensor<4x16xi32> {
  %w = ml_program.global_load_const @w : tensor<66x16xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x66xi8>, tensor<66x16xi8>) outs(%c : tensor<4x16xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %1 = arith.extui %a : i8 to i32
    %2 = arith.extsi %b : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<4x16xi32>
  return %0 : tensor<4x16xi32>
}

// -----

// A matrix that is given in each run is copied in groups where many rows use it.
// GROUPS-LABEL: func.func @given(
// GROUPS:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64x16x4xi8>, tensor<16x4x64xi8>)
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
func.func @given(%x: tensor<64x64xi8>, %w: tensor<64x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x64xi8>, tensor<64x64xi8>) outs(%c : tensor<64x64xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %1 = arith.extui %a : i8 to i32
    %2 = arith.extsi %b : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}

// -----

// GROUPS-LABEL: func.func @few_rows(
// GROUPS-NOT:     tensor.expand_shape
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
func.func @few_rows(%x: tensor<4x64xi8>, %w: tensor<64x64xi8>, %c: tensor<4x64xi32>) -> tensor<4x64xi32> {
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x64xi8>, tensor<64x64xi8>) outs(%c : tensor<4x64xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %1 = arith.extui %a : i8 to i32
    %2 = arith.extsi %b : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<4x64xi32>
  return %0 : tensor<4x64xi32>
}

// -----

// Weights that are given in each run, and transposed, are copied once: they are rounded and put in pairs and blocks on
// the way.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[PAIRS:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x32x32x2xf32>) outs(%{{.*}} : tensor<2x32x32x2xbf16>)
// CHECK:           arith.truncf
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[PAIRS]] : tensor<64x32x2xbf16>, tensor<2x32x32x2xbf16>)
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
#same = affine_map<(n, k) -> (n, k)>
func.func @main(%x: tensor<64x64xbf16>, %w: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xbf16>
  %r = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<64x64xf32>) outs(%e : tensor<64x64xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<64x64xbf16>
  %f = tensor.empty() : tensor<64x64xbf16>
  %t = linalg.transpose ins(%r : tensor<64x64xbf16>) outs(%f : tensor<64x64xbf16>) permutation = [1, 0]
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %t : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%c : tensor<64x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// Taps that lie in the padding are noted before the groups hide it; tiles of a matrix unit have rows of several lines.
// NONE-LABEL:    func.func @padded(
// CHECK-LABEL:   func.func @padded(
// CHECK-NOT:       strata.inside
// PADDED-LABEL:  func.func @padded(
// PADDED:          tensor.expand_shape {{.*}} tensor<1x9x9x32xbf16> into tensor<1x9x9x16x2xbf16>
// PADDED:          linalg.generic
// PADDED-SAME:       strata.inside = array<i64: 1, 4, 1, 1, 1, 7, 2, 5, 1, 1, 1, 7>
#x = affine_map<(n, h, w, f, kh, kw, c) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, kh, kw, c) -> (kh, kw, c, f)>
#y = affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>
func.func @padded(%x: tensor<1x7x7x32xbf16>, %start: tensor<1x7x7x32xf32>) -> tensor<1x7x7x32xf32> {
  %zero = arith.constant 0.0 : bf16
  %w = arith.constant dense<0.5> : tensor<3x3x32x32xf32>
  %empty = tensor.empty() : tensor<3x3x32x32xbf16>
  %rounded = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w : tensor<3x3x32x32xf32>) outs(%empty : tensor<3x3x32x32xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<3x3x32x32xbf16>
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<1x7x7x32xbf16> to tensor<1x9x9x32xbf16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %rounded : tensor<1x9x9x32xbf16>, tensor<3x3x32x32xbf16>) outs(%start : tensor<1x7x7x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %a32 = arith.extf %a : bf16 to f32
    %b32 = arith.extf %b : bf16 to f32
    %m = arith.mulf %a32, %b32 : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x7x7x32xf32>
  return %0 : tensor<1x7x7x32xf32>
}

// -----

// Three channels would take a group of four, or two pairs, for each tap. Nine taps and channels along a line take five
// pairs; the tenth weight is zero.
// GROUPS-DAG:    #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 * 3 + d5, d6)>
// GROUPS-DAG:    #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d5, d6, d4)>
// GROUPS-LABEL:  func.func @line(
// GROUPS-DAG:      %[[DATA:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1], [2, 3]] : tensor<1x9x10x3xi16> into tensor<1x9x30xi16>
// GROUPS-DAG:      %[[PAIRS:.*]] = tensor.expand_shape %[[DATA]] {{.*}} : tensor<1x9x30xi16> into tensor<1x9x15x2xi16>
// GROUPS-DAG:      %[[LINES:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3]] : tensor<8x3x3x3xi16> into tensor<8x9x3xi16>
// GROUPS-DAG:      %[[FILLED:.*]] = tensor.pad %[[LINES]] low[0, 0, 0] high[0, 1, 0]
// GROUPS-DAG:      %[[WEIGHTS:.*]] = tensor.expand_shape %[[FILLED]] {{.*}} : tensor<8x10x3xi16> into tensor<8x5x2x3xi16>
// GROUPS:          linalg.generic {indexing_maps = [#[[X]], #[[W]], #{{.*}}]{{.*}} ins(%[[PAIRS]], %[[WEIGHTS]] :
#x = affine_map<(n, h, w, f, kh, kw, c) -> (n, 2 * h + kh, 2 * w + kw, c)>
#w = affine_map<(n, h, w, f, kh, kw, c) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>
ml_program.global private @w(dense_resource<w> : tensor<8x3x3x3xi16>) : tensor<8x3x3x3xi16>
func.func @line(%x: tensor<1x9x10x3xi16>, %start: tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xi32> {
  %w = ml_program.global_load_const @w : tensor<8x3x3x3xi16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x9x10x3xi16>, tensor<8x3x3x3xi16>) outs(%start : tensor<1x4x4x8xi32>) {
  ^bb0(%a: i16, %b: i16, %s: i32):
    %1 = arith.extsi %a : i16 to i32
    %2 = arith.extsi %b : i16 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<1x4x4x8xi32>
  return %0 : tensor<1x4x4x8xi32>
}

// -----

// Of floats, what the filled-up weight is multiplied with might be infinite; and a line of integers has no whole
// number of pairs.
// PADDED-LABEL:  func.func @separate(
// PADDED-NOT:      tensor.collapse_shape
// PADDED:          return
// GROUPS-LABEL:  func.func @separate(
// GROUPS-NOT:      tensor.collapse_shape
// GROUPS:          return
#x = affine_map<(n, h, w, f, kh, kw, c) -> (n, 2 * h + kh, 2 * w + kw, c)>
#w = affine_map<(n, h, w, f, kh, kw, c) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>
ml_program.global private @w(dense_resource<w> : tensor<8x3x3x3xbf16>) : tensor<8x3x3x3xbf16>
ml_program.global private @v(dense_resource<v> : tensor<8x3x3x3xi16>) : tensor<8x3x3x3xi16>
func.func @separate(%x: tensor<1x9x10x3xbf16>, %start: tensor<1x4x4x8xf32>, %y: tensor<1x9x9x3xi16>, %begin: tensor<1x4x4x8xi32>)
    -> (tensor<1x4x4x8xf32>, tensor<1x4x4x8xi32>) {
  %w = ml_program.global_load_const @w : tensor<8x3x3x3xbf16>
  %v = ml_program.global_load_const @v : tensor<8x3x3x3xi16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x9x10x3xbf16>, tensor<8x3x3x3xbf16>) outs(%start : tensor<1x4x4x8xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %2 = arith.extf %a : bf16 to f32
    %3 = arith.extf %b : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %s, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<1x4x4x8xf32>
  %1 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%y, %v : tensor<1x9x9x3xi16>, tensor<8x3x3x3xi16>) outs(%begin : tensor<1x4x4x8xi32>) {
  ^bb0(%a: i16, %b: i16, %s: i32):
    %2 = arith.extsi %a : i16 to i32
    %3 = arith.extsi %b : i16 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.addi %s, %4 : i32
    linalg.yield %5 : i32
  } -> tensor<1x4x4x8xi32>
  return %0, %1 : tensor<1x4x4x8xf32>, tensor<1x4x4x8xi32>
}
