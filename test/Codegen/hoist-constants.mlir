// RUN: strata-opt %s --strata-hoist-constants --canonicalize | FileCheck %s

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
