// RUN: strata-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=256 registers=16 fma=true threads=false},cse))' | FileCheck %s

// Three rows of one vector where the model has 6 of 2, and all rows within the lanes. Four steps have sums of their own.
// CHECK-LABEL: func.func @chosen
// CHECK:         %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK-NEXT:    scf.for {{.*}} step %[[EIGHT]] {
// CHECK:           %[[THREE:.*]] = arith.constant 3 : index
// CHECK-NEXT:      scf.for {{.*}} step %[[THREE]] {
// CHECK:             :12 = scf.for {{.*}} iter_args
// CHECK-COUNT-12:      math.fma {{.*}} : vector<8xf32>
// CHECK-NOT:           math.fma
// CHECK:               scf.yield
func.func @chosen(%a: memref<12x32xf32>, %b: memref<32x16xf32>, %c: memref<12x16xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<12x32xf32>, memref<32x16xf32>) outs(%c : memref<12x16xf32>)
      attrs = {strata.plan = array<i64: 3, 1, 1, 0>} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Eight rows of four vectors are more than there are registers: the model's choice stays.
// CHECK-LABEL: func.func @impossible
// CHECK:         :12 = scf.for
func.func @impossible(%a: memref<12x32xf32>, %b: memref<32x16xf32>, %c: memref<12x16xf32>) attributes {strata.kernel} {
  // expected-warning @below {{the plan that was chosen is not possible on this target}}
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<12x32xf32>, memref<32x16xf32>) outs(%c : memref<12x16xf32>)
      attrs = {strata.plan = array<i64: 8, 4, 0, 0>} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  return
}
