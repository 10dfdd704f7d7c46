// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-lower-scf))' | FileCheck %s

// Two branches, one behind the other: each goes on in a block of its own.
// CHECK-LABEL: func.func @one_behind_the_other
// CHECK: cf.cond_br %{{.*}}, ^[[FIRST:bb[0-9]+]], ^[[BETWEEN:bb[0-9]+]]
// CHECK: ^[[FIRST]]:
// CHECK-NEXT: memref.store
// CHECK-NEXT: cf.br ^[[BETWEEN]]
// CHECK: ^[[BETWEEN]]:
// CHECK-NEXT: memref.load
// CHECK: cf.cond_br %{{.*}}, ^[[SECOND:bb[0-9]+]], ^[[END:bb[0-9]+]]
// CHECK: ^[[SECOND]]:
// CHECK: ^[[END]]:
// CHECK-NEXT: return
func.func @one_behind_the_other(%a: memref<1xi1>, %first: i1) {
  %c0 = arith.constant 0 : index
  scf.if %first {
    memref.store %first, %a[%c0] : memref<1xi1>
  }
  %second = memref.load %a[%c0] : memref<1xi1>
  scf.if %second {
    memref.store %first, %a[%c0] : memref<1xi1>
  }
  return
}

// A loop in a branch in a loop, with values that are carried along, and a
// choice among regions whose blocks have not been cut before.
// CHECK-LABEL: func.func @nested
// CHECK-NOT: scf.
// CHECK: cf.switch
// CHECK-NOT: scf.
// CHECK: return
func.func @nested(%n: index, %a: memref<?xf32>, %which: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %zero) -> f32 {
    %chosen = scf.index_switch %i -> f32
    case 2 {
      %row = scf.if %which -> f32 {
        %inner = scf.for %j = %c0 to %n step %c1 iter_args(%part = %zero) -> f32 {
          %x = memref.load %a[%j] : memref<?xf32>
          %y = arith.addf %part, %x : f32
          scf.yield %y : f32
        }
        scf.yield %inner : f32
      } else {
        scf.yield %zero : f32
      }
      scf.yield %row : f32
    }
    default {
      scf.yield %carried : f32
    }
    %next = arith.addf %carried, %chosen : f32
    scf.yield %next : f32
  }
  %last = scf.while (%x = %sum) : (f32) -> f32 {
    %less = arith.cmpf olt, %x, %zero : f32
    scf.condition(%less) %x : f32
  } do {
  ^bb0(%x: f32):
    %y = arith.addf %x, %x : f32
    scf.yield %y : f32
  }
  return %last : f32
}
