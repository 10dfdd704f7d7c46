// RUN: strata-opt %s --split-input-file --strata-map-kernels --canonicalize | FileCheck %s

#global = #gpu.address_space<global>
!left = memref<512x256xf16, #gpu.address_space<global>>
!right = memref<256x512xf16, #gpu.address_space<global>>
!out = memref<512x512xf32, #gpu.address_space<global>>

// Tiles of 64 x 64. Tensor maps of boxes of 64 x 64: rows with their steps on the left, steps with their columns on the
// right (type 6 is f16, swizzle 3 of 128 bytes; of each dimension size, stride, box, step). One thread copies, what
// multiplies waits for the stage, and frees the one before. Two blocks share a multiprocessor.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C256:.*]] = arith.constant 256 : index
// CHECK-DAG:     %[[C512:.*]] = arith.constant 512 : index
// CHECK-DAG:     %[[SHARED:.*]] = arith.constant 114800 : i32
// CHECK:         %[[MAP:.*]] = call @strata_gpu_tensor_map_0(%{{.*}}, %[[C0]], %[[C6]], %[[C3]], %[[C2]], %[[C2]], %[[C256]], %[[C1]], %[[C64]], %[[C1]], %[[C512]], %[[C256]], %[[C64]], %[[C1]])
// CHECK:         %[[OTHER:.*]] = call @strata_gpu_tensor_map_1(%{{.*}}, %[[C0]], %[[C6]], %[[C3]], %[[C2]], %[[C2]], %[[C512]], %[[C1]], %[[C64]], %[[C1]], %[[C256]], %[[C512]], %[[C64]], %[[C1]])
// CHECK:         %[[MOST:.*]] = call @strata_gpu_multiprocessors_0() : () -> index
// CHECK:         %[[BOTH:.*]] = arith.muli %[[MOST]], %[[C2]] : index
// CHECK:         %[[BLOCKS:.*]] = arith.minui %[[BOTH]], %[[C64]] : index
// CHECK:         gpu.launch_func @kernels::@k blocks in (%[[BLOCKS]], %[[C1]], %[[C1]]) threads in (%[[C256]], %[[C1]], %[[C1]]) dynamic_shared_memory_size %[[SHARED]] args({{.*}}, %[[MAP]] : !llvm.ptr, %[[OTHER]] : !llvm.ptr)
// CHECK:         llvm.mlir.global external @dynamic_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK:         gpu.func @k({{.*}}, %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) kernel attributes {known_block_size = array<i32: 256, 1, 1>, nvvm.minctasm = 2 : i32, strata.tensor_maps = 2 : i64}
// CHECK:           nvvm.mbarrier.init.shared
// CHECK:           nvvm.fence.mbarrier.init
// CHECK:           gpu.barrier
// CHECK:           nvvm.shfl.sync  idx
// CHECK-NOT:       nvvm.setmaxregister
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               nvvm.mbarrier.try_wait.parity.shared
// CHECK:               nvvm.mbarrier.arrive.expect_tx.shared
// CHECK:               nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[A]],
// CHECK:               nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[B]],
// CHECK:         } else {
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               nvvm.mbarrier.try_wait.parity.shared
// CHECK:               nvvm.wgmma.fence.aligned
// CHECK-COUNT-4:       nvvm.wgmma.mma_async {{.*}} <m = 64, n = 64, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <row>]
// CHECK-NEXT:          nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT:          nvvm.wgmma.wait.group.sync.aligned 1
// CHECK:               nvvm.mbarrier.arrive.shared
// CHECK:             nvvm.wgmma.wait.group.sync.aligned 0
// CHECK:             nvvm.mbarrier.arrive.shared
// CHECK-COUNT-32:    memref.store
// CHECK-NOT:         memref.store
module attributes {strata.chip = "sm_90a"} {
  func.func @main(%x: !left, %y: !right, %z: !out) {
    call @gpu_k(%x, %y, %z) {strata.launch} : (!left, !right, !out) -> ()
    return
  }
  func.func private @gpu_k(%x: !left, %y: !right, %z: !out) attributes {strata.kernel} {
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : !left, !right) outs(%z : !out) {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %e = arith.extf %a : f16 to f32
      %f = arith.extf %b : f16 to f32
      %p = arith.mulf %e, %f : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

!left = memref<?x64xbf16, #gpu.address_space<global>>
!right = memref<4096x64xbf16, #gpu.address_space<global>>
!out = memref<?x4096xf32, #gpu.address_space<global>>

// The host computes what only the run tells. Tiles of 128 x 256: two warpgroups multiply, with the registers of the one
// that copies.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[X:.*]]: memref<?x64xbf16
// CHECK:         %[[ROWS:.*]] = memref.dim %[[X]], %{{.*}}
// CHECK:         call @strata_gpu_tensor_map_0({{.*}}, %[[ROWS]], %
// CHECK:         %[[DOWN:.*]] = arith.ceildivui %[[ROWS]], %
// CHECK:         arith.muli %[[DOWN]]
// CHECK:       gpu.func @k(
// CHECK-SAME:      known_block_size = array<i32: 384, 1, 1>
// CHECK:         nvvm.setmaxregister decrease 40
// CHECK:         nvvm.setmaxregister increase 232
// CHECK:         nvvm.wgmma.mma_async {{.*}} <m = 64, n = 256, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]
module attributes {strata.chip = "sm_90a"} {
  func.func @main(%x: !left, %y: !right, %z: !out) {
    call @gpu_k(%x, %y, %z) {strata.launch} : (!left, !right, !out) -> ()
    return
  }
  func.func private @gpu_k(%x: !left, %y: !right, %z: !out) attributes {strata.kernel} {
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : !left, !right) outs(%z : !out) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %e = arith.extf %a : bf16 to f32
      %f = arith.extf %b : bf16 to f32
      %p = arith.mulf %e, %f : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

!left = memref<512x250xf16, #gpu.address_space<global>>
!right = memref<512x250xf16, #gpu.address_space<global>>
!out = memref<512x512xf32, #gpu.address_space<global>>

// Rows that are no multiples of 16 bytes.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     tensor_map
// CHECK:         llvm.nvvm.mma.m16n8k16
module attributes {strata.chip = "sm_90a"} {
  func.func @main(%x: !left, %y: !right, %z: !out) {
    call @gpu_k(%x, %y, %z) {strata.launch} : (!left, !right, !out) -> ()
    return
  }
  func.func private @gpu_k(%x: !left, %y: !right, %z: !out) attributes {strata.kernel} {
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : !left, !right) outs(%z : !out) {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %e = arith.extf %a : f16 to f32
      %f = arith.extf %b : f16 to f32
      %p = arith.mulf %e, %f : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

!data = memref<2x33x33x64xf16, #gpu.address_space<global>>
!filter = memref<96x3x3x64xf16, #gpu.address_space<global>>
!out = memref<2x16x16x96xf32, #gpu.address_space<global>>

// Rows are pixels: a box of 64 of every second one, of 16 columns (32 elements of the dimension, with step 2) and 4 lines.
// A dimension of the data is walked by a pixel's number and the window's. Steps are 64 channels of each place of the
// window.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG:     %[[C33:.*]] = arith.constant 33 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[LINE:.*]] = arith.constant 2112 : index
// CHECK-DAG:     %[[IMAGE:.*]] = arith.constant 69696 : index
// CHECK:         call @strata_gpu_tensor_map_0(%{{.*}}, %[[C0]], %[[C6]], %[[C3]], %[[C2]], %[[C4]],
// CHECK-SAME:      %[[C64]], %[[C1]], %[[C64]], %[[C1]], %[[C33]], %[[C64]], %[[C32]], %[[C2]],
// CHECK-SAME:      %[[C33]], %[[LINE]], %[[C8]], %[[C2]], %[[C2]], %[[IMAGE]], %[[C1]], %[[C1]])
// CHECK:       gpu.func @k(
// CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}} A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]
// CHECK-NOT:     nvvm.wgmma.mma_async
module attributes {strata.chip = "sm_90a"} {
  func.func @main(%x: !data, %w: !filter, %z: !out) {
    call @gpu_k(%x, %w, %z) {strata.launch} : (!data, !filter, !out) -> ()
    return
  }
  func.func private @gpu_k(%x: !data, %w: !filter, %z: !out) attributes {strata.kernel} {
    linalg.generic {indexing_maps = [affine_map<(n, y, x, f, i, j, c) -> (n, 2 * y + i, 2 * x + j, c)>, affine_map<(n, y, x, f, i, j, c) -> (f, i, j, c)>, affine_map<(n, y, x, f, i, j, c) -> (n, y, x, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : !data, !filter) outs(%z : !out) {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %e = arith.extf %a : f16 to f32
      %f = arith.extf %b : f16 to f32
      %p = arith.mulf %e, %f : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    return
  }
}
