// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-place-parts))' | FileCheck %s

// A transposed convolution in steps of two pixels is four convolutions, side by side. What follows element by element is
// computed of each.
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>
// CHECK-LABEL: func.func @joined(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<1x64x8x8xf32>, %[[B:[^:]*]]: tensor<1x64x8x8xf32>, %[[C:[^:]*]]: tensor<1x64x8x8xf32>, %[[D:[^:]*]]: tensor<1x64x8x8xf32>, %[[BIAS:[^:]*]]: tensor<64xf32>
// CHECK:         %[[A1:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[BIAS]] :
// CHECK:         %[[B1:.*]] = linalg.generic {{.*}} ins(%[[B]], %[[BIAS]] :
// CHECK:         %[[C1:.*]] = linalg.generic {{.*}} ins(%[[C]], %[[BIAS]] :
// CHECK:         %[[D1:.*]] = linalg.generic {{.*}} ins(%[[D]], %[[BIAS]] :
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<1x64x16x16xf32>
// CHECK:         %[[ONE:.*]] = tensor.insert_slice %[[A1]] into %[[EMPTY]][0, 0, 0, 0] [1, 64, 8, 8] [1, 1, 2, 2]
// CHECK:         %[[TWO:.*]] = tensor.insert_slice %[[B1]] into %[[ONE]][0, 0, 0, 1] [1, 64, 8, 8] [1, 1, 2, 2]
// CHECK:         %[[THREE:.*]] = tensor.insert_slice %[[C1]] into %[[TWO]][0, 0, 1, 0] [1, 64, 8, 8] [1, 1, 2, 2]
// CHECK:         %[[FOUR:.*]] = tensor.insert_slice %[[D1]] into %[[THREE]][0, 0, 1, 1] [1, 64, 8, 8] [1, 1, 2, 2]
// CHECK:         return %[[FOUR]]
func.func @joined(%a: tensor<1x64x8x8xf32>, %b: tensor<1x64x8x8xf32>, %c: tensor<1x64x8x8xf32>, %d: tensor<1x64x8x8xf32>,
                  %bias: tensor<64xf32>) -> tensor<1x64x16x16xf32> {
  %0 = tensor.concat dim(1) %a, %b, %c, %d
      : (tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>) -> tensor<1x256x8x8xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2, 3], [4], [5]] output_shape [1, 2, 2, 64, 8, 8]
      : tensor<1x256x8x8xf32> into tensor<1x2x2x64x8x8xf32>
  %2 = tensor.empty() : tensor<1x64x8x2x8x2xf32>
  %3 = linalg.transpose ins(%1 : tensor<1x2x2x64x8x8xf32>) outs(%2 : tensor<1x64x8x2x8x2xf32>) permutation = [0, 3, 4, 1, 5, 2]
  %4 = tensor.collapse_shape %3 [[0], [1], [2, 3], [4, 5]] : tensor<1x64x8x2x8x2xf32> into tensor<1x64x16x16xf32>
  %5 = tensor.empty() : tensor<1x64x16x16xf32>
  %6 = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%4, %bias : tensor<1x64x16x16xf32>, tensor<64xf32>) outs(%5 : tensor<1x64x16x16xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<1x64x16x16xf32>
  return %6 : tensor<1x64x16x16xf32>
}

// -----

