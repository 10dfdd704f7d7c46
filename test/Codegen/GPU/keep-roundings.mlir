// RUN: strata-opt %s --strata-keep-roundings --canonicalize | FileCheck %s
// RUN: strata-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: func.func @between_operators
// CHECK-NEXT:    %[[ROUNDED:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT:    %[[BACK:.*]] = arith.extf %[[ROUNDED]] : f16 to f32
// CHECK-NEXT:    return %[[BACK]]
// FOLDED-LABEL: func.func @between_operators
// FOLDED-SAME:    (%[[X:.*]]: f32)
// FOLDED-NEXT:    return %[[X]]
func.func @between_operators(%x: f32) -> f32 {
  %0 = arith.truncf %x fastmath<contract> : f32 to f16
  %1 = arith.extf %0 fastmath<contract> : f16 to f32
  return %1 : f32
}
