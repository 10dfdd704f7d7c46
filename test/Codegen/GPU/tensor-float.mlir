// RUN: strata-opt %s --strata-map-kernels --canonicalize | FileCheck %s

!left = memref<64x64xf32, #gpu.address_space<global>>

// f32 on tensor cores where the module allows it. Lines of the left side are rows, which ldmatrix reads; those of the
// right side are steps, of which lanes load their elements one by one. All are rounded in registers.
// CHECK-LABEL: gpu.func @k(
// CHECK-SAME:      known_block_size = array<i32: 128, 1, 1>
// CHECK:         llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16"(
// CHECK:         scf.for
// CHECK:           nvvm.cp.async.wait.group 2
// CHECK-NEXT:      gpu.barrier
// CHECK:           nvvm.ldmatrix %{{.*}} {layout = #nvvm.mma_layout<row>, num = 4 : i32}
// CHECK:           llvm.call_intrinsic "llvm.nvvm.f2tf32.rna"
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK-NEXT:      llvm.call_intrinsic "llvm.nvvm.f2tf32.rna"
// CHECK-COUNT-8:   llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.tf32"
module attributes {strata.tf32} {
  func.func @main(%x: !left, %y: !left, %z: !left) {
    call @gpu_k(%x, %y, %z) {strata.launch} : (!left, !left, !left) -> ()
    return
  }
  func.func private @gpu_k(%x: !left, %y: !left, %z: !left) attributes {strata.kernel} {
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : !left, !left) outs(%z : !left) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    return
  }
}
