// RUN: strata-opt %s --split-input-file --strata-split-attention | FileCheck %s
// RUN: strata-opt %s --split-input-file --strata-split-attention --strata-plan-arena --strata-map-kernels --canonicalize --cse | FileCheck %s --check-prefix=MAPPED

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
!q = memref<2x4x64xf16, #gpu.address_space<global>>
!k = memref<2x1024x64xf16, #gpu.address_space<global>>
!s = memref<2x4x1024xf32, #gpu.address_space<global>>
!r = memref<2x4xf32, #gpu.address_space<global>>
!o = memref<2x4x64xf32, #gpu.address_space<global>>

// Two tiles of rows: each has 1024 keys, 64 for each of 16 warps. What is between the kernels is freed behind them.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[Q:.*]]: memref<2x4x64xf16{{.*}}, %[[K:.*]]: memref<2x1024x64xf16{{.*}}, %[[V:.*]]: memref<2x1024x64xf16{{.*}}, %[[O:.*]]: memref<2x4x64xf32
// CHECK-NEXT:    %[[SUMS:.*]] = memref.alloc() : memref<8x16x64xf32, #gpu.address_space<global>>
// CHECK-NEXT:    %[[MARKS:.*]] = memref.alloc() : memref<8x16x2xf32, #gpu.address_space<global>>
// CHECK-NEXT:    call @gpu_k(%[[Q]], %[[K]], %[[V]], %[[O]], %[[SUMS]], %[[MARKS]]) {strata.launch}
// CHECK-NEXT:    call @gpu_k_join(%[[Q]], %[[K]], %[[V]], %[[O]], %[[SUMS]], %[[MARKS]]) {strata.launch}
// CHECK-NEXT:    memref.dealloc %[[SUMS]]
// CHECK-NEXT:    memref.dealloc %[[MARKS]]
// CHECK-NEXT:    return
// CHECK-DAG:   func.func private @gpu_k({{.*}}memref<8x16x64xf32, {{.*}}memref<8x16x2xf32, {{.*}}strata.attention_parts = "parts"
// CHECK-DAG:   func.func private @gpu_k_join({{.*}}memref<8x16x64xf32, {{.*}}memref<8x16x2xf32, {{.*}}strata.attention_parts = "join"

// Both buffers are the arena's. A block of the first kernel is a warp, one of the second has a row.
// MAPPED-LABEL: func.func @main(
// MAPPED-DAG:     %[[BLOCKS:.*]] = arith.constant 32 : index
// MAPPED-DAG:     %[[ROWS:.*]] = arith.constant 8 : index
// MAPPED-DAG:     %[[THREADS:.*]] = arith.constant 128 : index
// MAPPED:         %[[ARENA:.*]] = memref.alloc() {{.*}} : memref<33792xi8, #gpu.address_space<global>>
// MAPPED-DAG:     memref.view %[[ARENA]]{{.*}} to memref<8x16x64xf32
// MAPPED-DAG:     memref.view %[[ARENA]]{{.*}} to memref<8x16x2xf32
// MAPPED:         gpu.launch_func @kernels::@k blocks in (%[[BLOCKS]], %{{.*}}, %{{.*}}) threads in (%[[BLOCKS]], {{.*}}keys in up to 16 parts
// MAPPED-NEXT:    gpu.launch_func @kernels::@k_join blocks in (%[[ROWS]], %{{.*}}, %{{.*}}) threads in (%[[THREADS]], {{.*}}what the parts of the keys give
// MAPPED:       gpu.func @k(
// MAPPED-SAME:      known_block_size = array<i32: 32, 1, 1>
// V is copied with the first keys; results are sums and marks.
// MAPPED-COUNT-2: nvvm.cp.async.commit.group
// MAPPED:         scf.for
// MAPPED-NEXT:      nvvm.cp.async.wait.group 1
// MAPPED:           nvvm.ldmatrix
// MAPPED-COUNT-2:   nvvm.cp.async.commit.group
// MAPPED:         nvvm.cp.async.wait.group 0
// MAPPED:         llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
// MAPPED-NOT:     memref.store
// MAPPED:       gpu.func @k_join(
// MAPPED-SAME:      known_block_size = array<i32: 128, 1, 1>
// MAPPED:         llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// MAPPED-COUNT-5: arith.maximumf
// MAPPED:         gpu.barrier
// MAPPED:         llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// MAPPED:         gpu.barrier
// MAPPED:         memref.store
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
    %p = memref.alloc() : memref<2x4x1024xf16, #gpu.address_space<global>>
    linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %t : !s, !r) outs(%p : memref<2x4x1024xf16, #gpu.address_space<global>>) attrs = {strata.attention = "weight"} {
    ^bb0(%a: f32, %b: f32, %o: f16):
      %x = arith.divf %a, %b : f32
      %y = arith.truncf %x : f32 to f16
      linalg.yield %y : f16
    }
    linalg.generic {indexing_maps = [#none, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%zero : f32) outs(%r : !o) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    linalg.generic {indexing_maps = [#p, #v, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : memref<2x4x1024xf16, #gpu.address_space<global>>, !k) outs(%r : !o) attrs = {strata.attention = "values"} {
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
