// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-winograd{vector-bits=512}),cse)' | FileCheck %s
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-winograd{vector-bits=512 fma-per-cycle=1}),cse)' | FileCheck %s --check-prefix=SLOW

#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>

// The weights are transformed in blocks of two vectors of filters, and turned back where they are used.
// CHECK-DAG:   #[[DATA:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1 + d4, d2 + d5, d8)>
// CHECK-DAG:   #[[KH:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d4, d6)>
// CHECK-DAG:   #[[KW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d5, d7)>
// CHECK-DAG:   #[[U:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d3 floordiv 32, d6, d7, d8, d3 mod 32)>
// CHECK-LABEL: func.func @main(
// CHECK:         tensor.expand_shape {{.*}} into tensor<2x32x64x3x3xf32>
// CHECK:         linalg.transpose {{.*}} permutation = [0, 3, 4, 2, 1]
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x6x6x64x32xf32>)
// CHECK:         %[[P:.*]] = arith.constant dense<{{.*}}> : tensor<3x6xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[DATA]], #[[KH]], #[[KW]], #[[U]], #{{.*}}]
// CHECK-SAME:      ins(%{{.*}}, %[[P]], %[[P]], %[[W]]
// CHECK-SAME:      attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 4 : i64}
ml_program.global private @w(dense_resource<w> : tensor<64x64x3x3xf32>) : tensor<64x64x3x3xf32>
func.func @main(%x: tensor<?x58x58x64xf32>, %start: tensor<?x56x56x64xf32>) -> tensor<?x56x56x64xf32> {
  %w = ml_program.global_load_const @w : tensor<64x64x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x58x58x64xf32>, tensor<64x64x3x3xf32>) outs(%start : tensor<?x56x56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x56x56x64xf32>
  return %0 : tensor<?x56x56x64xf32>
}

// -----

// Filters that are not whole panels of two vectors: zeros fill the last one.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-LABEL: func.func @main(
// CHECK:         %[[FULL:.*]] = tensor.pad %{{.*}} low[0, 0, 0, 0] high[13, 0, 0, 0]
// CHECK:         tensor.expand_shape %[[FULL]] {{.*}} into tensor<2x32x64x3x3xf32>
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<2x6x6x64x32xf32>)
// CHECK:         attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 4 : i64}
ml_program.global private @w(dense_resource<w> : tensor<51x64x3x3xf32>) : tensor<51x64x3x3xf32>
func.func @main(%x: tensor<?x58x58x64xf32>, %start: tensor<?x56x56x51xf32>) -> tensor<?x56x56x51xf32> {
  %w = ml_program.global_load_const @w : tensor<51x64x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x58x58x64xf32>, tensor<51x64x3x3xf32>) outs(%start : tensor<?x56x56x51xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x56x56x51xf32>
  return %0 : tensor<?x56x56x51xf32>
}

// -----

