// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=256 registers=16 fma=true},canonicalize,cse))' | FileCheck %s

// The sum of what is stored: each row has a vector of parts in memory, to which its vectors are added where they are in
// registers. In the place of the sum of the row comes that of its parts. 20 elements are two vectors and a half.
// CHECK-LABEL: func.func @exponentials(
// CHECK-DAG:     %[[NONE:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK:         %[[PARTS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4x8xf32>
// CHECK:         vector.store %[[NONE]]
// CHECK:         %[[E:.*]] = math.exp %{{.*}} : vector<8xf32>
// CHECK:         %[[F:.*]] = math.exp %{{.*}} : vector<8xf32>
// CHECK:         vector.store %[[E]]
// CHECK:         %[[PART:.*]] = vector.load
// CHECK:         %[[ONE:.*]] = arith.addf %[[PART]], %[[E]] : vector<8xf32>
// CHECK:         vector.store %[[F]]
// CHECK:         %[[TWO:.*]] = arith.addf %[[ONE]], %[[F]] : vector<8xf32>
// CHECK:         vector.store %[[TWO]]
// CHECK:         %[[G:.*]] = math.exp %{{.*}} : vector<4xf32>
// CHECK:         vector.store %[[G]]
// CHECK:         %[[FIRST:.*]] = vector.load {{.*}} vector<4xf32>
// CHECK:         %[[THREE:.*]] = arith.addf %[[FIRST]], %[[G]] : vector<4xf32>
// CHECK:         vector.store %[[THREE]]
// CHECK:         vector.reduction <add>
// CHECK-NOT:     math.exp
#all = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
func.func @exponentials(%x: memref<64x20xf32>, %y: memref<64xf32>, %z: memref<64x20xf32>) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) = (0) to (64) step (4) {
    %in = memref.subview %x[%i, 0] [4, 20] [1, 1] : memref<64x20xf32> to memref<4x20xf32, strided<[20, 1], offset: ?>>
    %out = memref.subview %z[%i, 0] [4, 20] [1, 1] : memref<64x20xf32> to memref<4x20xf32, strided<[20, 1], offset: ?>>
    %sum = memref.subview %y[%i] [4] [1] : memref<64xf32> to memref<4xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%in : memref<4x20xf32, strided<[20, 1], offset: ?>>) outs(%out : memref<4x20xf32, strided<[20, 1], offset: ?>>) attrs = {strata.nest = 0} {
    ^bb0(%a: f32, %o: f32):
      %e = math.exp %a : f32
      linalg.yield %e : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%zero : f32) outs(%sum : memref<4xf32, strided<[1], offset: ?>>) attrs = {strata.nest = 1} {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%out : memref<4x20xf32, strided<[20, 1], offset: ?>>) outs(%sum : memref<4xf32, strided<[1], offset: ?>>) attrs = {strata.nest = 1} {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
    }
  }
  return
}

// What is written again in between is summed up as it is then.
// CHECK-LABEL: func.func @changed(
// CHECK-NOT:     memref.alloc
// CHECK:         math.exp
// CHECK-NOT:     arith.addf
// CHECK:         math.absf
// CHECK:         vector.reduction <add>
func.func @changed(%x: memref<64x20xf32>, %y: memref<64xf32>, %z: memref<64x20xf32>) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) = (0) to (64) step (4) {
    %in = memref.subview %x[%i, 0] [4, 20] [1, 1] : memref<64x20xf32> to memref<4x20xf32, strided<[20, 1], offset: ?>>
    %out = memref.subview %z[%i, 0] [4, 20] [1, 1] : memref<64x20xf32> to memref<4x20xf32, strided<[20, 1], offset: ?>>
    %first = memref.subview %z[%i, 0] [4, 1] [1, 1] : memref<64x20xf32> to memref<4x1xf32, strided<[20, 1], offset: ?>>
    %sum = memref.subview %y[%i] [4] [1] : memref<64xf32> to memref<4xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%in : memref<4x20xf32, strided<[20, 1], offset: ?>>) outs(%out : memref<4x20xf32, strided<[20, 1], offset: ?>>) attrs = {strata.nest = 0} {
    ^bb0(%a: f32, %o: f32):
      %e = math.exp %a : f32
      linalg.yield %e : f32
    }
    linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%first : memref<4x1xf32, strided<[20, 1], offset: ?>>) attrs = {strata.nest = 1} {
    ^bb0(%o: f32):
      %e = math.absf %o : f32
      linalg.yield %e : f32
    }
    linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%out : memref<4x20xf32, strided<[20, 1], offset: ?>>) outs(%sum : memref<4xf32, strided<[1], offset: ?>>) attrs = {strata.nest = 2} {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
    }
  }
  return
}
