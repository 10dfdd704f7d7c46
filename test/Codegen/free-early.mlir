// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-free-early))' | FileCheck %s

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