// So small an image would read more weights for nothing; where multiplying takes twice as long, it does not.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-LABEL: func.func @seven(
// CHECK-NOT:     strata.winograd
// SLOW-LABEL:  func.func @seven(
// SLOW:          strata.winograd = 2
ml_program.global private @w(dense_resource<w> : tensor<512x512x3x3xf32>) : tensor<512x512x3x3xf32>
func.func @seven(%x: tensor<1x9x9x512xf32>, %start: tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32> {
  %w = ml_program.global_load_const @w : tensor<512x512x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x9x9x512xf32>, tensor<512x512x3x3xf32>) outs(%start : tensor<1x7x7x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x7x7x512xf32>
  return %0 : tensor<1x7x7x512xf32>
}

// -----

// A stride of two.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h * 2 + kh, w * 2 + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     strata.winograd
ml_program.global private @w(dense_resource<w> : tensor<64x64x3x3xf32>) : tensor<64x64x3x3xf32>
func.func @main(%x: tensor<1x57x57x64xf32>, %start: tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32> {
  %w = ml_program.global_load_const @w : tensor<64x64x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x57x57x64xf32>, tensor<64x64x3x3xf32>) outs(%start : tensor<1x28x28x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x28x28x64xf32>
  return %0 : tensor<1x28x28x64xf32>
}

// -----

// Three slices of a volume make one of the result: those at the ends that are padding stay known.
#x = affine_map<(n, d, h, w, f, kd, kh, kw, c) -> (n, d + kd, h + kh, w + kw, c)>
#w = affine_map<(n, d, h, w, f, kd, kh, kw, c) -> (kd, kh, kw, c, f)>
#y = affine_map<(n, d, h, w, f, kd, kh, kw, c) -> (n, d, h, w, f)>
// CHECK-DAG:   #[[DATA:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10) -> (d0, d9 + d10, d1 + d4, d2 + d5, d8)>
// CHECK-DAG:   #[[U:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10) -> (d3 floordiv 32, d6, d7, d10, d8, d3 mod 32)>
// CHECK-DAG:   #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10) -> (d0, d9, d1, d2, d3)>
// CHECK-LABEL: func.func @main(
// CHECK:         linalg.transpose {{.*}} permutation = [4, 1, 2, 0, 3, 5]
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x6x6x3x64x32xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[DATA]], #{{.*}}, #{{.*}}, #[[U]], #[[OUT]]]
// CHECK-SAME:      ins(%{{.*}}, %{{.*}}, %{{.*}}, %[[W]]
// CHECK-SAME:      attrs = {strata.inside = array<i64: 9, 10, 1, 1, 1, 4>, strata.products = {{[0-9]+}} : i64, strata.winograd = 4 : i64}
ml_program.global private @w(dense<1.0> : tensor<3x3x3x64x64xf32>) : tensor<3x3x3x64x64xf32>
func.func @main(%x: tensor<?x4x56x56x64xf32>, %start: tensor<?x4x56x56x64xf32>) -> tensor<?x4x56x56x64xf32> {
  %w = ml_program.global_load_const @w : tensor<3x3x3x64x64xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 1, 0] high[0, 1, 1, 1, 0] {
  ^bb0(%n: index, %d: index, %h: index, %v: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<?x4x56x56x64xf32> to tensor<?x6x58x58x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%padded, %w : tensor<?x6x58x58x64xf32>, tensor<3x3x3x64x64xf32>) outs(%start : tensor<?x4x56x56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x4x56x56x64xf32>
  return %0 : tensor<?x4x56x56x64xf32>
}

// -----

// A volume of one small slice: the weights would be all the time.
#x = affine_map<(n, d, h, w, f, kd, kh, kw, c) -> (n, d + kd, h + kh, w + kw, c)>
#w = affine_map<(n, d, h, w, f, kd, kh, kw, c) -> (kd, kh, kw, c, f)>
#y = affine_map<(n, d, h, w, f, kd, kh, kw, c) -> (n, d, h, w, f)>
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     strata.winograd
ml_program.global private @w(dense_resource<w> : tensor<3x3x3x512x512xf32>) : tensor<3x3x3x512x512xf32>
func.func @main(%x: tensor<1x3x9x9x512xf32>, %start: tensor<1x1x7x7x512xf32>) -> tensor<1x1x7x7x512xf32> {
  %w = ml_program.global_load_const @w : tensor<3x3x3x512x512xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x3x9x9x512xf32>, tensor<3x3x3x512x512xf32>) outs(%start : tensor<1x1x7x7x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x1x7x7x512xf32>
  return %0 : tensor<1x1x7x7x512xf32>
}

// -----

// Bytes that were extended to 16 bits, of which two are multiplied and added at once: pairs of channels lie side by side.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-DAG:   #[[DATA:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9) -> (d0, d1 + d4, d2 + d5, d8, d9)>
// CHECK-DAG:   #[[U:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9) -> (d3 floordiv 32, d6, d7, d8, d3 mod 32, d9)>
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<?x58x58x64xi16>
// CHECK-DAG:     arith.constant dense<{{\[\[}}1, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 1]]> : tensor<4x3xi16>
// CHECK-DAG:     %[[P:.*]] = arith.constant dense<{{\[\[}}1, 0, 0, 0], [-1, 1, 0, -1], [0, 0, 0, 1]]> : tensor<3x4xi16>
// CHECK-DAG:     %[[W:.*]] = linalg.transpose {{.*}} outs(%{{.*}} : tensor<2x4x4x32x32x2xi16>) permutation = [0, 1, 2, 3, 5, 4]
// CHECK-DAG:     %[[PAIRS:.*]] = tensor.expand_shape %[[X]] {{.*}} into tensor<?x58x58x32x2xi16>
// CHECK:         linalg.generic {indexing_maps = [#[[DATA]], {{.*}}, #[[U]], #{{.*}}]
// CHECK-SAME:      ins(%[[PAIRS]], %[[P]], %[[P]], %[[W]]
// CHECK-SAME:      attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 2 : i64}
ml_program.global private @w(dense_resource<w> : tensor<64x64x3x3xi16>) : tensor<64x64x3x3xi16>
func.func @main(%x: tensor<?x58x58x64xi16>, %start: tensor<?x56x56x64xi32>) -> tensor<?x56x56x64xi32> {
  %w = ml_program.global_load_const @w : tensor<64x64x3x3xi16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x58x58x64xi16>, tensor<64x64x3x3xi16>) outs(%start : tensor<?x56x56x64xi32>)
      attrs = {strata.largest_product = 32640 : i64} {
  ^bb0(%a: i16, %b: i16, %c: i32):
    %ax = arith.extsi %a : i16 to i32
    %bx = arith.extsi %b : i16 to i32
    %p = arith.muli %ax, %bx : i32
    %s = arith.addi %c, %p : i32
    linalg.yield %s : i32
  } -> tensor<?x56x56x64xi32>
  return %0 : tensor<?x56x56x64xi32>
}

// -----

// Of any 16-bit integers, four times the sum may not be an i32; nor of so many bytes.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-LABEL: func.func @any(
// CHECK-NOT:     strata.winograd
// CHECK-LABEL: func.func @many(
// CHECK-NOT:     strata.winograd
ml_program.global private @w(dense_resource<w> : tensor<64x64x3x3xi16>) : tensor<64x64x3x3xi16>
ml_program.global private @v(dense_resource<v> : tensor<64x1856x3x3xi16>) : tensor<64x1856x3x3xi16>
func.func @any(%x: tensor<?x58x58x64xi16>, %start: tensor<?x56x56x64xi32>) -> tensor<?x56x56x64xi32> {
  %w = ml_program.global_load_const @w : tensor<64x64x3x3xi16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x58x58x64xi16>, tensor<64x64x3x3xi16>) outs(%start : tensor<?x56x56x64xi32>) {
  ^bb0(%a: i16, %b: i16, %c: i32):
    %ax = arith.extsi %a : i16 to i32
    %bx = arith.extsi %b : i16 to i32
    %p = arith.muli %ax, %bx : i32
    %s = arith.addi %c, %p : i32
    linalg.yield %s : i32
  } -> tensor<?x56x56x64xi32>
  return %0 : tensor<?x56x56x64xi32>
}
func.func @many(%x: tensor<?x58x58x1856xi16>, %start: tensor<?x56x56x64xi32>) -> tensor<?x56x56x64xi32> {
  %v = ml_program.global_load_const @v : tensor<64x1856x3x3xi16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %v : tensor<?x58x58x1856xi16>, tensor<64x1856x3x3xi16>) outs(%start : tensor<?x56x56x64xi32>)
      attrs = {strata.largest_product = 32640 : i64} {
  ^bb0(%a: i16, %b: i16, %c: i32):
    %ax = arith.extsi %a : i16 to i32
    %bx = arith.extsi %b : i16 to i32
    %p = arith.muli %ax, %bx : i32
    %s = arith.addi %c, %p : i32
    linalg.yield %s : i32
  } -> tensor<?x56x56x64xi32>
  return %0 : tensor<?x56x56x64xi32>
}

