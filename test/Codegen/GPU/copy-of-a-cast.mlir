// RUN: strata-opt %s --canonicalize --strata-copies-to-linalg --expand-strided-metadata --lower-affine --strata-convert-to-llvm --reconcile-unrealized-casts | FileCheck %s

// A cast says that the part is contiguous; folded into the copy, it is still no loop of the host.
// CHECK-LABEL: llvm.func internal @model_main_body(
// CHECK-NOT:     llvm.cond_br
// CHECK:         llvm.call @strata_rt_gpu_download(
func.func @main() -> memref<5x1xf32> {
  %d = memref.alloc() : memref<8x1xf32, #gpu.address_space<global>>
  %s = memref.subview %d[0, 0] [5, 1] [1, 1] : memref<8x1xf32, #gpu.address_space<global>> to memref<5x1xf32, strided<[1, 1]>, #gpu.address_space<global>>
  %c = memref.cast %s : memref<5x1xf32, strided<[1, 1]>, #gpu.address_space<global>> to memref<5x1xf32, #gpu.address_space<global>>
  %h = memref.alloc() : memref<5x1xf32>
  memref.copy %c, %h : memref<5x1xf32, #gpu.address_space<global>> to memref<5x1xf32>
  return %h : memref<5x1xf32>
}
