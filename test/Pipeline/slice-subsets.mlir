// RUN: strata-opt %s --one-shot-bufferize=bufferize-function-boundaries --cse --canonicalize | FileCheck %s

// What an iteration computes of its part of a loop's result is computed there.
// CHECK-LABEL: func.func @in_place(
// CHECK:         %[[Y:.*]] = memref.alloc()
// CHECK:         scf.forall
// CHECK-NOT:       memref.alloc
// CHECK:           %[[PLACE:.*]] = memref.subview %[[Y]]
// CHECK:           linalg.generic {{.*}} outs(%[[PLACE]]
// CHECK:           linalg.generic {{.*}} ins(%[[PLACE]] {{.*}} outs(%[[PLACE]]
// CHECK-NOT:       memref.copy
// CHECK:         return
#id = affine_map<(i, j) -> (i, j)>
func.func @in_place(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %e = tensor.empty() : tensor<64x32xf32>
  %r = scf.forall (%i) = (0) to (64) step (4) shared_outs(%o = %e) -> (tensor<64x32xf32>) {
    %a = tensor.extract_slice %x[%i, 0] [4, 32] [1, 1] : tensor<64x32xf32> to tensor<4x32xf32>
    %p = tensor.extract_slice %o[%i, 0] [4, 32] [1, 1] : tensor<64x32xf32> to tensor<4x32xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x32xf32>) outs(%p : tensor<4x32xf32>) {
    ^bb0(%b: f32, %c: f32):
      %s = arith.addf %b, %b : f32
      linalg.yield %s : f32
    } -> tensor<4x32xf32>
    %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x32xf32>) outs(%0 : tensor<4x32xf32>) {
    ^bb0(%b: f32, %c: f32):
      %s = arith.mulf %b, %b : f32
      linalg.yield %s : f32
    } -> tensor<4x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, 0] [4, 32] [1, 1] : tensor<4x32xf32> into tensor<64x32xf32>
    }
  }
  return %r : tensor<64x32xf32>
}
