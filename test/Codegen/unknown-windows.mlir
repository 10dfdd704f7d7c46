// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 threads=false},canonicalize,cse))' | FileCheck %s

// Wide windows, each channel by itself, over an unknown number of columns: sixteen at once, then eight, then four, then
// one after the other. Of narrow ones eight are the most.
// CHECK-LABEL: func.func @wide_windows(
// CHECK:         %{{.*}}:16 = scf.for %{{.*}} = %c0 to %c7
// CHECK:         %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c7
// CHECK:         %{{.*}}:4 = scf.for %{{.*}} = %c0 to %c7
// CHECK:         %{{.*}} = scf.for %{{.*}} = %c0 to %c7
// CHECK-LABEL: func.func @narrow_windows(
// CHECK-NOT:     :16 = scf.for
// CHECK:         %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c3
// CHECK:         return
#seen = affine_map<(h, w, c, i, j) -> (h + i, w + j, c)>
#tap = affine_map<(h, w, c, i, j) -> (i, j, c)>
#pixel = affine_map<(h, w, c, i, j) -> (h, w, c)>
func.func @wide_windows(%x: memref<?x?x64xf32>, %w: memref<7x7x64xf32>, %y: memref<?x?x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#seen, #tap, #pixel], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<?x?x64xf32>, memref<7x7x64xf32>) outs(%y : memref<?x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
func.func @narrow_windows(%x: memref<?x?x64xf32>, %w: memref<3x3x64xf32>, %y: memref<?x?x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#seen, #tap, #pixel], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<?x?x64xf32>, memref<3x3x64xf32>) outs(%y : memref<?x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
