// RUN: strata-opt %s --split-input-file --verify-diagnostics --strata-map-kernels --canonicalize | FileCheck %s

!left = memref<256x64xf16, #gpu.address_space<global>>
!right = memref<64x256xf16, #gpu.address_space<global>>
!out = memref<256x256xf32, #gpu.address_space<global>>

// 2 x 4 tiles of 128 x 64 with two stages, in two warps of 64 x 64, where the heuristic has 4 x 4 of 64 x 64 in four.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 64 : index
// CHECK:         gpu.launch_func @kernels::@k blocks in (%[[BLOCKS]], %{{.*}}, %{{.*}}) threads in (%[[THREADS]],
// CHECK-NOT:     dynamic_shared_memory_size
// CHECK:       gpu.func @k(
// CHECK-SAME:      workgroup(%{{.*}} : memref<24576xi8, #gpu.address_space<workgroup>>
// CHECK-SAME:      known_block_size = array<i32: 64, 1, 1>
// CHECK:         scf.for
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK-COUNT-64:  llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// CHECK-NOT:       llvm.nvvm.mma
// CHECK:           scf.yield
func.func @main(%x: !left, %y: !right, %z: !out) {
  call @gpu_k(%x, %y, %z) {strata.launch} : (!left, !right, !out) -> ()
  return
}
func.func private @gpu_k(%x: !left, %y: !right, %z: !out) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : !left, !right) outs(%z : !out) attrs = {strata.tile = ["warps", 128, 64, 64, 64, 32, 2]} {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %p = arith.mulf %c, %d : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

!left = memref<256x64xf16, #gpu.address_space<global>>
!right = memref<64x256xf16, #gpu.address_space<global>>
!out = memref<256x256xf32, #gpu.address_space<global>>

// Stages beyond what a kernel may have without asking: the launch asks.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     %[[BYTES:.*]] = arith.constant 98304 : i32
// CHECK:         gpu.launch_func @kernels::@k {{.*}} dynamic_shared_memory_size %[[BYTES]]
// CHECK:         llvm.mlir.global external @dynamic_shared() {addr_space = 3 : i32, alignment = 1024 : i64}
// CHECK:       gpu.func @k(
// CHECK-NOT:       workgroup(
// CHECK:         llvm.mlir.addressof @dynamic_shared
// CHECK:           nvvm.cp.async.wait.group 1
func.func @main(%x: !left, %y: !right, %z: !out) {
  call @gpu_k(%x, %y, %z) {strata.launch} : (!left, !right, !out) -> ()
  return
}
func.func private @gpu_k(%x: !left, %y: !right, %z: !out) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : !left, !right) outs(%z : !out) attrs = {strata.tile = ["warps", 128, 128, 64, 32, 64, 3]} {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %p = arith.mulf %c, %d : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

!left = memref<128x64xf32, #gpu.address_space<global>>
!out = memref<128x128xf32, #gpu.address_space<global>>

// Without tensor cores: 4 x 2 tiles of 32 x 64, in threads of 4 x 4.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 128 : index
// CHECK:         gpu.launch_func @kernels::@k blocks in (%[[BLOCKS]], %{{.*}}, %{{.*}}) threads in (%[[THREADS]],
func.func @main(%x: !left, %y: !left, %z: !out) {
  call @gpu_k(%x, %y, %z) {strata.launch} : (!left, !left, !out) -> ()
  return
}
func.func private @gpu_k(%x: !left, %y: !left, %z: !out) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : !left, !left) outs(%z : !out) attrs = {strata.tile = ["threads", 32, 64, 4, 4, 16, 2]} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// What is not possible leaves the heuristic's tile. Tensor cores do not compute f32, which nobody rounds:
!left = memref<128x64xf32, #gpu.address_space<global>>
!out = memref<128x128xf32, #gpu.address_space<global>>

// CHECK-LABEL: func.func @main(
// CHECK-DAG:     %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 256 : index
// CHECK-COUNT-5: gpu.launch_func {{.*}} blocks in (%[[FOUR]], %{{.*}}, %{{.*}}) threads in (%[[THREADS]],
func.func @main(%x: !left, %y: !left, %z: !out) {
  call @gpu_k(%x, %y, %z) {strata.launch} : (!left, !left, !out) -> ()
  call @gpu_registers(%x, %y, %z) {strata.launch} : (!left, !left, !out) -> ()
  call @gpu_memory(%x, %y, %z) {strata.launch} : (!left, !left, !out) -> ()
  call @gpu_copies(%x, %y, %z) {strata.launch} : (!left, !left, !out) -> ()
  call @gpu_malformed(%x, %y, %z) {strata.launch} : (!left, !left, !out) -> ()
  return
}
func.func private @gpu_k(%x: !left, %y: !left, %z: !out) attributes {strata.kernel} {
  // expected-warning @below {{the tile that was chosen is not possible on this target}}
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : !left, !left) outs(%z : !out) attrs = {strata.tile = ["warps", 64, 64, 32, 32, 16, 4]} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
// Sums of 16 x 16 in a thread,
func.func private @gpu_registers(%x: !left, %y: !left, %z: !out) attributes {strata.kernel} {
  // expected-warning @below {{the tile that was chosen is not possible on this target}}
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : !left, !left) outs(%z : !out) attrs = {strata.tile = ["threads", 128, 128, 16, 16, 16, 2]} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
// stages of 128 KiB,
func.func private @gpu_memory(%x: !left, %y: !left, %z: !out) attributes {strata.kernel} {
  // expected-warning @below {{the tile that was chosen is not possible on this target}}
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : !left, !left) outs(%z : !out) attrs = {strata.tile = ["threads", 128, 128, 8, 8, 32, 4]} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
// a stage alone, which nothing is copied beside,
func.func private @gpu_copies(%x: !left, %y: !left, %z: !out) attributes {strata.kernel} {
  // expected-warning @below {{the tile that was chosen is not possible on this target}}
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : !left, !left) outs(%z : !out) attrs = {strata.tile = ["threads", 64, 64, 4, 4, 16, 1]} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
// and something else.
func.func private @gpu_malformed(%x: !left, %y: !left, %z: !out) attributes {strata.kernel} {
  // expected-warning @below {{the tile that was chosen is not possible on this target}}
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : !left, !left) outs(%z : !out) attrs = {strata.tile = [64, 64]} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