// -----

// As many filters as lanes: a panel of one vector.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-LABEL: func.func @main(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<1x6x6x64x16xf32>)
// CHECK:         attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 4 : i64}
ml_program.global private @w(dense_resource<w> : tensor<16x64x3x3xf32>) : tensor<16x64x3x3xf32>
func.func @main(%x: tensor<?x58x58x64xf32>, %start: tensor<?x56x56x16xf32>) -> tensor<?x56x56x16xf32> {
  %w = ml_program.global_load_const @w : tensor<16x64x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x58x58x64xf32>, tensor<16x64x3x3xf32>) outs(%start : tensor<?x56x56x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x56x56x16xf32>
  return %0 : tensor<?x56x56x16xf32>
}

// -----

// A dilation: tiles of every second row and column.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh * 2, w + kw * 2, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-DAG:   #[[DATA:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1 + d4 * 2, d2 + d5 * 2, d8)>
// CHECK-LABEL: func.func @dilated(
// CHECK:         linalg.generic {indexing_maps = [#[[DATA]],
// CHECK-SAME:      attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 4 : i64}
ml_program.global private @w(dense_resource<w> : tensor<64x64x3x3xf32>) : tensor<64x64x3x3xf32>
func.func @dilated(%x: tensor<?x60x60x64xf32>, %start: tensor<?x56x56x64xf32>) -> tensor<?x56x56x64xf32> {
  %w = ml_program.global_load_const @w : tensor<64x64x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x60x60x64xf32>, tensor<64x64x3x3xf32>) outs(%start : tensor<?x56x56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x56x56x64xf32>
  return %0 : tensor<?x56x56x64xf32>
}

