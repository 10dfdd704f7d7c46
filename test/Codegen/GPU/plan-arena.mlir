// RUN: strata-opt %s --strata-plan-arena | FileCheck %s

!a = memref<1000xf32, #gpu.address_space<global>>
!b = memref<10xf64, #gpu.address_space<global>>

// The third buffer takes the first one's place, the second lies behind.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[ARENA:.*]] = memref.alloc() {alignment = 256 : i64} : memref<4176xi8, #gpu.address_space<global>>
// CHECK:         %[[O0:.*]] = arith.constant 0 : index
// CHECK:         memref.view %[[ARENA]][%[[O0]]][] : {{.*}} to memref<1000xf32
// CHECK:         %[[O1:.*]] = arith.constant 4096 : index
// CHECK:         memref.view %[[ARENA]][%[[O1]]][] : {{.*}} to memref<10xf64
// CHECK:         %[[O2:.*]] = arith.constant 0 : index
// CHECK:         memref.view %[[ARENA]][%[[O2]]][] : {{.*}} to memref<1000xf32
// CHECK:         memref.dealloc %[[ARENA]]
// CHECK-NEXT:    return
func.func @main() {
  %a = memref.alloc() : !a
  %b = memref.alloc() : !b
  call @use(%a, %b) : (!a, !b) -> ()
  memref.dealloc %a : !a
  %c = memref.alloc() : !a
  call @use(%c, %b) : (!a, !b) -> ()
  memref.dealloc %b : !b
  memref.dealloc %c : !a
  return
}
func.func private @use(!a, !b)
