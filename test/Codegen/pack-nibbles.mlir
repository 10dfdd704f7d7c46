// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-pack-nibbles))' | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[DATA:.*]]: tensor<4x2x16xf32>
// CHECK:         %[[X:.*]] = tensor.expand_shape %[[DATA]] {{.*}} into tensor<4x2x2x8xf32>
// CHECK:         %[[WORDS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%{{.*}} : tensor<2x2x8x8xi8>) outs(%{{.*}} : tensor<2x2x8xi32>)
// CHECK:           %[[C:.*]] = arith.andi %{{.*}}, %c15_i32 : i32
// CHECK:           %[[C4:.*]] = arith.shli %[[C]], %{{.*}} : i32
// CHECK:           arith.ori %{{.*}}, %[[C4]] : i32
// CHECK:         %[[ZERO:.*]] = linalg.generic {{.*}} ins(%z : tensor<2x8xi8>) outs(%{{.*}} : tensor<2x8xf32>)
// CHECK:           %[[MOVED:.*]] = arith.constant 0x4B000008 : f32
// CHECK:           arith.addf %{{.*}}, %[[MOVED]] : f32
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[WORDS]], %s, %[[ZERO]] : tensor<4x2x2x8xf32>, tensor<2x2x8xi32>, tensor<2x8xf32>, tensor<2x8xf32>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[WORD:.*]]: i32, %[[F:.*]]: f32, %[[Z:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK:           linalg.index 4
// CHECK:           %[[SHIFTED:.*]] = arith.shrui %[[WORD]], %{{.*}} : i32
// CHECK:           %[[CODE:.*]] = arith.andi %[[SHIFTED]], %c15_i32 : i32
// CHECK:           %[[BITS:.*]] = arith.ori %[[CODE]], %c1258291200_i32 : i32
// CHECK:           %[[REAL:.*]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK:           %[[D:.*]] = arith.subf %[[REAL]], %[[Z]] : f32
// CHECK:           %[[S:.*]] = arith.mulf %[[D]], %[[F]] : f32
// CHECK:           %[[P:.*]] = arith.mulf %[[A]], %[[S]] : f32
// CHECK:           arith.addf %[[SUM]], %[[P]] : f32
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<7> : tensor<2x16x8xi8>) : tensor<2x16x8xi8>
ml_program.global private @s(dense<0.5> : tensor<2x8xf32>) : tensor<2x8xf32>
ml_program.global private @z(dense<[[1, 2, 3, 4, 5, 6, 7, 0], [7, 6, 5, 4, 3, 2, 1, -8]]> : tensor<2x8xi8>) : tensor<2x8xi8>
func.func @main(%x: tensor<4x2x16xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = ml_program.global_load_const @w : tensor<2x16x8xi8>
  %s = ml_program.global_load_const @s : tensor<2x8xf32>
  %z = ml_program.global_load_const @z : tensor<2x8xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s, %z : tensor<4x2x16xf32>, tensor<2x16x8xi8>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %k: i8, %sum: f32):
    %1 = arith.extsi %i : i8 to i32
    %2 = arith.extsi %k : i8 to i32
    %3 = arith.subi %1, %2 : i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.mulf %4, %f : f32
    %6 = arith.mulf %a, %5 : f32
    %7 = arith.addf %sum, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Bytes that are no numbers of four bits, and blocks that are no whole words.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     i32>
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<8> : tensor<2x16x8xi8>) : tensor<2x16x8xi8>
ml_program.global private @s(dense<0.5> : tensor<2x8xf32>) : tensor<2x8xf32>
ml_program.global private @z(dense<[[1, 2, 3, 4, 5, 6, 7, 0], [7, 6, 5, 4, 3, 2, 1, -8]]> : tensor<2x8xi8>) : tensor<2x8xi8>
func.func @main(%x: tensor<4x2x16xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = ml_program.global_load_const @w : tensor<2x16x8xi8>
  %s = ml_program.global_load_const @s : tensor<2x8xf32>
  %z = ml_program.global_load_const @z : tensor<2x8xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s, %z : tensor<4x2x16xf32>, tensor<2x16x8xi8>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %k: i8, %sum: f32):
    %1 = arith.extsi %i : i8 to i32
    %2 = arith.extsi %k : i8 to i32
    %3 = arith.subi %1, %2 : i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.mulf %4, %f : f32
    %6 = arith.mulf %a, %5 : f32
    %7 = arith.addf %sum, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK-NOT:     i32>
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<7> : tensor<2x12x8xi8>) : tensor<2x12x8xi8>
ml_program.global private @s(dense<0.5> : tensor<2x8xf32>) : tensor<2x8xf32>
ml_program.global private @z(dense<[[1, 2, 3, 4, 5, 6, 7, 0], [7, 6, 5, 4, 3, 2, 1, -8]]> : tensor<2x8xi8>) : tensor<2x8xi8>
func.func @main(%x: tensor<4x2x12xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = ml_program.global_load_const @w : tensor<2x12x8xi8>
  %s = ml_program.global_load_const @s : tensor<2x8xf32>
  %z = ml_program.global_load_const @z : tensor<2x8xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s, %z : tensor<4x2x12xf32>, tensor<2x12x8xi8>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %k: i8, %sum: f32):
    %1 = arith.extsi %i : i8 to i32
    %2 = arith.extsi %k : i8 to i32
    %3 = arith.subi %1, %2 : i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.mulf %4, %f : f32
    %6 = arith.mulf %a, %5 : f32
    %7 = arith.addf %sum, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Equal zero points are a number.
