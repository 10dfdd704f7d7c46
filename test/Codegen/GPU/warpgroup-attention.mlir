// RUN: strata-opt %s --split-input-file --strata-map-kernels --canonicalize --cse | FileCheck %s

#q = affine_map<(h, g, j, d) -> (h, g, d)>
#k = affine_map<(h, g, j, d) -> (h, j, d)>
#s = affine_map<(h, g, j, d) -> (h, g, j)>
#v = affine_map<(h, g, d, j) -> (h, j, d)>
#p = affine_map<(h, g, d, j) -> (h, g, j)>
#all = affine_map<(h, g, j) -> (h, g, j)>
#row = affine_map<(h, g, j) -> (h, g)>
#none = affine_map<(h, g, j) -> ()>
#one = affine_map<(h, g) -> (h, g)>
#no = affine_map<(h, g) -> ()>
!q = memref<2x70x64xf16, #gpu.address_space<global>>
!k = memref<2x300x64xf16, #gpu.address_space<global>>
!s = memref<2x70x300xf32, #gpu.address_space<global>>
!r = memref<2x70xf32, #gpu.address_space<global>>
!o = memref<2x70x64xf32, #gpu.address_space<global>>

// Blocks of 64 queries. Tensor maps of boxes of 64 rows of Q, and of 128 keys of K and V. One thread copies Q, and tiles of
// K and V in turn, to three stages. What multiplies has two tiles of keys under way: the scores of the next one, and the
// weights of the last one, which come from registers.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C70:.*]] = arith.constant 70 : index
// CHECK-DAG:     %[[C128:.*]] = arith.constant 128 : index
// CHECK-DAG:     %[[C256:.*]] = arith.constant 256 : index
// CHECK-DAG:     %[[C300:.*]] = arith.constant 300 : index
// CHECK-DAG:     %[[HEAD:.*]] = arith.constant 4480 : index
// CHECK-DAG:     %[[SHARED:.*]] = arith.constant 106608 : i32
// CHECK:         %[[Q:.*]] = call @strata_gpu_tensor_map_0(%{{.*}}, %[[C0]], %[[C6]], %[[C3]], %[[C2]], %[[C3]], %[[C64]], %[[C1]], %[[C64]], %[[C1]], %[[C70]], %[[C64]], %[[C64]], %[[C1]], %[[C2]], %[[HEAD]], %[[C1]], %[[C1]])
// CHECK:         %[[K:.*]] = call @strata_gpu_tensor_map_1({{.*}}, %[[C64]], %[[C1]], %[[C64]], %[[C1]], %[[C300]], %[[C64]], %[[C128]], %[[C1]], %[[C2]],
// CHECK:         %[[V:.*]] = call @strata_gpu_tensor_map_2({{.*}}, %[[C64]], %[[C1]], %[[C64]], %[[C1]], %[[C300]], %[[C64]], %[[C128]], %[[C1]], %[[C2]],
// CHECK:         gpu.launch_func @kernels::@k blocks in (%[[C4]], %[[C1]], %[[C1]]) threads in (%[[C256]], %[[C1]], %[[C1]]) dynamic_shared_memory_size %[[SHARED]]
// CHECK-SAME:      %[[Q]] : !llvm.ptr, %[[K]] : !llvm.ptr, %[[V]] : !llvm.ptr
// CHECK-SAME:      strata.kernel_note = "attention, with an online softmax, by warpgroups"
// CHECK:       gpu.func @k({{.*}}, %[[MQ:.*]]: !llvm.ptr, %[[MK:.*]]: !llvm.ptr, %[[MV:.*]]: !llvm.ptr) kernel attributes {known_block_size = array<i32: 256, 1, 1>, nvvm.minctasm = 2 : i32, strata.tensor_maps = 3 : i64}
// CHECK-COUNT-14: nvvm.mbarrier.init.shared
// CHECK:         nvvm.fence.mbarrier.init
// CHECK:         gpu.barrier
// CHECK:         nvvm.setmaxregister decrease 24
// CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MQ]],
// CHECK:         scf.for %{{.*}} = %[[C0]] to %[[C300]] step %[[C128]]
// CHECK:           nvvm.mbarrier.try_wait.parity.shared
// CHECK:           nvvm.mbarrier.arrive.expect_tx.shared
// CHECK:           nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MK]],
// CHECK:           nvvm.mbarrier.try_wait.parity.shared
// CHECK:           nvvm.mbarrier.arrive.expect_tx.shared
// CHECK:           nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MV]],
// CHECK:         nvvm.setmaxregister increase 232
// CHECK:         nvvm.wgmma.fence.aligned
// CHECK:         nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 16>, D[<f32>, <zero>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]
// CHECK-COUNT-3: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 16>, D[<f32>, <one>]
// CHECK:         nvvm.wgmma.wait.group.sync.aligned 0
// CHECK:         scf.for %{{.*}} = %[[C128]] to %[[C300]] step %[[C128]]
// CHECK:           nvvm.wgmma.fence.aligned
// CHECK-COUNT-4:   nvvm.wgmma.mma_async
// CHECK:           nvvm.wgmma.commit.group.sync.aligned
// CHECK:           nvvm.wgmma.fence.aligned
// CHECK-COUNT-8:   llvm.inline_asm {{.*}}wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, {$64, $65, $66, $67}, $68, p, 1, 1, 1; }
// CHECK:           nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT:      nvvm.wgmma.wait.group.sync.aligned 1
// CHECK:           nvvm.mbarrier.arrive.shared
// CHECK:           llvm.nvvm.ex2.approx.ftz.f
// CHECK:           nvvm.wgmma.wait.group.sync.aligned 0
// CHECK:           nvvm.mbarrier.arrive.shared
// CHECK:           llvm.nvvm.ff2f16x2.rn
// CHECK-COUNT-8: llvm.inline_asm
// CHECK:         nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-COUNT-32: memref.store
// CHECK-NOT:     memref.store
module attributes {strata.chip = "sm_90a"} {
  func.func @main(%q: !q, %k: !k, %v: !k, %o: !o) {
    call @gpu_k(%q, %k, %v, %o) {strata.launch} : (!q, !k, !k, !o) -> ()
    return
  }
  func.func private @gpu_k(%q: !q, %k: !k, %v: !k, %r: !o) attributes {strata.kernel} {
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    scf.forall (%i) in (1) {
      %s = memref.alloc() : !s
      linalg.generic {indexing_maps = [#none, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%zero : f32) outs(%s : !s) {
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      }
      linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : !q, !k) outs(%s : !s) attrs = {strata.attention = "scores"} {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %b : f16 to f32
        %m = arith.mulf %x, %y : f32
        %z = arith.addf %o, %m : f32
        linalg.yield %z : f32
      }
      %m = memref.alloc() : !r
      linalg.generic {indexing_maps = [#no, #one], iterator_types = ["parallel", "parallel"]} ins(%lowest : f32) outs(%m : !r) {
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      }
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : !s) outs(%m : !r) attrs = {strata.attention = "maximum"} {
      ^bb0(%a: f32, %o: f32):
        %x = arith.maximumf %o, %a : f32
        linalg.yield %x : f32
      }
      %e = memref.alloc() : !s
      linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : !s, !r) outs(%e : !s) attrs = {strata.attention = "exponential"} {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %x = arith.subf %a, %b : f32
        %y = math.exp %x : f32
        linalg.yield %y : f32
      }
      %t = memref.alloc() : !r
      linalg.generic {indexing_maps = [#no, #one], iterator_types = ["parallel", "parallel"]} ins(%zero : f32) outs(%t : !r) {
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      }
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : !s) outs(%t : !r) attrs = {strata.attention = "sum"} {
      ^bb0(%a: f32, %o: f32):
        %x = arith.addf %o, %a : f32
        linalg.yield %x : f32
      }
      %p = memref.alloc() : memref<2x70x300xf16, #gpu.address_space<global>>
      linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %t : !s, !r) outs(%p : memref<2x70x300xf16, #gpu.address_space<global>>) attrs = {strata.attention = "weight"} {
      ^bb0(%a: f32, %b: f32, %o: f16):
        %x = arith.divf %a, %b : f32
        %y = arith.truncf %x : f32 to f16
        linalg.yield %y : f16
      }
      linalg.generic {indexing_maps = [#none, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%zero : f32) outs(%r : !o) {
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      }
      linalg.generic {indexing_maps = [#p, #v, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : memref<2x70x300xf16, #gpu.address_space<global>>, !k) outs(%r : !o) attrs = {strata.attention = "values"} {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %b : f16 to f32
        %m2 = arith.mulf %x, %y : f32
        %z = arith.addf %o, %m2 : f32
        linalg.yield %z : f32
      }
    } {mapping = [#gpu.block<x>]}
    return
  }
}

// -----

#q = affine_map<(h, g, j, d) -> (h, g, d)>
#k = affine_map<(h, g, j, d) -> (h, j, d)>
#s = affine_map<(h, g, j, d) -> (h, g, j)>
#v = affine_map<(h, g, d, j) -> (h, j, d)>
#p = affine_map<(h, g, d, j) -> (h, g, j)>
#all = affine_map<(h, g, j) -> (h, g, j)>
#row = affine_map<(h, g, j) -> (h, g)>
#none = affine_map<(h, g, j) -> ()>
#one = affine_map<(h, g) -> (h, g)>
#no = affine_map<(h, g) -> ()>
!q = memref<2x70x60xf16, #gpu.address_space<global>>
!k = memref<2x300x60xf16, #gpu.address_space<global>>
!s = memref<2x70x300xf32, #gpu.address_space<global>>
!r = memref<2x70xf32, #gpu.address_space<global>>
!o = memref<2x70x60xf32, #gpu.address_space<global>>

// Rows of Q, K and V that are no multiples of 16 bytes.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     tensor_map
// CHECK-NOT:     wgmma
// CHECK:         llvm.nvvm.mma.m16n8k16
module attributes {strata.chip = "sm_90a"} {
  func.func @main(%q: !q, %k: !k, %v: !k, %o: !o) {
    call @gpu_k(%q, %k, %v, %o) {strata.launch} : (!q, !k, !k, !o) -> ()
    return
  }
  func.func private @gpu_k(%q: !q, %k: !k, %v: !k, %r: !o) attributes {strata.kernel} {
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    scf.forall (%i) in (1) {
      %s = memref.alloc() : !s
      linalg.generic {indexing_maps = [#none, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%zero : f32) outs(%s : !s) {
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      }
      linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : !q, !k) outs(%s : !s) attrs = {strata.attention = "scores"} {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %b : f16 to f32
        %m = arith.mulf %x, %y : f32
        %z = arith.addf %o, %m : f32
        linalg.yield %z : f32
      }
      %m = memref.alloc() : !r
      linalg.generic {indexing_maps = [#no, #one], iterator_types = ["parallel", "parallel"]} ins(%lowest : f32) outs(%m : !r) {
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      }
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : !s) outs(%m : !r) attrs = {strata.attention = "maximum"} {
      ^bb0(%a: f32, %o: f32):
        %x = arith.maximumf %o, %a : f32
        linalg.yield %x : f32
      }
      %e = memref.alloc() : !s
      linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : !s, !r) outs(%e : !s) attrs = {strata.attention = "exponential"} {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %x = arith.subf %a, %b : f32
        %y = math.exp %x : f32
        linalg.yield %y : f32
      }
      %t = memref.alloc() : !r
      linalg.generic {indexing_maps = [#no, #one], iterator_types = ["parallel", "parallel"]} ins(%zero : f32) outs(%t : !r) {
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      }
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : !s) outs(%t : !r) attrs = {strata.attention = "sum"} {
      ^bb0(%a: f32, %o: f32):
        %x = arith.addf %o, %a : f32
        linalg.yield %x : f32
      }
      %p = memref.alloc() : memref<2x70x300xf16, #gpu.address_space<global>>
      linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %t : !s, !r) outs(%p : memref<2x70x300xf16, #gpu.address_space<global>>) attrs = {strata.attention = "weight"} {
      ^bb0(%a: f32, %b: f32, %o: f16):
        %x = arith.divf %a, %b : f32
        %y = arith.truncf %x : f32 to f16
        linalg.yield %y : f16
      }
      linalg.generic {indexing_maps = [#none, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%zero : f32) outs(%r : !o) {
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      }
      linalg.generic {indexing_maps = [#p, #v, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : memref<2x70x300xf16, #gpu.address_space<global>>, !k) outs(%r : !o) attrs = {strata.attention = "values"} {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %b : f16 to f32
        %m2 = arith.mulf %x, %y : f32
        %z = arith.addf %o, %m2 : f32
        linalg.yield %z : f32
      }
    } {mapping = [#gpu.block<x>]}
    return
  }
}
