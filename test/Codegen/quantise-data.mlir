// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-quantise-data))' | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[DATA:.*]]: tensor<4x2x16xf32>
// CHECK:         %[[X:.*]] = tensor.expand_shape %[[DATA]] {{.*}} into tensor<4x2x1x16xf32>
// CHECK:         %[[LARGEST:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4x2x1x16xf32>) outs(%{{.*}} : tensor<4x2x1xf32>)
// CHECK:           arith.maximumf
// CHECK:         %[[INVERSE:.*]] = linalg.generic {{.*}} ins(%[[LARGEST]] : tensor<4x2x1xf32>)
// CHECK:           arith.divf
// CHECK:         %[[FACTOR:.*]] = linalg.generic {{.*}} ins(%[[LARGEST]] : tensor<4x2x1xf32>)
// CHECK:         %[[Q:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[INVERSE]] : tensor<4x2x1x16xf32>, tensor<4x2x1xf32>) outs(%{{.*}} : tensor<4x2x1x16xi8>)
// CHECK:           math.roundeven
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[Q]] : tensor<4x2x1x16xi8>) outs(%{{.*}} : tensor<4x2x1xi32>)
// CHECK:         %[[BYTES:.*]] = tensor.expand_shape %[[Q]] {{.*}} into tensor<4x2x1x2x8xi8>
// CHECK:         %[[WORDS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x1x2x8xi32>)
// CHECK:         %[[ZERO:.*]] = linalg.generic {{.*}} ins(%z : tensor<2x8xi8>) outs(%{{.*}} : tensor<2x8xi8>)
// CHECK:           arith.addi %{{.*}}, %c8_i8 : i8
// CHECK:         linalg.generic {{.*}} ins(%[[FACTOR]], %[[BYTES]], %[[WORDS]], %s, %[[ZERO]], %[[SUMS]] : tensor<4x2x1xf32>, tensor<4x2x1x2x8xi8>, tensor<2x1x2x8xi32>, tensor<2x8xf32>, tensor<2x8xi8>, tensor<4x2x1xi32>)
// CHECK-NEXT:    ^bb0(%[[F:.*]]: f32, %[[B:.*]]: i8, %[[WORD:.*]]: i32, %[[S:.*]]: f32, %[[Z:.*]]: i8, %[[T:.*]]: i32, %[[SUM:.*]]: f32):
// CHECK:           %[[CODE:.*]] = arith.andi %{{.*}}, %c15_i32 : i32
// CHECK:           %[[I:.*]] = arith.extsi %[[B]] : i8 to i32
// CHECK:           %[[P:.*]] = arith.muli %[[I]], %[[CODE]] : i32
// CHECK:           %[[U:.*]] = arith.extui %[[Z]] : i8 to i32
// CHECK:           %[[M:.*]] = arith.muli %[[T]], %[[U]] : i32
// CHECK:           %[[ONCE:.*]] = arith.select %{{.*}}, %[[M]], %{{.*}} : i32
// CHECK:           %[[D:.*]] = arith.subi %[[P]], %[[ONCE]] : i32
// CHECK:           %[[R:.*]] = arith.sitofp %[[D]] : i32 to f32
// CHECK:           %[[RS:.*]] = arith.mulf %[[R]], %[[S]] : f32
// CHECK:           %[[RSF:.*]] = arith.mulf %[[RS]], %[[F]] : f32
// CHECK:           arith.addf %[[SUM]], %[[RSF]] : f32
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

// Bytes are words of four; blocks of more than 128 terms are several for the data.
// CHECK-LABEL: func.func @main(
// CHECK:         tensor<4x2x4x96xi8>
// CHECK:         linalg.generic {{.*}} ins({{.*}} : tensor<4x2x4xf32>, tensor<4x2x4x24x4xi8>, tensor<2x4x24x8xi32>, tensor<2x8xf32>, tensor<2x8xi8>, tensor<4x2x4xi32>)
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<100> : tensor<2x384x8xi8>) : tensor<2x384x8xi8>
ml_program.global private @s(dense<0.5> : tensor<2x8xf32>) : tensor<2x8xf32>
ml_program.global private @z(dense<[[1, 2, 3, 4, 5, 6, 7, 0], [7, 6, 5, 4, 3, 2, 1, -8]]> : tensor<2x8xi8>) : tensor<2x8xi8>
func.func @main(%x: tensor<4x2x384xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = ml_program.global_load_const @w : tensor<2x384x8xi8>
  %s = ml_program.global_load_const @s : tensor<2x8xf32>
  %z = ml_program.global_load_const @z : tensor<2x8xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s, %z : tensor<4x2x384xf32>, tensor<2x384x8xi8>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<4x8xf32>) {
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

// Weights that are given in each run stay as they are.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     math.roundeven
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<7> : tensor<2x16x8xi8>) : tensor<2x16x8xi8>
ml_program.global private @s(dense<0.5> : tensor<2x8xf32>) : tensor<2x8xf32>
ml_program.global private @z(dense<[[1, 2, 3, 4, 5, 6, 7, 0], [7, 6, 5, 4, 3, 2, 1, -8]]> : tensor<2x8xi8>) : tensor<2x8xi8>
func.func @main(%x: tensor<4x2x16xf32>, %c: tensor<4x8xf32>, %w: tensor<2x16x8xi8>) -> tensor<4x8xf32> {
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
