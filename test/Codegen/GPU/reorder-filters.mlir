// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-reorder-filters))' | FileCheck %s

#data = affine_map<(y, x, f, c, i, j) -> (y + i, x + j, c)>
#filter = affine_map<(y, x, f, c, i, j) -> (f, c, i, j)>
#sums = affine_map<(y, x, f, c, i, j) -> (y, x, f)>

// Channels are last in the data.
// CHECK-DAG:   #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d4, d5, d3)>
// CHECK-LABEL: func.func @main(
// CHECK:         %[[FILTER:.*]] = ml_program.global_load_const @w
// CHECK:         %[[ORDERED:.*]] = linalg.transpose ins(%[[FILTER]] : tensor<8x32x3x3xf16>) outs({{.*}} : tensor<8x3x3x32xf16>) permutation = [0, 2, 3, 1]
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[W]], #{{.*}}], {{.*}} ins(%arg0, %[[ORDERED]]
ml_program.global private @w(dense_resource<w> : tensor<8x32x3x3xf16>) : tensor<8x32x3x3xf16>
func.func @main(%x: tensor<10x10x32xf16>, %o: tensor<8x8x8xf32>) -> tensor<8x8x8xf32> {
  %w = ml_program.global_load_const @w : tensor<8x32x3x3xf16>
  %0 = linalg.generic {indexing_maps = [#data, #filter, #sums], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<10x10x32xf16>, tensor<8x32x3x3xf16>) outs(%o : tensor<8x8x8xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %e = arith.extf %a : f16 to f32
    %f = arith.extf %b : f16 to f32
    %p = arith.mulf %e, %f : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x8x8xf32>
  return %0 : tensor<8x8x8xf32>
}

// -----

#x = affine_map<(i, j, k) -> (i, k)>
#y = affine_map<(i, j, k) -> (k, j)>
#z = affine_map<(i, j, k) -> (i, j)>

// Columns of a matrix are neighbours: floats are read so, bytes are not.
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-1: linalg.transpose {{.*}} outs({{.*}} : tensor<24x16xi8>) permutation = [1, 0]
// CHECK-NOT:     linalg.transpose
ml_program.global private @w(dense_resource<w> : tensor<16x24xf32>) : tensor<16x24xf32>
ml_program.global private @v(dense_resource<v> : tensor<16x24xi8>) : tensor<16x24xi8>
func.func @main(%x: tensor<8x16xf32>, %o: tensor<8x24xf32>, %u: tensor<8x16xi8>, %q: tensor<8x24xi32>) -> (tensor<8x24xf32>, tensor<8x24xi32>) {
  %w = ml_program.global_load_const @w : tensor<16x24xf32>
  %v = ml_program.global_load_const @v : tensor<16x24xi8>
  %0 = linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x16xf32>, tensor<16x24xf32>) outs(%o : tensor<8x24xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x24xf32>
  %1 = linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]} ins(%u, %v : tensor<8x16xi8>, tensor<16x24xi8>) outs(%q : tensor<8x24xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %e = arith.extsi %a : i8 to i32
    %f = arith.extsi %b : i8 to i32
    %p = arith.muli %e, %f : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<8x24xi32>
  return %0, %1 : tensor<8x24xf32>, tensor<8x24xi32>
}

// -----

#x = affine_map<(i, j, k) -> (i, k)>
#y = affine_map<(i, j, k) -> (k, j)>
#z = affine_map<(i, j, k) -> (i, j)>

// Floats that warpgroups multiply.
// CHECK-LABEL: func.func @main(
// CHECK:         linalg.transpose {{.*}} outs({{.*}} : tensor<24x16xf32>) permutation = [1, 0]
module attributes {strata.chip = "sm_90a", strata.tf32} {
  ml_program.global private @w(dense_resource<w> : tensor<16x24xf32>) : tensor<16x24xf32>
  func.func @main(%x: tensor<8x16xf32>, %o: tensor<8x24xf32>) -> tensor<8x24xf32> {
    %w = ml_program.global_load_const @w : tensor<16x24xf32>
    %0 = linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x16xf32>, tensor<16x24xf32>) outs(%o : tensor<8x24xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x24xf32>
    return %0 : tensor<8x24xf32>
  }
}

// -----

#x = affine_map<(i, j, k) -> (i, k)>
#y = affine_map<(i, j, k) -> (k, j)>
#z = affine_map<(i, j, k) -> (i, j)>

// What is computed, too, if a thousand rows use it.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %{{.*}}, %[[Y:.*]]: tensor<16x24xi8>,
// CHECK:         %[[ORDERED:.*]] = linalg.transpose ins(%[[Y]] : tensor<16x24xi8>) {{.*}} permutation = [1, 0]
// CHECK:         linalg.generic {{.*}} ins(%arg0, %[[ORDERED]]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[Y]]
module attributes {strata.chip = "sm_90a"} {
  func.func @main(%x: tensor<1024x16xi8>, %y: tensor<16x24xi8>, %o: tensor<1024x24xi32>, %u: tensor<512x16xi8>, %p: tensor<512x24xi32>) -> (tensor<1024x24xi32>, tensor<512x24xi32>) {
    %0 = linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<1024x16xi8>, tensor<16x24xi8>) outs(%o : tensor<1024x24xi32>) {
    ^bb0(%a: i8, %b: i8, %s: i32):
      %c = arith.extsi %a : i8 to i32
      %d = arith.extsi %b : i8 to i32
      %m = arith.muli %c, %d : i32
      %t = arith.addi %s, %m : i32
      linalg.yield %t : i32
    } -> tensor<1024x24xi32>
    %1 = linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]} ins(%u, %y : tensor<512x16xi8>, tensor<16x24xi8>) outs(%p : tensor<512x24xi32>) {
    ^bb0(%a: i8, %b: i8, %s: i32):
      %c = arith.extsi %a : i8 to i32
      %d = arith.extsi %b : i8 to i32
      %m = arith.muli %c, %d : i32
      %t = arith.addi %s, %m : i32
      linalg.yield %t : i32
    } -> tensor<512x24xi32>
    return %0, %1 : tensor<1024x24xi32>, tensor<512x24xi32>
  }
}
