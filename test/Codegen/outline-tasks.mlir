// RUN: strata-opt %s --split-input-file --strata-outline-tasks | FileCheck %s

// CHECK:       func.func private @strata_rt_parallel_for(!llvm.ptr, i64, i64, i64, !llvm.ptr)
// CHECK-LABEL: func.func @f(
// CHECK:         %[[FRAME:.*]] = llvm.alloca
// CHECK:         llvm.store %{{.*}}
// CHECK:         %[[TASK:.*]] = constant @strata_task_0
// CHECK:         %[[P:.*]] = builtin.unrealized_conversion_cast %[[TASK]]
// CHECK:         call @strata_rt_parallel_for(%[[P]], %{{.*}}, %{{.*}}, %{{.*}}, %[[FRAME]])
// CHECK:       func.func private @strata_task_0(%[[B:.*]]: i64, %[[E:.*]]: i64, %{{.*}}: !llvm.ptr)
// CHECK-DAG:     arith.index_cast %[[B]]
// CHECK-DAG:     arith.index_cast %[[E]]
// CHECK:         scf.for
// CHECK:           memref.store
func.func @f(%m: memref<?xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c8) {
    memref.store %x, %m[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

// -----

// Scratch memory of one size is one buffer for all parts of a task.
// CHECK:       func.func private @strata_task_0(
// CHECK:         %[[SCRATCH:.*]] = memref.alloc() : memref<8xf32>
// CHECK:         scf.for
// CHECK:           memref.store %{{.*}}, %[[SCRATCH]]
// CHECK:         }
// CHECK:         memref.dealloc %[[SCRATCH]]
func.func @scratch(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c8) {
    %m = memref.alloc() : memref<8xf32>
    memref.store %x, %m[%c0] : memref<8xf32>
    memref.dealloc %m : memref<8xf32>
    scf.reduce
  }
  return
}

// -----

// Of a buffer whose type says the rest, a task is given the address; views of it are made in the task.
// CHECK-LABEL: func.func @addresses(
// CHECK:         llvm.alloca %{{.*}} x !llvm.struct<(ptr, ptr)>
// CHECK:         %[[P:.*]] = llvm.extractvalue %{{.*}}[1]
// CHECK:         llvm.store %[[P]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK:       func.func private @strata_task_0(
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK:         builtin.unrealized_conversion_cast %{{.*}} to memref<4xf32, strided<[2], offset: 6>>
// CHECK:         %[[BASE:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<f32>
// CHECK:         memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%{{.*}}], strides: [1]
// CHECK:         scf.for
func.func @addresses(%m: memref<4xf32, strided<[2], offset: 6>>, %base: memref<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %view = memref.reinterpret_cast %base to offset: [0], sizes: [%c1], strides: [1] : memref<f32> to memref<?xf32, strided<[1]>>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %x = memref.load %m[%i] : memref<4xf32, strided<[2], offset: 6>>
    memref.store %x, %view[%i] : memref<?xf32, strided<[1]>>
    scf.reduce
  }
  return
}

// -----

// What stands apart is a function that the task calls, which is not inlined.
// CHECK-LABEL: func.func @apart(
// CHECK:         call @strata_rt_parallel_for(
// CHECK-LABEL: func.func private @strata_task_0(
// CHECK:         scf.for
// CHECK-NOT:       memref.store
// CHECK:           call @strata_task_1(
// CHECK-LABEL: func.func private @strata_task_1({{.*}}) attributes {passthrough = ["noinline"]}
// CHECK:         memref.store
func.func @apart(%m: memref<64xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    scf.parallel (%j) = (%c0) to (%i) step (%c1) {
      memref.store %v, %m[%j] : memref<64xf32>
    } {strata.apart}
  }
  return
}
