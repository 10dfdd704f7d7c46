// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-split-groups,canonicalize,cse))' | FileCheck %s

// Two groups of 16 channels and 24 filters: two convolutions, of parts of the image and of the weights.
#x = affine_map<(n, g, f, h, w, c, i, j) -> (n, g, c, h + i, w + j)>
#w = affine_map<(n, g, f, h, w, c, i, j) -> (g, f, c, i, j)>
#y = affine_map<(n, g, f, h, w, c, i, j) -> (n, g, f, h, w)>
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @two(
// CHECK-SAME:    %[[IMAGE:.*]]: tensor<1x32x10x10xf32>
// CHECK-DAG:     %[[X0:.*]] = tensor.extract_slice %[[IMAGE]][0, 0, 0, 0] [1, 16, 10, 10] [1, 1, 1, 1]
// CHECK-DAG:     %[[W0:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0, 0] [24, 16, 3, 3] [1, 1, 1, 1]
// CHECK:         %[[Y0:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]]
// CHECK-SAME:      ins(%[[X0]], %[[W0]] :
// CHECK-DAG:     %[[X1:.*]] = tensor.extract_slice %[[IMAGE]][0, 16, 0, 0] [1, 16, 10, 10] [1, 1, 1, 1]
// CHECK-DAG:     %[[W1:.*]] = tensor.extract_slice %{{.*}}[24, 0, 0, 0] [24, 16, 3, 3] [1, 1, 1, 1]
// CHECK:         %[[Y1:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[X1]], %[[W1]] :
// CHECK:         tensor.concat dim(1) %[[Y0]], %[[Y1]] : (tensor<1x24x8x8xf32>, tensor<1x24x8x8xf32>) -> tensor<1x48x8x8xf32>
ml_program.global private @weights(dense<1.0> : tensor<48x16x3x3xf32>) : tensor<48x16x3x3xf32>
func.func @two(%image: tensor<1x32x10x10xf32>) -> tensor<1x48x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %weights = ml_program.global_load_const @weights : tensor<48x16x3x3xf32>
  %x = tensor.expand_shape %image [[0], [1, 2], [3], [4]] output_shape [1, 2, 16, 10, 10] : tensor<1x32x10x10xf32> into tensor<1x2x16x10x10xf32>
  %w = tensor.expand_shape %weights [[0, 1], [2], [3], [4]] output_shape [2, 24, 16, 3, 3] : tensor<48x16x3x3xf32> into tensor<2x24x16x3x3xf32>
  %e = tensor.empty() : tensor<1x2x24x8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x24x8x8xf32>) -> tensor<1x2x24x8x8xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x2x16x10x10xf32>, tensor<2x24x16x3x3xf32>) outs(%f : tensor<1x2x24x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<1x2x24x8x8xf32>
  %y = tensor.collapse_shape %0 [[0], [1, 2], [3], [4]] : tensor<1x2x24x8x8xf32> into tensor<1x48x8x8xf32>
  return %y : tensor<1x48x8x8xf32>
}

// Few channels, steps of two, or weights that are given: no minimal filtering.
// CHECK-LABEL: func.func @narrow(
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
ml_program.global private @few(dense<1.0> : tensor<48x8x3x3xf32>) : tensor<48x8x3x3xf32>
func.func @narrow(%image: tensor<1x16x10x10xf32>) -> tensor<1x48x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %weights = ml_program.global_load_const @few : tensor<48x8x3x3xf32>
  %x = tensor.expand_shape %image [[0], [1, 2], [3], [4]] output_shape [1, 2, 8, 10, 10] : tensor<1x16x10x10xf32> into tensor<1x2x8x10x10xf32>
  %w = tensor.expand_shape %weights [[0, 1], [2], [3], [4]] output_shape [2, 24, 8, 3, 3] : tensor<48x8x3x3xf32> into tensor<2x24x8x3x3xf32>
  %e = tensor.empty() : tensor<1x2x24x8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x24x8x8xf32>) -> tensor<1x2x24x8x8xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x2x8x10x10xf32>, tensor<2x24x8x3x3xf32>) outs(%f : tensor<1x2x24x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<1x2x24x8x8xf32>
  %y = tensor.collapse_shape %0 [[0], [1, 2], [3], [4]] : tensor<1x2x24x8x8xf32> into tensor<1x48x8x8xf32>
  return %y : tensor<1x48x8x8xf32>
}

#steps = affine_map<(n, g, f, h, w, c, i, j) -> (n, g, c, 2 * h + i, 2 * w + j)>
// CHECK-LABEL: func.func @steps(
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @steps(%image: tensor<1x32x17x17xf32>) -> tensor<1x48x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %weights = ml_program.global_load_const @weights : tensor<48x16x3x3xf32>
  %x = tensor.expand_shape %image [[0], [1, 2], [3], [4]] output_shape [1, 2, 16, 17, 17] : tensor<1x32x17x17xf32> into tensor<1x2x16x17x17xf32>
  %w = tensor.expand_shape %weights [[0, 1], [2], [3], [4]] output_shape [2, 24, 16, 3, 3] : tensor<48x16x3x3xf32> into tensor<2x24x16x3x3xf32>
  %e = tensor.empty() : tensor<1x2x24x8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x24x8x8xf32>) -> tensor<1x2x24x8x8xf32>
  %0 = linalg.generic {indexing_maps = [#steps, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x2x16x17x17xf32>, tensor<2x24x16x3x3xf32>) outs(%f : tensor<1x2x24x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<1x2x24x8x8xf32>
  %y = tensor.collapse_shape %0 [[0], [1, 2], [3], [4]] : tensor<1x2x24x8x8xf32> into tensor<1x48x8x8xf32>
  return %y : tensor<1x48x8x8xf32>
}

// CHECK-LABEL: func.func @given(
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @given(%image: tensor<1x32x10x10xf32>, %weights: tensor<48x16x3x3xf32>) -> tensor<1x48x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %x = tensor.expand_shape %image [[0], [1, 2], [3], [4]] output_shape [1, 2, 16, 10, 10] : tensor<1x32x10x10xf32> into tensor<1x2x16x10x10xf32>
  %w = tensor.expand_shape %weights [[0, 1], [2], [3], [4]] output_shape [2, 24, 16, 3, 3] : tensor<48x16x3x3xf32> into tensor<2x24x16x3x3xf32>
  %e = tensor.empty() : tensor<1x2x24x8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x24x8x8xf32>) -> tensor<1x2x24x8x8xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x2x16x10x10xf32>, tensor<2x24x16x3x3xf32>) outs(%f : tensor<1x2x24x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<1x2x24x8x8xf32>
  %y = tensor.collapse_shape %0 [[0], [1, 2], [3], [4]] : tensor<1x2x24x8x8xf32> into tensor<1x48x8x8xf32>
  return %y : tensor<1x48x8x8xf32>
}
