// RUN: strata-opt %s --strata-convert-to-llvm=model-name=net | FileCheck %s

// CHECK: llvm.mlir.global external @net_constants()
// CHECK:   llvm.mlir.zero : !llvm.array<2 x ptr>
memref.global "private" @a : memref<4xf32> {strata.slot = 0 : i64}
memref.global "private" @b : memref<8xf32> {strata.slot = 1 : i64}
// CHECK-NOT: @b

// The size of a dynamic buffer saturates. One that is freed here is a temporary, one that is returned is not.
// CHECK-LABEL: llvm.func internal @net_main_body(
// CHECK:         llvm.intr.umul.with.overflow
// CHECK:         %[[BYTES:.*]] = llvm.select
// CHECK:         llvm.call @strata_rt_alloc_temporary(%[[BYTES]], %{{.*}})
// CHECK:         llvm.call @strata_rt_alloc(
// CHECK:         %[[TABLE:.*]] = llvm.mlir.addressof @net_constants
// CHECK:         %[[SLOT:.*]] = llvm.getelementptr %[[TABLE]][1]
// CHECK:         llvm.load %[[SLOT]] invariant
// CHECK:         llvm.call @strata_rt_free
func.func @main(%n: memref<f32>, %x: memref<?xf32>) -> (memref<8xf32>, memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%d) : memref<?xf32>
  %r = memref.alloc() : memref<4xf32>
  %g = memref.get_global @b : memref<8xf32>
  memref.dealloc %t : memref<?xf32>
  return %g, %r : memref<8xf32>, memref<4xf32>
}

// CHECK-LABEL: llvm.func internal @net_init_body()
func.func @init() {
  return
}

// A whole line past the caches is written at its address, which the instruction has to know of.
// CHECK-LABEL: llvm.func internal @stream(
// CHECK:         llvm.store %{{.*}}, %{{.*}} {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
func.func private @stream(%x: vector<16xf32>, %m: memref<?xf32>, %i: index) {
  vector.store %x, %m[%i] {nontemporal = true} : memref<?xf32>, vector<16xf32>
  return
}

// A kernel gets the addresses of buffers whose types say the rest; of one of unknown size it needs more.
// CHECK-LABEL: llvm.func internal @known(
// CHECK-SAME:    %{{[a-z0-9]*}}: !llvm.ptr, %{{[a-z0-9]*}}: i64)
// CHECK-LABEL: llvm.func internal @unknown(
// CHECK-SAME:    %{{[a-z0-9]*}}: !llvm.ptr, %{{[a-z0-9]*}}: !llvm.ptr, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: i64,
// CHECK-LABEL: llvm.func internal @calls(
// CHECK:         %[[ADDRESS:.*]] = llvm.extractvalue %{{.*}}[1]
// CHECK:         llvm.call @known(%[[ADDRESS]], %{{.*}}) : (!llvm.ptr, i64) -> ()
func.func private @known(%m: memref<4x4xf32, strided<[8, 1], offset: 2>>, %i: index) attributes {strata.kernel} {
  %x = memref.load %m[%i, %i] : memref<4x4xf32, strided<[8, 1], offset: 2>>
  memref.store %x, %m[%i, %i] : memref<4x4xf32, strided<[8, 1], offset: 2>>
  return
}
func.func private @unknown(%m: memref<?xf32>, %n: memref<4xf32>) attributes {strata.kernel} {
  return
}
func.func private @calls(%m: memref<4x4xf32, strided<[8, 1], offset: 2>>, %i: index) {
  call @known(%m, %i) : (memref<4x4xf32, strided<[8, 1], offset: 2>>, index) -> ()
  return
}

// What LLVM is told of a function stays beside the width of vectors.
// CHECK-LABEL: llvm.func internal @rare
// CHECK-SAME:    passthrough = ["cold", "noinline", ["prefer-vector-width", "256"]]
func.func private @rare(%x: f32) -> f32 attributes {passthrough = ["cold", "noinline"]} {
  return %x : f32
}

// Results first, then inputs; a descriptor of rank 0 has no sizes.
// CHECK-LABEL: llvm.func @net_main(
// CHECK-SAME:    %[[ARGS:.*]]: !llvm.ptr
// CHECK:         llvm.getelementptr %[[ARGS]][2]
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64)>
// CHECK:         llvm.getelementptr %[[ARGS]][3]
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
// CHECK:         %[[R:.*]] = llvm.call @net_main_body(
// CHECK:         %[[R0:.*]] = llvm.extractvalue %[[R]][0]
// CHECK:         llvm.getelementptr %[[ARGS]][0]
// CHECK:         llvm.store %[[R0]]
// CHECK-LABEL: llvm.func @net_init(
// CHECK:         llvm.call @net_init_body()
