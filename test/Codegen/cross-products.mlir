// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-cross-products),cse,canonicalize)' | FileCheck %s

// Pieces of eight groups: those of the first half of each are multiplied with those of the second.
// CHECK-DAG:   #[[FIRST:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, 0, d4, d3)>
// CHECK-DAG:   #[[SECOND:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, 1, d4, d3)>
// CHECK-DAG:   #[[WFIRST:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1 floordiv 16, d2, 0, d4, d1 mod 16, d3)>
// CHECK-DAG:   #[[WSECOND:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1 floordiv 16, d2, 1, d4, d1 mod 16, d3)>
// CHECK-LABEL: func.func @product(

// What is taken away for each row,
// CHECK:         %[[X:.*]] = tensor.expand_shape {{.*}} into tensor<?x16x2x4x2xi16>
// CHECK:         %[[W:.*]] = tensor.expand_shape {{.*}} into tensor<4x16x2x4x16x2xi16>
// CHECK:         %[[ROWS:.*]] = linalg.generic {{.*}}"parallel", "reduction", "reduction", "reduction"]} ins(%[[X]], %[[X]] : {{.*}} outs(%{{.*}} : tensor<?xi32>)
// and for each lane.
// CHECK:         %[[LANES:.*]] = linalg.generic {{.*}}"parallel", "reduction", "reduction", "reduction"]} ins(%[[W]], %[[W]] : {{.*}} outs(%{{.*}} : tensor<64xi32>)
// CHECK:         %[[START:.*]] = linalg.generic {{.*}}"parallel", "parallel"]} ins(%[[ROWS]], %[[LANES]] :
// CHECK:           %[[LESS:.*]] = arith.subi %c0_i32, %{{.*}}
// CHECK:           arith.subi %[[LESS]], %{{.*}}
// CHECK:         linalg.generic {indexing_maps = [#[[FIRST]], #[[SECOND]], #[[WFIRST]], #[[WSECOND]], #{{.*}}]
// CHECK-SAME:      ins(%[[X]], %[[X]], %[[W]], %[[W]] :
// CHECK-SAME:      outs(%[[START]] : tensor<?x64xi32>)
// CHECK:         ^bb0(%[[A0:.*]]: i16{{.*}}, %[[A1:.*]]: i16{{.*}}, %[[W0:.*]]: i16{{.*}}, %[[W1:.*]]: i16{{.*}}, %[[SUM:.*]]: i32{{.*}}):
// CHECK:           %[[U:.*]] = arith.addi %[[A0]], %[[W1]] : i16
// CHECK:           %[[XX:.*]] = arith.extsi %[[U]] : i16 to i32
// CHECK:           %[[Y:.*]] = arith.addi %[[A1]], %[[W0]] : i16
// CHECK:           %[[YY:.*]] = arith.extsi %[[Y]] : i16 to i32
// CHECK:           %[[XY:.*]] = arith.muli %[[XX]], %[[YY]] : i32
// CHECK:           arith.addi %[[SUM]], %[[XY]] : i32
#x = affine_map<(m, n, k, g) -> (m, k, g)>
#w = affine_map<(m, n, k, g) -> (n floordiv 16, k, n mod 16, g)>
#o = affine_map<(m, n, k, g) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<4x128x16x2xi16>) : tensor<4x128x16x2xi16>
func.func @product(%data: tensor<?x256xi16>, %rows: index) -> tensor<?x64xi32> {
  %x = tensor.expand_shape %data [[0], [1, 2]] output_shape [%rows, 128, 2] : tensor<?x256xi16> into tensor<?x128x2xi16>
  %w = ml_program.global_load_const @w : tensor<4x128x16x2xi16>
  %zero = arith.constant 0 : i32
  %empty = tensor.empty(%rows) : tensor<?x64xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<?x64xi32>) -> tensor<?x64xi32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x128x2xi16>, tensor<4x128x16x2xi16>) outs(%init : tensor<?x64xi32>) attrs = {strata.largest_product = 32640 : i64} {
  ^bb0(%a: i16, %b: i16, %s: i32):
    %1 = arith.extsi %a : i16 to i32
    %2 = arith.extsi %b : i16 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<?x64xi32>
  return %0 : tensor<?x64xi32>
}

// -----

