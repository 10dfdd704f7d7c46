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
  // CHECK-NEXT:    %[[BEGIN:.*]] = arith.constant 0 : i64
  // CHECK-NEXT:    %[[END:.*]] = arith.constant 32 : i64
  // CHECK-NEXT:    call @strata_rt_constant_done(%[[SLOT]], %[[BEGIN]], %[[END]])
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

// -----

// Contiguous runs are given up one by one; where two runs overlap, both together.
module attributes {strata.constants = [
    {name = "w", type = tensor<8x4xf32>, bytes = 128 : i64, alignment = 64 : i64, computed = false, needed_at_run_time = false}]} {
  memref.global "private" @w : memref<8x4xf32> {strata.slot = 0 : i64}
  // CHECK-LABEL: func.func @init(
  // CHECK:         memref.copy
  // CHECK-NEXT:    %[[SLOT:.*]] = arith.constant 0 : i64
  // CHECK-NEXT:    %[[BEGIN:.*]] = arith.constant 0 : i64
  // CHECK-NEXT:    %[[END:.*]] = arith.constant 48 : i64
  // CHECK-NEXT:    call @strata_rt_constant_done(%[[SLOT]], %[[BEGIN]], %[[END]])
  // CHECK-NEXT:    memref.copy
  // CHECK-NEXT:    memref.copy
  // CHECK-NEXT:    arith.constant 0 : i64
  // CHECK-NEXT:    arith.constant 48 : i64
  // CHECK-NEXT:    arith.constant 128 : i64
  // CHECK-NEXT:    call @strata_rt_constant_done(
  // CHECK-NEXT:    return
  func.func @init() {
    %w = memref.get_global @w : memref<8x4xf32>
    %to = memref.alloc() : memref<8x4xf32>
    %a = memref.subview %w[0, 0] [3, 4] [1, 1] : memref<8x4xf32> to memref<3x4xf32, strided<[4, 1]>>
    %b = memref.subview %w[3, 0] [3, 4] [1, 1] : memref<8x4xf32> to memref<3x4xf32, strided<[4, 1], offset: 12>>
    %c = memref.subview %w[5, 0] [3, 4] [1, 1] : memref<8x4xf32> to memref<3x4xf32, strided<[4, 1], offset: 20>>
    %x = memref.subview %to[0, 0] [3, 4] [1, 1] : memref<8x4xf32> to memref<3x4xf32, strided<[4, 1]>>
    memref.copy %a, %x : memref<3x4xf32, strided<[4, 1]>> to memref<3x4xf32, strided<[4, 1]>>
    memref.copy %b, %x : memref<3x4xf32, strided<[4, 1], offset: 12>> to memref<3x4xf32, strided<[4, 1]>>
    memref.copy %c, %x : memref<3x4xf32, strided<[4, 1], offset: 20>> to memref<3x4xf32, strided<[4, 1]>>
    return
  }
}
