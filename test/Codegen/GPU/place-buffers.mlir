// RUN: strata-opt %s --split-input-file --strata-place-buffers | FileCheck %s

// Inputs and results are copied; what kernels use is in device memory.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[X:.*]]: memref<?xf32>) -> memref<?xf32>
// CHECK:         %[[IN:.*]] = call @strata_gpu_input_{{[0-9]}}(%[[X]]) : (memref<?xf32>) -> memref<?xf32, #gpu.address_space<global>>
// CHECK:         %[[OUT:.*]] = memref.alloc(%{{.*}}) : memref<?xf32, #gpu.address_space<global>>
// CHECK:         call @gpu_kernel(%[[IN]], %[[OUT]]) {strata.launch}
// CHECK:         memref.dealloc %[[IN]]
// CHECK:         %[[Y:.*]] = call @strata_gpu_result_{{[0-9]}}(%[[OUT]]) : (memref<?xf32, #gpu.address_space<global>>) -> memref<?xf32>
// CHECK:         memref.dealloc %[[OUT]]
// CHECK:         return %[[Y]] : memref<?xf32>
// CHECK:       func.func private @gpu_kernel(%{{.*}}: memref<?xf32, #gpu.address_space<global>>
func.func @main(%x: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%n) : memref<?xf32>
  call @kernel(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  return %y : memref<?xf32>
}
func.func private @kernel(%x: memref<?xf32>, %y: memref<?xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  }
  return
}

// -----

// A loop of the host works on a copy of the buffer, and says that it wrote.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[D:.*]] = memref.alloc() : memref<100xf32, #gpu.address_space<global>>
// CHECK:         call @gpu_kernel(%[[D]]) {strata.launch}
// CHECK:         %[[H:.*]] = call @strata_gpu_to_host_{{[0-9]}}(%[[D]])
// CHECK:         scf.for
// CHECK:           memref.load %[[H]]
// CHECK:           memref.store %{{.*}}, %[[H]]
// CHECK:         call @strata_gpu_host_wrote_{{[0-9]}}(%[[D]])
func.func @main() -> memref<100xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c99 = arith.constant 99 : index
  %y = memref.alloc() : memref<100xf32>
  call @kernel(%y) : (memref<100xf32>) -> ()
  scf.for %i = %c0 to %c99 step %c1 {
    %v = memref.load %y[%i] : memref<100xf32>
    %j = arith.addi %i, %c1 : index
    memref.store %v, %y[%j] : memref<100xf32>
  }
  return %y : memref<100xf32>
}
func.func private @kernel(%y: memref<100xf32>) attributes {strata.kernel} {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%one : f32) outs(%y : memref<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// What the GPU has no function for stays, and says why.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     global
// CHECK:         call @kernel(%{{.*}}) {strata.on_host = "checks its input, which only the host can report"}
func.func @main(%x: memref<9xf64>) -> memref<9xf64> {
  %y = memref.alloc() : memref<9xf64>
  call @kernel(%x, %y) : (memref<9xf64>, memref<9xf64>) -> ()
  return %y : memref<9xf64>
}
func.func private @kernel(%x: memref<9xf64>, %y: memref<9xf64>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<9xf64>) outs(%y : memref<9xf64>) {
  ^bb0(%a: f64, %o: f64):
    %zero = arith.constant 0.0 : f64
    %positive = arith.cmpf ogt, %a, %zero : f64
    cf.assert %positive, "not positive"
    linalg.yield %a : f64
  }
  return
}
