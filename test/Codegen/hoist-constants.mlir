// RUN: strata-opt %s --split-input-file --strata-hoist-constants --canonicalize | FileCheck %s

// CHECK:       ml_program.global private mutable @computed : tensor<8x4xf32> {strata.computed}
ml_program.global private @w(dense_resource<w> : tensor<4x8xf32>) : tensor<4x8xf32>

// The transpose of the weights moves; the view of a constant and what depends on
// the input stay.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     linalg.transpose
// CHECK-DAG:     ml_program.global_load @computed : tensor<8x4xf32>
// CHECK-DAG:     tensor.collapse_shape
// CHECK-DAG:     linalg.add
func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<32xf32>) {
  %w = ml_program.global_load_const @w : tensor<4x8xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%w : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
  %0 = linalg.add ins(%x, %t : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %v = tensor.collapse_shape %w [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  return %0, %v : tensor<8x4xf32>, tensor<32xf32>
}

// CHECK-LABEL: func.func @init()
// CHECK:         %[[W:.*]] = ml_program.global_load_const @w
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[W]]
// CHECK:         ml_program.global_store @computed = %

// -----

// In a loop too: what depends on weights alone is not computed again in each iteration.
// CHECK: ml_program.global private mutable @computed : tensor<8x4xf32> {strata.computed}
ml_program.global private @w(dense_resource<w> : tensor<4x8xf32>) : tensor<4x8xf32>

// CHECK-LABEL: func.func @main(
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[T:.*]] = ml_program.global_load @computed : tensor<8x4xf32>
// CHECK:         scf.for
// CHECK-NOT:       linalg.transpose
// CHECK:           linalg.add ins(%{{.*}}, %[[T]]
func.func @main(%x: tensor<8x4xf32>, %n: index) -> tensor<8x4xf32> {
  %w = ml_program.global_load_const @w : tensor<4x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8x4xf32> {
    %e = tensor.empty() : tensor<8x4xf32>
    %t = linalg.transpose ins(%w : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
    %0 = linalg.add ins(%a, %t : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
    scf.yield %0 : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @init()
// CHECK:         linalg.transpose

// -----

// What is made of a list of numbers is computed once, too.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[COMPUTED:.*]] = ml_program.global_load @computed
// CHECK:         linalg.add ins(%{{.*}}, %[[COMPUTED]]
// CHECK-LABEL: func.func @init()
// CHECK:         linalg.mul
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = arith.constant dense<0.5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.mul ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.add ins(%x, %0 : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
