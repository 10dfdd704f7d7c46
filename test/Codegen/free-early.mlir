// RUN: strata-opt %s --strata-free-early --split-input-file | FileCheck %s

// The buffer's view is its last use; what comes after does not need it.
// CHECK-LABEL: func.func @f(
// CHECK:         %[[A:.*]] = memref.alloc() : memref<8xf32>
// CHECK:         %[[V:.*]] = memref.subview %[[A]]
// CHECK:         memref.copy %[[V]], %{{.*}}
// CHECK-NEXT:    memref.dealloc %[[A]]
// CHECK:         memref.copy
func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %v = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  memref.copy %v, %x : memref<4xf32, strided<[1]>> to memref<4xf32>
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// What only the init function reads is given up behind its last use there; a constant of the run is not.
module attributes {strata.constants = [
    {name = "w", type = tensor<8xf32>, bytes = 32 : i64, alignment = 64 : i64, computed = false, needed_at_run_time = false},
    {name = "p", type = tensor<8xf32>, bytes = 32 : i64, alignment = 64 : i64, computed = true, needed_at_run_time = true},
    {name = "v", type = tensor<8xf32>, bytes = 32 : i64, alignment = 64 : i64, computed = false, needed_at_run_time = true}]} {
  memref.global "private" @w : memref<8xf32> {strata.slot = 0 : i64}
  memref.global "private" @p : memref<8xf32> {strata.slot = 1 : i64}
  memref.global "private" @v : memref<8xf32> {strata.slot = 2 : i64}
  // CHECK-LABEL: func.func @init(
  // CHECK:         memref.subview
  // CHECK-NEXT:    memref.copy
  // CHECK-NEXT:    %[[SLOT:.*]] = arith.constant 0 : i64
  // CHECK-NEXT:    call @strata_rt_constant_done(%[[SLOT]])
  // CHECK-NEXT:    memref.copy
  // CHECK-NEXT:    return
  func.func @init() {
    %w = memref.get_global @w : memref<8xf32>
    %p = memref.get_global @p : memref<8xf32>
    %v = memref.get_global @v : memref<8xf32>
    %half = memref.subview %w[0] [8] [1] : memref<8xf32> to memref<8xf32, strided<[1]>>
    memref.copy %half, %p : memref<8xf32, strided<[1]>> to memref<8xf32>
    memref.copy %v, %p : memref<8xf32> to memref<8xf32>
    return
  }
}