// CHECK-LABEL: func.func @equal(
// CHECK:         %[[MOVED:.*]] = arith.constant 0x4B000009 : f32
// CHECK:         arith.subf %{{.*}}, %[[MOVED]] : f32
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<7> : tensor<2x16x8xi8>) : tensor<2x16x8xi8>
ml_program.global private @s(dense<0.5> : tensor<2x8xf32>) : tensor<2x8xf32>
ml_program.global private @z(dense<1> : tensor<2x8xi8>) : tensor<2x8xi8>
func.func @equal(%x: tensor<4x2x16xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = ml_program.global_load_const @w : tensor<2x16x8xi8>
  %s = ml_program.global_load_const @s : tensor<2x8xf32>
  %z = ml_program.global_load_const @z : tensor<2x8xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s, %z : tensor<4x2x16xf32>, tensor<2x16x8xi8>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %k: i8, %sum: f32):
    %1 = arith.extsi %i : i8 to i32
    %2 = arith.extsi %k : i8 to i32
    %3 = arith.subi %1, %2 : i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.mulf %4, %f : f32
    %6 = arith.mulf %a, %5 : f32
    %7 = arith.addf %sum, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Those that a tensor is filled with, too.
// CHECK-LABEL: func.func @filled(
// CHECK:         %[[MOVED:.*]] = arith.constant 0x4B000009 : f32
// CHECK:         arith.subf %{{.*}}, %[[MOVED]] : f32
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<7> : tensor<2x16x8xi8>) : tensor<2x16x8xi8>
ml_program.global private @s(dense<0.5> : tensor<2x8xf32>) : tensor<2x8xf32>
func.func @filled(%x: tensor<4x2x16xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = ml_program.global_load_const @w : tensor<2x16x8xi8>
  %s = ml_program.global_load_const @s : tensor<2x8xf32>
  %one = arith.constant 1 : i8
  %e = tensor.empty() : tensor<2x8xi8>
  %z = linalg.fill ins(%one : i8) outs(%e : tensor<2x8xi8>) -> tensor<2x8xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s, %z : tensor<4x2x16xf32>, tensor<2x16x8xi8>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %k: i8, %sum: f32):
    %1 = arith.extsi %i : i8 to i32
    %2 = arith.extsi %k : i8 to i32
    %3 = arith.subi %1, %2 : i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.mulf %4, %f : f32
    %6 = arith.mulf %a, %5 : f32
    %7 = arith.addf %sum, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// And one that the body extends.
// CHECK-LABEL: func.func @extended(
// CHECK:         %[[MOVED:.*]] = arith.constant 0x4B000009 : f32
// CHECK:         arith.subf %{{.*}}, %[[MOVED]] : f32
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<7> : tensor<2x16x8xi8>) : tensor<2x16x8xi8>
ml_program.global private @s(dense<0.5> : tensor<2x8xf32>) : tensor<2x8xf32>
func.func @extended(%x: tensor<4x2x16xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = ml_program.global_load_const @w : tensor<2x16x8xi8>
  %s = ml_program.global_load_const @s : tensor<2x8xf32>
  %k = arith.constant 1 : i8
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s : tensor<4x2x16xf32>, tensor<2x16x8xi8>, tensor<2x8xf32>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %sum: f32):
    %1 = arith.extsi %i : i8 to i32
    %2 = arith.extsi %k : i8 to i32
    %3 = arith.subi %1, %2 : i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.mulf %4, %f : f32
    %6 = arith.mulf %a, %5 : f32
    %7 = arith.addf %sum, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Zero points that are no numbers of four bits.
// CHECK-LABEL: func.func @far(
// CHECK-NOT:     i32>
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<7> : tensor<2x16x8xi8>) : tensor<2x16x8xi8>
ml_program.global private @s(dense<0.5> : tensor<2x8xf32>) : tensor<2x8xf32>
ml_program.global private @z(dense<[[1, 2, 3, 4, 5, 6, 7, 0], [7, 6, 5, 4, 3, 2, 1, -9]]> : tensor<2x8xi8>) : tensor<2x8xi8>
func.func @far(%x: tensor<4x2x16xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = ml_program.global_load_const @w : tensor<2x16x8xi8>
  %s = ml_program.global_load_const @s : tensor<2x8xf32>
  %z = ml_program.global_load_const @z : tensor<2x8xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s, %z : tensor<4x2x16xf32>, tensor<2x16x8xi8>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %k: i8, %sum: f32):
    %1 = arith.extsi %i : i8 to i32
    %2 = arith.extsi %k : i8 to i32
    %3 = arith.subi %1, %2 : i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.mulf %4, %f : f32
    %6 = arith.mulf %a, %5 : f32
    %7 = arith.addf %sum, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
