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

// Of an unknown number of rows, every number that a tile may have.
// CHECK-LABEL: func.func @rows_of_the_run(
// CHECK:         arith.ceildivui %{{.*}}, %c8
// CHECK:         scf.index_switch %{{.*}}
// CHECK-NEXT:    case 1 {
// CHECK:         case 7 {
// CHECK:         default {
func.func @rows_of_the_run(%x: memref<?x64xf32>, %w: memref<3x64xf32>, %y: memref<?x3xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x64xf32>, memref<3x64xf32>) outs(%y : memref<?x3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// One vector with a matrix from memory: rows a quarter of all rows apart, two vectors of each at once.
// CHECK-LABEL: func.func @from_memory(
// CHECK:         scf.for %[[N:.*]] = %c0 to %c512 step %c1
// CHECK:           %[[SECOND:.*]] = arith.addi %[[N]], %c512
// CHECK:           %[[LAST:.*]] = arith.addi %[[N]], %c1536
// CHECK:           scf.for %{{.*}} = %c0 to %c1024 step %c16 iter_args
// CHECK:             %[[X:.*]] = vector.load
// CHECK-COUNT-4:     math.fma %[[X]], {{.*}} : vector<8xf32>
// CHECK:             %[[NEXT:.*]] = vector.load
// CHECK-COUNT-4:     math.fma %[[NEXT]], {{.*}} : vector<8xf32>
// CHECK:             scf.yield
// CHECK-COUNT-4:   vector.reduction <add>
// CHECK:           memref.store %{{.*}}[%[[N]]]
// CHECK:           memref.store %{{.*}}[%[[SECOND]]]
// CHECK:           memref.store %{{.*}}[%[[LAST]]]
#v = affine_map<(n, k) -> (k)>
#m = affine_map<(n, k) -> (n, k)>
#r = affine_map<(n, k) -> (n)>
func.func @from_memory(%x: memref<1024xf32>, %w: memref<2048x1024xf32>, %y: memref<2048xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#v, #m, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : memref<1024xf32>, memref<2048x1024xf32>) outs(%y : memref<2048xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Of a number of rows that has no quarter, short ones are read one after the other.
// CHECK-LABEL: func.func @in_order(
// CHECK:         scf.for %{{.*}} = %c0 to %c8191 step %c1
// CHECK:           scf.for %{{.*}} = %c0 to %c256 step %c32 iter_args
func.func @in_order(%x: memref<256xf32>, %w: memref<8191x256xf32>, %y: memref<8191xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#v, #m, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : memref<256xf32>, memref<8191x256xf32>) outs(%y : memref<8191xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Several vectors: rows that are in the cache serve all of them before the next rows come.
// CHECK-LABEL: func.func @shared(
// CHECK:         scf.for %{{.*}} = %c0 to %c2048 step %c8
// CHECK:           scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK:             scf.for %{{.*}} = %c0 to %c1024 step %c8 iter_args
func.func @shared(%x: memref<4x1024xf32>, %w: memref<2048x1024xf32>, %y: memref<4x2048xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<4x1024xf32>, memref<2048x1024xf32>) outs(%y : memref<4x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
