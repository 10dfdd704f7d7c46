// RUN: strata-opt %s --split-input-file --strata-record-graphs | FileCheck %s

// Launches and copies that follow each other are behind one question, which is given what they depend on; views and
// buffers of known size come before, what frees buffers behind.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[A:.*]]: memref<8xf32, #gpu.address_space<global>>, %[[B:.*]]: memref<?xf32, #gpu.address_space<global>>, %[[N:.*]]: index)
// CHECK:         %[[C1:.*]] = arith.constant 1
// CHECK:         %[[C:.*]] = memref.alloc() : memref<8xf32, #gpu.address_space<global>>
// CHECK:         %[[NEW:.*]] = call @strata_gpu_graph_begin_0(%[[N]], %[[A]], %[[C]], %[[B]])
// CHECK-NEXT:    scf.if %[[NEW]] {
// CHECK-NEXT:      gpu.launch_func  @kernels::@kernel_0 blocks in (%[[N]], %[[C1]], %[[C1]]) {{.*}} args(%[[A]]
// CHECK-NEXT:      memref.copy %[[A]], %[[C]]
// CHECK-NEXT:      gpu.launch_func  @kernels::@kernel_1 {{.*}} args(%[[B]]
// CHECK-NEXT:      func.call @strata_gpu_graph_end_0()
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc %[[A]]
#global = #gpu.address_space<global>
module attributes {gpu.container_module} {
  func.func @main(%a: memref<8xf32, #global>, %b: memref<?xf32, #global>, %n: index) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@kernel_0 blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<8xf32, #global>)
    %c = memref.alloc() : memref<8xf32, #global>
    memref.copy %a, %c : memref<8xf32, #global> to memref<8xf32, #global>
    memref.dealloc %a : memref<8xf32, #global>
    gpu.launch_func @kernels::@kernel_1 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<?xf32, #global>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel_0(%a: memref<8xf32, #global>) kernel { gpu.return }
    gpu.func @kernel_1(%a: memref<?xf32, #global>) kernel { gpu.return }
  }
}

// -----

// What the host does between two kernels, or a buffer whose size the run tells, ends a graph; one kernel is none.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     graph_begin
// CHECK:       gpu.module
#global = #gpu.address_space<global>
module attributes {gpu.container_module} {
  func.func @main(%a: memref<8xf32, #global>, %h: memref<1xi64>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@kernel_0 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<8xf32, #global>)
    %v = memref.load %h[%c0] : memref<1xi64>
    %n = arith.index_cast %v : i64 to index
    gpu.launch_func @kernels::@kernel_0 blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<8xf32, #global>)
    %b = memref.alloc(%n) : memref<?xf32, #global>
    gpu.launch_func @kernels::@kernel_0 blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<8xf32, #global>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel_0(%a: memref<8xf32, #global>) kernel { gpu.return }
  }
}

// -----

// A tensor map belongs to the launch that it is a parameter of: the question is given what it is made of. How many
// multiprocessors there are is asked before.
// CHECK:       func.func @main(%[[A:.*]]: memref<?xf16, #gpu.address_space<global>>, %[[N:.*]]: index)
// CHECK:         %[[MOST:.*]] = call @multiprocessors()
// CHECK:         %[[NEW:.*]] = call @strata_gpu_graph_begin_0(%[[MOST]], %[[A]], %[[N]])
// CHECK-NEXT:    scf.if %[[NEW]] {
// CHECK-NEXT:      gpu.launch_func  @kernels::@kernel_0
// CHECK-NEXT:      %[[MAP:.*]] = func.call @tensor_map(%[[A]], %[[N]])
// CHECK-NEXT:      gpu.launch_func  @kernels::@kernel_1 {{.*}} args(%[[A]] : {{.*}}, %[[MAP]] : !llvm.ptr)
// CHECK-NEXT:      func.call @strata_gpu_graph_end_0()
#global = #gpu.address_space<global>
module attributes {gpu.container_module} {
  func.func private @multiprocessors() -> index attributes {strata.gpu = "multiprocessors"}
  func.func private @tensor_map(memref<?xf16, #global>, index) -> !llvm.ptr attributes {strata.gpu = "tensor_map"}
  func.func @main(%a: memref<?xf16, #global>, %n: index) {
    %c1 = arith.constant 1 : index
    %most = call @multiprocessors() : () -> index
    gpu.launch_func @kernels::@kernel_0 blocks in (%most, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<?xf16, #global>)
    %map = call @tensor_map(%a, %n) : (memref<?xf16, #global>, index) -> !llvm.ptr
    gpu.launch_func @kernels::@kernel_1 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<?xf16, #global>, %map : !llvm.ptr)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel_0(%a: memref<?xf16, #global>) kernel { gpu.return }
    gpu.func @kernel_1(%a: memref<?xf16, #global>, %map: !llvm.ptr) kernel { gpu.return }
  }
}
