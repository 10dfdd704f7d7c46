// RUN: strata-opt %s --split-input-file --strata-map-kernels --canonicalize --cse | FileCheck %s

#all = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
#one = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
!device = memref<1024x256xf32, #gpu.address_space<global>>
!row = memref<1x256xf32, strided<[256, 1], offset: ?>, #gpu.address_space<global>>
!sum = memref<1xf32, #gpu.address_space<global>>

// Rows over their sums: a warp has a row, of which each lane loads two times four elements, once. What the lanes sum up
// they tell each other; there is no memory between the operations.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 256 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 128 : index
// CHECK:         gpu.launch_func @kernels::@k blocks in (%[[BLOCKS]], %{{.*}}, %{{.*}}) threads in (%[[THREADS]],
// CHECK:       gpu.func @k(
// CHECK-SAME:      kernel attributes {known_block_size = array<i32: 128, 1, 1>}
// CHECK-NOT:     scf.for
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT:     {{llvm|memref}}.load
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle
// CHECK-NOT:     gpu.barrier
// CHECK-COUNT-4: arith.divf
// CHECK:         llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-COUNT-4: arith.divf
// CHECK:         llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NOT:     {{llvm|memref}}.load
func.func @main(%x: !device, %y: !device) {
  call @gpu_k(%x, %y) {strata.launch} : (!device, !device) -> ()
  return
}
func.func private @gpu_k(%x: !device, %y: !device) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (1024) {
    %from = memref.subview %x[%i, 0] [1, 256] [1, 1] : !device to !row
    %sum = memref.alloc() : !sum
    linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%zero : f32) outs(%sum : !sum) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%from : !row) outs(%sum : !sum) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
    }
    %to = memref.subview %y[%i, 0] [1, 256] [1, 1] : !device to !row
    linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%from, %sum : !row, !sum) outs(%to : !row) {
    ^bb0(%a: f32, %s: f32, %o: f32):
      %q = arith.divf %a, %s : f32
      linalg.yield %q : f32
    }
    memref.dealloc %sum : !sum
  }
  return
}

// -----

#all = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
#one = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
!device = memref<?x?xf32, #gpu.address_space<global>>
!row = memref<1x?xf32, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!sum = memref<1xf32, #gpu.address_space<global>>

// A row of a length that only the run tells is walked again for each operation; its four warps meet in shared memory.
// CHECK-LABEL: func.func @main(
// CHECK:         gpu.launch_func @kernels::@k blocks in (%arg2, %{{.*}}, %{{.*}}) threads in (
// CHECK:       gpu.func @k(
// CHECK-SAME:      workgroup(%{{.*}} : memref<4x1xf32, #gpu.address_space<workgroup>>)
// CHECK:         scf.for
// CHECK:           memref.load
// CHECK:         gpu.shuffle
// CHECK:         gpu.barrier
// CHECK-COUNT-4: memref.load
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.for
// CHECK:           memref.load
// CHECK:           memref.store
func.func @main(%x: !device, %y: !device, %n: index, %m: index) {
  call @gpu_k(%x, %y, %n, %m) {strata.launch} : (!device, !device, index, index) -> ()
  return
}
func.func private @gpu_k(%x: !device, %y: !device, %n: index, %m: index) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %from = memref.subview %x[%i, 0] [1, %m] [1, 1] : !device to !row
    %sum = memref.alloc() : !sum
    linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%zero : f32) outs(%sum : !sum) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%from : !row) outs(%sum : !sum) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
    }
    %to = memref.subview %y[%i, 0] [1, %m] [1, 1] : !device to !row
    linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%from, %sum : !row, !sum) outs(%to : !row) {
    ^bb0(%a: f32, %s: f32, %o: f32):
      %q = arith.divf %a, %s : f32
      linalg.yield %q : f32
    }
    memref.dealloc %sum : !sum
  }
  return
}
