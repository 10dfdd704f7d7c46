// RUN: strata-opt %s --strata-constants-to-table | FileCheck %s

// CHECK:      module attributes {strata.constants = [
// CHECK-SAME:   {alignment = 64 : i64, bytes = 80 : i64, computed = false, name = "weights", needed_at_run_time = true, type = tensor<4x5xf32>, value = dense_resource<weights> : tensor<4x5xf32>}
// CHECK-SAME:   {alignment = 64 : i64, bytes = 3 : i64, computed = false, name = "far", needed_at_run_time = true, type = tensor<3xi1>}
// CHECK-SAME: ]}
// CHECK:      memref.global "private" @w0 : memref<4x5xf32> {alignment = 64 : i64, strata.slot = 0 : i64}
// CHECK:      memref.global "private" @far : memref<3xi1> {alignment = 64 : i64, strata.slot = 1 : i64}
// CHECK-NOT:  @unused
module {
  ml_program.global private @w0(dense_resource<weights> : tensor<4x5xf32>) : tensor<4x5xf32>
  ml_program.global private @unused(dense_resource<weights> : tensor<4x5xf32>) : tensor<4x5xf32>
  ml_program.global private @far(#ml_program.extern : tensor<3xi1>) : tensor<3xi1>

  // CHECK-LABEL: func.func @main
  // CHECK:         %[[M:.*]] = memref.get_global @w0 : memref<4x5xf32>
  // CHECK:         bufferization.to_tensor %[[M]] restrict : memref<4x5xf32>
  func.func @main() -> (tensor<4x5xf32>, tensor<3xi1>) {
    %0 = ml_program.global_load_const @w0 : tensor<4x5xf32>
    %1 = ml_program.global_load_const @far : tensor<3xi1>
    return %0, %1 : tensor<4x5xf32>, tensor<3xi1>
  }
}

{-# dialect_resources: { builtin: { weights: "0x0400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" } } #-}