// -----

// The weights of 28x28 images are transformed once, for the small images that they are used for, too, which by
// themselves take smaller tiles or none.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-LABEL: func.func @shared(
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8x6x6x256x32xf32>)
// CHECK:         linalg.generic {{.*}} ins(%arg0, {{.*}}, %[[W]] : {{.*}} attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 4 : i64}
// CHECK:         linalg.generic {{.*}} ins(%arg1, {{.*}}, %[[W]] : {{.*}} attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 4 : i64}
ml_program.global private @w(dense_resource<w> : tensor<256x256x3x3xf32>) : tensor<256x256x3x3xf32>
func.func @shared(%x: tensor<1x30x30x256xf32>, %z: tensor<1x14x14x256xf32>, %start: tensor<1x28x28x256xf32>, %begin: tensor<1x12x12x256xf32>) -> (tensor<1x28x28x256xf32>, tensor<1x12x12x256xf32>) {
  %w = ml_program.global_load_const @w : tensor<256x256x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x30x30x256xf32>, tensor<256x256x3x3xf32>) outs(%start : tensor<1x28x28x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x28x28x256xf32>
  %1 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%z, %w : tensor<1x14x14x256xf32>, tensor<256x256x3x3xf32>) outs(%begin : tensor<1x12x12x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x12x12x256xf32>
  return %0, %1 : tensor<1x28x28x256xf32>, tensor<1x12x12x256xf32>
}

// -----

// Weights that are four times as many have no room beside those of the model, and save too little of the time of images
// of 14x14; those that are 1.8 times as many have. Of 40x40 they save enough.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-LABEL: func.func @small(
// CHECK:         attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 2 : i64}
// CHECK-LABEL: func.func @large(
// CHECK:         attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 4 : i64}
ml_program.global private @w(dense_resource<w> : tensor<512x512x3x3xf32>) : tensor<512x512x3x3xf32>
func.func @small(%x: tensor<1x16x16x512xf32>, %start: tensor<1x14x14x512xf32>) -> tensor<1x14x14x512xf32> {
  %w = ml_program.global_load_const @w : tensor<512x512x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x16x16x512xf32>, tensor<512x512x3x3xf32>) outs(%start : tensor<1x14x14x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x14x14x512xf32>
  return %0 : tensor<1x14x14x512xf32>
}
func.func @large(%x: tensor<1x42x42x512xf32>, %start: tensor<1x40x40x512xf32>) -> tensor<1x40x40x512xf32> {
  %w = ml_program.global_load_const @w : tensor<512x512x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x42x42x512xf32>, tensor<512x512x3x3xf32>) outs(%start : tensor<1x40x40x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x40x40x512xf32>
  return %0 : tensor<1x40x40x512xf32>
}

