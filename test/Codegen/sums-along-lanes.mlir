// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=256 registers=16 part-loads=true threads=false},canonicalize,cse))' | FileCheck %s

// Vectors hold terms of a sum: each of the weights serves eight rows, then the three that are left.
// CHECK-LABEL: func.func @rows(
// CHECK:         %[[SUMS:.*]]:8 = scf.for %[[AT:.*]] = %c0 to %c64 step %c8 iter_args({{.*}})
// CHECK:           vector.load
// CHECK:           %[[W:.*]] = vector.load %{{.*}} : memref<?xf32, strided<[1]>>, vector<8xf32>
// CHECK:           math.fma %{{.*}}, %[[W]], %{{.*}} : vector<8xf32>
// CHECK-COUNT-7:   math.fma %{{.*}}, %[[W]], %{{.*}} : vector<8xf32>
// CHECK:           scf.yield
// CHECK-COUNT-8: vector.reduction <add>, %[[SUMS]]#{{[0-7]}} : vector<8xf32> into f32
// CHECK-COUNT-8: memref.store
// CHECK:         %[[REST:.*]]:3 = scf.for
// CHECK-COUNT-3:   math.fma
// CHECK-COUNT-3: vector.reduction <add>, %[[REST]]#{{[0-2]}}
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#o = affine_map<(m, n, k) -> (m, n)>
#same = affine_map<(m, n) -> (m, n)>
func.func @rows(%x: memref<43x64xf32>, %w: memref<3x64xf32>, %y: memref<43x3xf32>) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel", "parallel"]} outs(%y : memref<43x3xf32>) {
  ^bb0(%s: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<43x64xf32>, memref<3x64xf32>) outs(%y : memref<43x3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