// DepthToSpace in CRD mode behind a convolution: each part is of every fourth filter, and has its bias. The height is
// known in the run.
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>
#x = affine_map<(n, f, h, w, c) -> (n, c, h, w)>
#w = affine_map<(n, f, h, w, c) -> (f, c)>
#y = affine_map<(n, f, h, w, c) -> (n, f, h, w)>
// CHECK-LABEL: func.func @filters(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<1x8x?x8xf32>, %[[W:[^:]*]]: tensor<64x8xf32>, %[[BIAS:[^:]*]]: tensor<64xf32>
// CHECK:         %[[W0:.*]] = tensor.extract_slice %[[W]][0, 0] [16, 8] [4, 1]
// CHECK:         %[[P0:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W0]] : tensor<1x8x?x8xf32>, tensor<16x8xf32>)
// CHECK:         %[[BIAS0:.*]] = tensor.extract_slice %[[BIAS]][0] [16] [4]
// CHECK:         linalg.generic {{.*}} ins(%[[P0]], %[[BIAS0]] :
// CHECK:         %[[W3:.*]] = tensor.extract_slice %[[W]][3, 0] [16, 8] [4, 1]
// CHECK:         %[[P3:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W3]] : tensor<1x8x?x8xf32>, tensor<16x8xf32>)
// CHECK:         %[[BIAS3:.*]] = tensor.extract_slice %[[BIAS]][3] [16] [4]
// CHECK:         linalg.generic {{.*}} ins(%[[P3]], %[[BIAS3]] :
// CHECK-NOT:     linalg.transpose
// CHECK-COUNT-4: tensor.insert_slice {{.*}} [1, 1, 2, 2] : tensor<1x16x?x8xf32> into tensor<1x16x?x16xf32>
func.func @filters(%x: tensor<1x8x?x8xf32>, %w: tensor<64x8xf32>, %bias: tensor<64xf32>) -> tensor<1x16x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2 : index
  %height = tensor.dim %x, %two : tensor<1x8x?x8xf32>
  %e = tensor.empty(%height) : tensor<1x64x?x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x?x8xf32>) -> tensor<1x64x?x8xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x8x?x8xf32>, tensor<64x8xf32>) outs(%start : tensor<1x64x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x64x?x8xf32>
  %1 = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0, %bias : tensor<1x64x?x8xf32>, tensor<64xf32>) outs(%e : tensor<1x64x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1x64x?x8xf32>
  %2 = tensor.expand_shape %1 [[0], [1, 2, 3], [4], [5]] output_shape [1, 16, 2, 2, %height, 8]
      : tensor<1x64x?x8xf32> into tensor<1x16x2x2x?x8xf32>
  %3 = tensor.empty(%height) : tensor<1x16x?x2x8x2xf32>
  %4 = linalg.transpose ins(%2 : tensor<1x16x2x2x?x8xf32>) outs(%3 : tensor<1x16x?x2x8x2xf32>) permutation = [0, 1, 4, 2, 5, 3]
  %5 = tensor.collapse_shape %4 [[0], [1], [2, 3], [4, 5]] : tensor<1x16x?x2x8x2xf32> into tensor<1x16x?x16xf32>
  return %5 : tensor<1x16x?x16xf32>
}

// -----

// Parts of few channels, and an image that no convolution makes, are spread as they are.
// CHECK-LABEL: func.func @few(
// CHECK:         linalg.transpose
// CHECK:         linalg.transpose
// CHECK-NOT:     tensor.insert_slice
func.func @few(%a: tensor<1x3x8x8xf32>, %b: tensor<1x3x8x8xf32>, %image: tensor<1x32x8x8xf32>)
    -> (tensor<1x3x8x16xf32>, tensor<1x16x8x16xf32>) {
  %0 = tensor.concat dim(1) %a, %b : (tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x6x8x8xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2], [3], [4]] output_shape [1, 2, 3, 8, 8] : tensor<1x6x8x8xf32> into tensor<1x2x3x8x8xf32>
  %2 = tensor.empty() : tensor<1x3x8x8x2xf32>
  %3 = linalg.transpose ins(%1 : tensor<1x2x3x8x8xf32>) outs(%2 : tensor<1x3x8x8x2xf32>) permutation = [0, 2, 3, 4, 1]
  %4 = tensor.collapse_shape %3 [[0], [1], [2], [3, 4]] : tensor<1x3x8x8x2xf32> into tensor<1x3x8x16xf32>
  %5 = tensor.expand_shape %image [[0], [1, 2], [3], [4]] output_shape [1, 2, 16, 8, 8] : tensor<1x32x8x8xf32> into tensor<1x2x16x8x8xf32>
  %6 = tensor.empty() : tensor<1x16x8x8x2xf32>
  %7 = linalg.transpose ins(%5 : tensor<1x2x16x8x8xf32>) outs(%6 : tensor<1x16x8x8x2xf32>) permutation = [0, 2, 3, 4, 1]
  %8 = tensor.collapse_shape %7 [[0], [1], [2], [3, 4]] : tensor<1x16x8x8x2xf32> into tensor<1x16x8x16xf32>
  return %4, %8 : tensor<1x3x8x16xf32>, tensor<1x16x8x16xf32>
}