// -----

// A window of one column: its points are those of rows alone.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh * 2, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-DAG:   #[[DATA:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1 + d4 * 2, d2 + d5, d8)>
// CHECK-LABEL: func.func @main(
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x6x1x64x32xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[DATA]],
// CHECK-SAME:      ins(%{{.*}}, %{{.*}}, %{{.*}}, %[[W]] : tensor<?x60x56x64xf32>, tensor<3x6xf32>, tensor<1x1xf32>, tensor<2x6x1x64x32xf32>)
// CHECK-SAME:      attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 4 : i64}
ml_program.global private @w(dense_resource<w> : tensor<64x64x3x1xf32>) : tensor<64x64x3x1xf32>
func.func @main(%x: tensor<?x60x56x64xf32>, %start: tensor<?x56x56x64xf32>) -> tensor<?x56x56x64xf32> {
  %w = ml_program.global_load_const @w : tensor<64x64x3x1xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x60x56x64xf32>, tensor<64x64x3x1xf32>) outs(%start : tensor<?x56x56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x56x56x64xf32>
  return %0 : tensor<?x56x56x64xf32>
}

// -----

// A line, and a window of five taps: two parts of three, of which the second one has no share in the tap of both.
#x = affine_map<(n, w, f, c, kw) -> (n, w + kw, c)>
#w = affine_map<(n, w, f, c, kw) -> (f, c, kw)>
#y = affine_map<(n, w, f, c, kw) -> (n, w, f)>
// CHECK-DAG:   #[[DATA:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d3 + d6 * 2, d5)>
// CHECK-DAG:   #[[U:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d2 floordiv 32, d4, d6, d5, d2 mod 32)>
// CHECK-DAG:   #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2 * 2 + d5, d3, d4)>
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     %[[OWN:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 1.000000e+00, 1.000000e+00], [0.000000e+00, 1.000000e+00, 1.000000e+00]]>
// CHECK:         %[[W:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[WINDOW]], #{{.*}}]
// CHECK-SAME:      ins(%{{.*}}, %[[OWN]], %{{.*}} outs(%{{.*}} : tensor<2x6x2x64x32xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[DATA]], #{{.*}}, #[[U]], #{{.*}}]
// CHECK-SAME:      ins(%{{.*}}, %{{.*}}, %[[W]] : tensor<?x1004x64xf32>, tensor<3x6xf32>, tensor<2x6x2x64x32xf32>)
// CHECK-SAME:      attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 4 : i64}
ml_program.global private @w(dense_resource<w> : tensor<64x64x5xf32>) : tensor<64x64x5xf32>
func.func @main(%x: tensor<?x1004x64xf32>, %start: tensor<?x1000x64xf32>) -> tensor<?x1000x64xf32> {
  %w = ml_program.global_load_const @w : tensor<64x64x5xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x1004x64xf32>, tensor<64x64x5xf32>) outs(%start : tensor<?x1000x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x1000x64xf32>
  return %0 : tensor<?x1000x64xf32>
}

// -----

