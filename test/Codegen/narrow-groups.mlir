// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-generalize,strata-narrow-products{vector-bits=512 part-loads=true bf16-tiles=true}))' | FileCheck %s

// Groups of eight filters would share vectors, which the matrix unit has no tiles for: dots of pairs are no faster than
// products of f32. Of sixteen each group has a tile.
// CHECK-LABEL: func.func @groups_of_eight(
// CHECK-NOT:     arith.truncf
// CHECK-LABEL: func.func @groups_of_sixteen(
// CHECK:         arith.truncf
ml_program.global private @eight(dense_resource<w> : tensor<8x13x8x3x3xf32>) : tensor<8x13x8x3x3xf32>
ml_program.global private @sixteen(dense_resource<w> : tensor<16x13x16x3x3xf32>) : tensor<16x13x16x3x3xf32>
func.func @groups_of_eight(%x: tensor<1x13x8x30x30xf32>, %e: tensor<1x13x8x28x28xf32>) -> tensor<1x13x8x28x28xf32> {
  %w = ml_program.global_load_const @eight : tensor<8x13x8x3x3xf32>
  %0 = linalg.conv_2d_ngchw_fgchw ins(%x, %w : tensor<1x13x8x30x30xf32>, tensor<8x13x8x3x3xf32>) outs(%e : tensor<1x13x8x28x28xf32>) -> tensor<1x13x8x28x28xf32>
  return %0 : tensor<1x13x8x28x28xf32>
}
func.func @groups_of_sixteen(%x: tensor<1x13x16x30x30xf32>, %e: tensor<1x13x16x28x28xf32>) -> tensor<1x13x16x28x28xf32> {
  %w = ml_program.global_load_const @sixteen : tensor<16x13x16x3x3xf32>
  %0 = linalg.conv_2d_ngchw_fgchw ins(%x, %w : tensor<1x13x16x30x30xf32>, tensor<16x13x16x3x3xf32>) outs(%e : tensor<1x13x16x28x28xf32>) -> tensor<1x13x16x28x28xf32>
  return %0 : tensor<1x13x16x28x28xf32>
}
