// RUN: strata-opt %s --strata-join-fills | FileCheck %s
// RUN: strata-opt %s --strata-join-fills --strata-place-buffers --strata-map-kernels --canonicalize | FileCheck %s --check-prefix=KERNEL

// The border above and below is one kernel; other numbers, and what is behind a reader, are others.
// CHECK-LABEL: func.func @main(
// CHECK:         call @fills_0(%{{.*}}, %{{.*}}) : (memref<1x8xf32, {{.*}}>, memref<1x8xf32, {{.*}}>)
// CHECK-NEXT:    call @one(
// CHECK-NEXT:    call @copy(
// CHECK-NEXT:    call @zero(
// CHECK:       func.func private @fills_0(%[[ABOVE:.*]]: memref<1x8xf32, {{.*}}>, %[[BELOW:.*]]: memref<1x8xf32, {{.*}}>) attributes {strata.kernel}
// CHECK:         linalg.generic {{.*}} outs(%[[ABOVE]]
// CHECK:         linalg.generic {{.*}} outs(%[[BELOW]]

// As many blocks as the largest needs.
// KERNEL:        gpu.func @fills_0(
// KERNEL:          scf.if
// KERNEL:            memref.store
// KERNEL:          scf.if
// KERNEL:            memref.store
#all = affine_map<(i, j) -> (i, j)>
!row = memref<1x8xf32, strided<[8, 1], offset: ?>>
func.func @main(%n: index, %y: memref<1x8xf32>) -> memref<10x8xf32> {
  %buffer = memref.alloc() : memref<10x8xf32>
  %above = memref.subview %buffer[%n, 0] [1, 8] [1, 1] : memref<10x8xf32> to !row
  call @zero(%above) : (!row) -> ()
  %m = arith.addi %n, %n : index
  %below = memref.subview %buffer[%m, 0] [1, 8] [1, 1] : memref<10x8xf32> to !row
  call @zero(%below) : (!row) -> ()
  call @one(%below) : (!row) -> ()
  call @copy(%above, %y) : (!row, memref<1x8xf32>) -> ()
  call @zero(%above) : (!row) -> ()
  return %buffer : memref<10x8xf32>
}
func.func private @zero(%b: !row) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, #all], iterator_types = ["parallel", "parallel"]} ins(%zero : f32) outs(%b : !row) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}
func.func private @one(%b: !row) attributes {strata.kernel} {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%b : !row) {
  ^bb0(%o: f32):
    linalg.yield %one : f32
  }
  return
}
func.func private @copy(%a: !row, %b: memref<1x8xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%a : !row) outs(%b : memref<1x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}