// Along the depth of a volume alone: its slices are those of another dimension, so that the depth is one of the image's.
#x = affine_map<(n, d, h, w, f, kd, kh, kw, c) -> (n, d + kd, h + kh, w + kw, c)>
#w = affine_map<(n, d, h, w, f, kd, kh, kw, c) -> (kd, kh, kw, c, f)>
#y = affine_map<(n, d, h, w, f, kd, kh, kw, c) -> (n, d, h, w, f)>
// CHECK-DAG:   #[[DATA:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10) -> (d0, d1 + d4, d9 + d10, d2 + d5, d8)>
// CHECK-DAG:   #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10) -> (d0, d1, d9, d2, d3)>
// CHECK-LABEL: func.func @main(
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x6x1x1x64x32xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[DATA]], #{{.*}}, #{{.*}}, #{{.*}}, #[[OUT]]]
// CHECK-SAME:      attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 4 : i64}
ml_program.global private @w(dense_resource<w> : tensor<3x1x1x64x64xf32>) : tensor<3x1x1x64x64xf32>
func.func @main(%x: tensor<?x18x28x28x64xf32>, %start: tensor<?x16x28x28x64xf32>) -> tensor<?x16x28x28x64xf32> {
  %w = ml_program.global_load_const @w : tensor<3x1x1x64x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x18x28x28x64xf32>, tensor<3x1x1x64x64xf32>) outs(%start : tensor<?x16x28x28x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x16x28x28x64xf32>
  return %0 : tensor<?x16x28x28x64xf32>
}

// -----

// Parts along rows and along columns: four windows of 3x3 make one of 5x5.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-DAG:   #[[DATA:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10) -> (d0, d1 + d4 + d9 * 2, d2 + d5 + d10 * 2, d8)>
// CHECK-DAG:   #[[U:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10) -> (d3 floordiv 32, d6, d7, d9, d10, d8, d3 mod 32)>
// CHECK-LABEL: func.func @main(
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x6x6x2x2x64x32xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[DATA]], #{{.*}}, #{{.*}}, #[[U]], #{{.*}}]
// CHECK-SAME:      attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 4 : i64}
ml_program.global private @w(dense_resource<w> : tensor<64x64x5x5xf32>) : tensor<64x64x5x5xf32>
func.func @main(%x: tensor<?x60x60x64xf32>, %start: tensor<?x56x56x64xf32>) -> tensor<?x56x56x64xf32> {
  %w = ml_program.global_load_const @w : tensor<64x64x5x5xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x60x60x64xf32>, tensor<64x64x5x5xf32>) outs(%start : tensor<?x56x56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x56x56x64xf32>
  return %0 : tensor<?x56x56x64xf32>
}

// -----

// Two taps along each dimension, as a phase of a transposed convolution has: 25 products for 16 sums of four.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-LABEL: func.func @main(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<2x5x5x64x32xf32>)
// CHECK:         %[[P:.*]] = arith.constant dense<{{\[\[}}2.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00]]> : tensor<2x5xf32>
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[P]], %[[P]], %{{.*}} attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 4 : i64}
ml_program.global private @w(dense_resource<w> : tensor<64x64x2x2xf32>) : tensor<64x64x2x2xf32>
func.func @main(%x: tensor<?x33x33x64xf32>, %start: tensor<?x32x32x64xf32>) -> tensor<?x32x32x64xf32> {
  %w = ml_program.global_load_const @w : tensor<64x64x2x2xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x33x33x64xf32>, tensor<64x64x2x2xf32>) outs(%start : tensor<?x32x32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x32x32x64xf32>
  return %0 : tensor<?x32x32x64xf32>
}

// -----

// With m = 4 the weights would be 6.6 times as large, 18 MB more than they are, for which there is no room.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-LABEL: func.func @main(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x4x4x3x3x128x32xf32>)
// CHECK:         attrs = {strata.products = {{[0-9]+}} : i64, strata.winograd = 2 : i64}
ml_program.global private @w(dense_resource<w> : tensor<128x128x7x7xf32>) : tensor<128x128x7x7xf32>
func.func @main(%x: tensor<?x52x52x128xf32>, %start: tensor<?x46x46x128xf32>) -> tensor<?x46x46x128xf32> {
  %w = ml_program.global_load_const @w : tensor<128x128x7x7xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x52x52x128xf32>, tensor<128x128x7x7xf32>) outs(%start : tensor<?x46x46x128xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x46x46x128xf32>
  return %0 : tensor<?x46x46x128xf32>
}