!left = memref<256x128xf16, #gpu.address_space<global>>
!right = memref<128x256xf16, #gpu.address_space<global>>
!out = memref<256x256xf32, #gpu.address_space<global>>

// By warpgroups: two stages of 128 x 64, in a block of three warpgroups; and by warps in their place. Tiles that there
// are not leave the heuristic's, of 64 x 64 in two.
module attributes {strata.chip = "sm_90a"} {
  // CHECK-LABEL: func.func @main(
  // CHECK-DAG:     %[[THREE:.*]] = arith.constant 384 : index
  // CHECK-DAG:     %[[TWO:.*]] = arith.constant 256 : index
  // CHECK-DAG:     %[[ONE:.*]] = arith.constant 128 : index
  // CHECK-DAG:     %[[BYTES:.*]] = arith.constant 49184 : i32
  // CHECK:         gpu.launch_func @kernels::@k {{.*}} threads in (%[[THREE]], {{.*}} dynamic_shared_memory_size %[[BYTES]]
  // CHECK-SAME:      strata.kernel_note = "by warpgroups, in tiles of 128 x 64"
  // CHECK:         gpu.launch_func @kernels::@warps {{.*}} threads in (%[[ONE]],
  // CHECK-NOT:       warpgroups
  // CHECK:         gpu.launch_func @kernels::@unknown {{.*}} threads in (%[[TWO]],
  // CHECK-SAME:      strata.kernel_note = "by warpgroups, in tiles of 64 x 64"
  func.func @main(%x: !left, %y: !right, %z: !out) {
    call @gpu_k(%x, %y, %z) {strata.launch} : (!left, !right, !out) -> ()
    call @gpu_warps(%x, %y, %z) {strata.launch} : (!left, !right, !out) -> ()
    call @gpu_unknown(%x, %y, %z) {strata.launch} : (!left, !right, !out) -> ()
    return
  }
  func.func private @gpu_k(%x: !left, %y: !right, %z: !out) attributes {strata.kernel} {
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : !left, !right) outs(%z : !out) attrs = {strata.tile = ["warpgroups", 128, 64, 64, 64, 64, 2]} {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %c = arith.extf %a : f16 to f32
      %d = arith.extf %b : f16 to f32
      %p = arith.mulf %c, %d : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @gpu_warps(%x: !left, %y: !right, %z: !out) attributes {strata.kernel} {
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : !left, !right) outs(%z : !out) attrs = {strata.tile = ["warps", 64, 64, 32, 32, 32, 4]} {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %c = arith.extf %a : f16 to f32
      %d = arith.extf %b : f16 to f32
      %p = arith.mulf %c, %d : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @gpu_unknown(%x: !left, %y: !right, %z: !out) attributes {strata.kernel} {
    // expected-warning @below {{the tile that was chosen is not possible on this target}}
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : !left, !right) outs(%z : !out) attrs = {strata.tile = ["warpgroups", 128, 32, 64, 32, 64, 2]} {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %c = arith.extf %a : f16 to f32
      %d = arith.extf %b : f16 to f32
      %p = arith.mulf %c, %d : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

!left = memref<256x128xf32, #gpu.address_space<global>>
!out = memref<256x256xf32, #gpu.address_space<global>>

// Of f32, copies of boxes round otherwise than warps do: neither takes the other's place.
module attributes {strata.chip = "sm_90a", strata.tf32} {
  // CHECK-LABEL: func.func @main(
  // CHECK:         gpu.launch_func @kernels::@k
  // CHECK-SAME:      strata.kernel_note = "by warpgroups
  func.func @main(%x: !left, %y: !left, %z: !out) {
    call @gpu_k(%x, %y, %z) {strata.launch} : (!left, !left, !out) -> ()
    return
  }
  func.func private @gpu_k(%x: !left, %y: !left, %z: !out) attributes {strata.kernel} {
    // expected-warning @below {{the tile that was chosen is not possible on this target}}
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : !left, !left) outs(%z : !out) attrs = {strata.tile = ["warps", 64, 64, 32, 32, 16, 4]} {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    return
  }
}
