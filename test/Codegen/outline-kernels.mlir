// RUN: strata-opt %s --strata-outline-kernels | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#bias = affine_map<(i, j) -> (j)>

// Initialisation, product and activation are one kernel, and the second, equal
// group is a call of the same one. The buffer between moves into it.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     linalg.generic
// CHECK:         call @kernel_0(
// CHECK:         call @kernel_0(
// CHECK-NOT:     linalg.generic
// CHECK:       func.func private @kernel_0(
// CHECK-SAME:      attributes {strata.kernel}
// CHECK:         memref.alloc() : memref<8x8xf32>
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT:   func.func
func.func @main(%a: memref<8x4xf32>, %b: memref<4x8xf32>, %c: memref<8xf32>) -> (memref<8x8xf32>, memref<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [#bias, #id], iterator_types = ["parallel", "parallel"]} ins(%c : memref<8xf32>) outs(%t : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x4xf32>, memref<4x8xf32>) outs(%t : memref<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  %r = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : memref<8x8xf32>) outs(%r : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.maximumf %x, %z : f32
    linalg.yield %0 : f32
  }
  %t2 = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [#bias, #id], iterator_types = ["parallel", "parallel"]} ins(%c : memref<8xf32>) outs(%t2 : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x4xf32>, memref<4x8xf32>) outs(%t2 : memref<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  %r2 = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t2 : memref<8x8xf32>) outs(%r2 : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.maximumf %x, %z : f32
    linalg.yield %0 : f32
  }
  return %r, %r2 : memref<8x8xf32>, memref<8x8xf32>
}
