// RUN: strata-opt %s --split-input-file --strata-map-kernels --canonicalize | FileCheck %s

!device = memref<1000x30xf32, #gpu.address_space<global>>

// Contiguous loops are one; 256 threads in a block, the last block is not full.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 118 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 256 : index
// CHECK:         gpu.launch_func @kernels::@k blocks in (%[[BLOCKS]], %{{.*}}, %{{.*}}) threads in (%[[THREADS]],
// CHECK:       gpu.func @k(
// CHECK-SAME:      kernel attributes {known_block_size = array<i32: 256, 1, 1>}
// CHECK-DAG:     %[[ALL:.*]] = arith.constant 30000 : index
// CHECK:         %[[INSIDE:.*]] = arith.cmpi ult, %[[POINT:.*]], %[[ALL]] : index
// CHECK:         scf.if %[[INSIDE]] {
// CHECK:           memref.load %{{.*}}[%[[POINT]]]
// CHECK:           math.exp
// CHECK:           memref.store %{{.*}}, %{{.*}}[%[[POINT]]]
func.func @main(%x: !device, %y: !device) {
  call @gpu_k(%x, %y) {strata.launch} : (!device, !device) -> ()
  return
}
func.func private @gpu_k(%x: !device, %y: !device) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : !device) outs(%y : !device) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  }
  return
}

// -----

!device = memref<8x4096xf32, #gpu.address_space<global>>
!row = memref<8xf32, #gpu.address_space<global>>

// A row is shared by 256 threads; barriers separate the levels of the tree.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 8 : index
// CHECK:         gpu.launch_func @kernels::@k blocks in (%[[BLOCKS]],
// CHECK:       gpu.func @k(
// CHECK-SAME:      workgroup(%{{.*}} : memref<256x1xf32, #gpu.address_space<workgroup>>)
// CHECK:         scf.for
// CHECK-COUNT-8: gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
func.func @main(%x: !device, %y: !row) {
  call @gpu_k(%x, %y) {strata.launch} : (!device, !row) -> ()
  return
}
func.func private @gpu_k(%x: !device, %y: !row) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : !device) outs(%y : !row) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

!left = memref<100x40xf32, #gpu.address_space<global>>
!right = memref<40x200xf32, #gpu.address_space<global>>
!out = memref<100x200xf32, #gpu.address_space<global>>

// 2 x 4 tiles of 64 x 64. Rows of the left side lie with their steps, steps of the right side with their columns; both
// are copied in chunks of 16 bytes, the next ones while these are computed.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 8 : index
// CHECK:         gpu.launch_func @kernels::@k blocks in (%[[BLOCKS]],
// CHECK:       gpu.func @k(
// CHECK-SAME:      workgroup(%{{.*}} : memref<16384xi8, #gpu.address_space<workgroup>> {llvm.align = 128 : i64})
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         scf.for
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK-NEXT:      gpu.barrier
// CHECK-COUNT-2:   llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           scf.for
// CHECK-COUNT-8:     llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-64:    arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f32
// CHECK-NOT:       gpu.barrier
// CHECK:         nvvm.cp.async.wait.group 0
func.func @main(%x: !left, %y: !right, %z: !out) {
  call @gpu_k(%x, %y, %z) {strata.launch} : (!left, !right, !out) -> ()
  return
}
func.func private @gpu_k(%x: !left, %y: !right, %z: !out) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : !left, !right) outs(%z : !out) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

!left = memref<64x64xf16, #gpu.address_space<global>>
!out = memref<64x64xf32, #gpu.address_space<global>>

// On tensor cores: four warps of 32 x 32 results, 32 steps at a time; whole tiles have no borders. The right side is
// transposed while it is loaded.
// CHECK-LABEL: func.func @main(
// CHECK:       gpu.func @k(
// CHECK-SAME:      known_block_size = array<i32: 128, 1, 1>
// CHECK:         llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16"(
// CHECK:         scf.for
// CHECK:           nvvm.cp.async.wait.group 2
// CHECK-NEXT:      gpu.barrier
// CHECK-COUNT-2:   nvvm.ldmatrix %{{.*}} {layout = #nvvm.mma_layout<row>, num = 4 : i32}
// CHECK-COUNT-2:   nvvm.ldmatrix %{{.*}} {layout = #nvvm.mma_layout<col>, num = 4 : i32}
// CHECK-COUNT-8:   llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// CHECK:           nvvm.ldmatrix
// CHECK-COUNT-8:   llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// CHECK-NOT:       llvm.nvvm.mma
// CHECK:           scf.yield
func.func @main(%x: !left, %y: !left, %z: !out) {
  call @gpu_k(%x, %y, %z) {strata.launch} : (!left, !left, !out) -> ()
  return
}
func.func private @gpu_k(%x: !left, %y: !left, %z: !out) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : !left, !left) outs(%z : !out) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %e = arith.extf %a : f16 to f32
    %f = arith.extf %b : f16 to f32
    %p = arith.mulf %e, %f : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Numbers that are rounded are moved one by one: two f32 are no element of 64 bits, of which two f16 could be made.
// CHECK-LABEL: func.func @two_rounded
// CHECK:         arith.truncf %{{.*}} : f32 to f16
func.func @two_rounded(%x: memref<2xf32>, %y: memref<2xf16>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<2xf32>) outs(%y : memref<2xf16>) {
  ^bb0(%a: f32, %o: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  }
  return
}