// Sums that begin with something else keep it. A filter of one pixel, at every second one.
// CHECK-LABEL: func.func @convolution(
// CHECK-SAME:    %{{.*}}: tensor<1x14x14x64xi16>, %[[C:.*]]: tensor<1x7x7x64xi32>)
// CHECK:         %[[ROWS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x7x7xi32>)
// CHECK:         %[[LANES:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64xi32>)
// CHECK:         linalg.generic {{.*}} ins(%[[ROWS]], %[[LANES]], %[[C]] :
// CHECK:         ^bb0(%[[R:.*]]: i32, %[[L:.*]]: i32, %[[S:.*]]: i32, %{{.*}}: i32):
// CHECK:           %[[LESS:.*]] = arith.subi %[[S]], %[[R]]
// CHECK:           arith.subi %[[LESS]], %[[L]]
#x = affine_map<(n, f, h, w, c, kh, kw, g) -> (n, 2 * h + kh, 2 * w + kw, c, g)>
#w = affine_map<(n, f, h, w, c, kh, kw, g) -> (f floordiv 16, kh, kw, c, f mod 16, g)>
#o = affine_map<(n, f, h, w, c, kh, kw, g) -> (n, h, w, f)>
ml_program.global private @w(dense_resource<w> : tensor<4x1x1x32x16x2xi16>) : tensor<4x1x1x32x16x2xi16>
func.func @convolution(%data: tensor<1x14x14x64xi16>, %c: tensor<1x7x7x64xi32>) -> tensor<1x7x7x64xi32> {
  %x = tensor.expand_shape %data [[0], [1], [2], [3, 4]] output_shape [1, 14, 14, 32, 2] : tensor<1x14x14x64xi16> into tensor<1x14x14x32x2xi16>
  %w = ml_program.global_load_const @w : tensor<4x1x1x32x16x2xi16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x14x14x32x2xi16>, tensor<4x1x1x32x16x2xi16>) outs(%c : tensor<1x7x7x64xi32>) attrs = {strata.largest_product = 32640 : i64} {
  ^bb0(%a: i16, %b: i16, %s: i32):
    %1 = arith.extsi %a : i16 to i32
    %2 = arith.extsi %b : i16 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<1x7x7x64xi32>
  return %0 : tensor<1x7x7x64xi32>
}

// -----

// Sums of integers that may be any of 16 bits would not fit, steps that are no whole number of pieces, of few lanes the
// sums of the rows cost more than they save, and weights that are given have no sums yet.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     arith.subi
// CHECK:         return
#x = affine_map<(m, n, k, g) -> (m, k, g)>
#w = affine_map<(m, n, k, g) -> (n floordiv 16, k, n mod 16, g)>
#o = affine_map<(m, n, k, g) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<4x128x16x2xi16>) : tensor<4x128x16x2xi16>
ml_program.global private @odd(dense_resource<odd> : tensor<4x127x16x2xi16>) : tensor<4x127x16x2xi16>
ml_program.global private @few(dense_resource<few> : tensor<2x128x16x2xi16>) : tensor<2x128x16x2xi16>
func.func @others(%x: tensor<40x128x2xi16>, %y: tensor<40x127x2xi16>, %given: tensor<4x128x16x2xi16>, %c: tensor<40x64xi32>, %d: tensor<40x32xi32>)
    -> (tensor<40x64xi32>, tensor<40x64xi32>, tensor<40x32xi32>, tensor<40x64xi32>) {
  %w = ml_program.global_load_const @w : tensor<4x128x16x2xi16>
  %odd = ml_program.global_load_const @odd : tensor<4x127x16x2xi16>
  %few = ml_program.global_load_const @few : tensor<2x128x16x2xi16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<40x128x2xi16>, tensor<4x128x16x2xi16>) outs(%c : tensor<40x64xi32>) {
  ^bb0(%a: i16, %b: i16, %s: i32):
    %4 = arith.extsi %a : i16 to i32
    %5 = arith.extsi %b : i16 to i32
    %6 = arith.muli %4, %5 : i32
    %7 = arith.addi %s, %6 : i32
    linalg.yield %7 : i32
  } -> tensor<40x64xi32>
  %1 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%y, %odd : tensor<40x127x2xi16>, tensor<4x127x16x2xi16>) outs(%c : tensor<40x64xi32>) attrs = {strata.largest_product = 32640 : i64} {
  ^bb0(%a: i16, %b: i16, %s: i32):
    %4 = arith.extsi %a : i16 to i32
    %5 = arith.extsi %b : i16 to i32
    %6 = arith.muli %4, %5 : i32
    %7 = arith.addi %s, %6 : i32
    linalg.yield %7 : i32
  } -> tensor<40x64xi32>
  %2 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %few : tensor<40x128x2xi16>, tensor<2x128x16x2xi16>) outs(%d : tensor<40x32xi32>) attrs = {strata.largest_product = 32640 : i64} {
  ^bb0(%a: i16, %b: i16, %s: i32):
    %4 = arith.extsi %a : i16 to i32
    %5 = arith.extsi %b : i16 to i32
    %6 = arith.muli %4, %5 : i32
    %7 = arith.addi %s, %6 : i32
    linalg.yield %7 : i32
  } -> tensor<40x32xi32>
  %3 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %given : tensor<40x128x2xi16>, tensor<4x128x16x2xi16>) outs(%c : tensor<40x64xi32>) attrs = {strata.largest_product = 32640 : i64} {
  ^bb0(%a: i16, %b: i16, %s: i32):
    %4 = arith.extsi %a : i16 to i32
    %5 = arith.extsi %b : i16 to i32
    %6 = arith.muli %4, %5 : i32
    %7 = arith.addi %s, %6 : i32
    linalg.yield %7 : i32
  } -> tensor<40x64xi32>
  return %0, %1, %2, %3 : tensor<40x64xi32>, tensor<40x64xi32>, tensor<40x32xi32>, tensor<40x64xi32>
}
