// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-copies-to-linalg))' | FileCheck %s

// CHECK-LABEL: func.func @strided
// CHECK:         linalg.generic
// CHECK-NOT:     memref.copy
func.func @strided(%a: memref<4x4xf32, strided<[8, 1]>>, %b: memref<4x4xf32>) {
  memref.copy %a, %b : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
  return
}

// CHECK-LABEL: func.func @contiguous
// CHECK:         memref.copy
func.func @contiguous(%a: memref<4x4xf32>, %b: memref<4x4xf32>) {
  memref.copy %a, %b : memref<4x4xf32> to memref<4x4xf32>
  return
}
