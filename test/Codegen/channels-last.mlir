// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-generalize,strata-channels-last,canonicalize,cse))' | FileCheck %s

// Two convolutions with an activation and padding between them: one transpose in,
// one out, none between; the pad is of the spatial dimensions.
// CHECK-LABEL: func.func @chain(
// CHECK:         linalg.transpose {{.*}} permutation = [0, 2, 3, 1]
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{.*}} : tensor<1x8x8x16xf32>)
// CHECK:         arith.maximumf
// CHECK:         tensor.pad %{{.*}} low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{.*}} : tensor<1x8x8x4xf32>)
// CHECK:         linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
func.func @chain(%x: tensor<1x3x10x10xf32>, %v: tensor<16x3x3x3xf32>, %w: tensor<4x16x3x3xf32>) -> tensor<1x4x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x16x8x8xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %v : tensor<1x3x10x10xf32>, tensor<16x3x3x3xf32>) outs(%f0 : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0 : tensor<1x16x8x8xf32>) outs(%e0 : tensor<1x16x8x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %m = arith.maximumf %i, %z : f32
    linalg.yield %m : f32
  } -> tensor<1x16x8x8xf32>
  %p = tensor.pad %1 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<1x16x8x8xf32> to tensor<1x16x10x10xf32>
  %e1 = tensor.empty() : tensor<1x4x8x8xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %2 = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x16x10x10xf32>, tensor<4x16x3x3xf32>) outs(%f1 : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %2 : tensor<1x4x8x8xf32>
}

// Windows of one pixel: a product of matrices that vectors of many pixels serve as well stays as it is.
// CHECK-LABEL: func.func @pointwise(
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @pointwise(%x: tensor<1x8x16x16xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<1x4x16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x8x16x16xf32>, tensor<4x8x1x1xf32>) outs(%f : tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  return %0 : tensor<1x4x16x16xf32>
}

// Unless its lines are padded, where vectors of pixels would end with each: then it writes channels, if they fill
// vectors.
// CHECK-LABEL: func.func @padded_pixels(
// CHECK:         } -> tensor<1x14x20x32xf32>
// CHECK:         tensor.pad %{{.*}} low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK-LABEL: func.func @few_padded_channels(
// CHECK:         linalg.generic {{.*}} ins(%arg0, %arg1 :
// CHECK:         } -> tensor<1x10x14x20xf32>
func.func @padded_pixels(%x: tensor<1x8x14x20xf32>, %w: tensor<32x8x1x1xf32>, %v: tensor<16x32x3x3xf32>) -> tensor<1x16x14x20xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x14x20xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x32x14x20xf32>) -> tensor<1x32x14x20xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x8x14x20xf32>, tensor<32x8x1x1xf32>) outs(%f : tensor<1x32x14x20xf32>) -> tensor<1x32x14x20xf32>
  %p = tensor.pad %0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<1x32x14x20xf32> to tensor<1x32x16x22xf32>
  %g = tensor.empty() : tensor<1x16x14x20xf32>
  %h = linalg.fill ins(%z : f32) outs(%g : tensor<1x16x14x20xf32>) -> tensor<1x16x14x20xf32>
  %1 = linalg.conv_2d_nchw_fchw ins(%p, %v : tensor<1x32x16x22xf32>, tensor<16x32x3x3xf32>) outs(%h : tensor<1x16x14x20xf32>) -> tensor<1x16x14x20xf32>
  return %1 : tensor<1x16x14x20xf32>
}
func.func @few_padded_channels(%x: tensor<1x8x14x20xf32>, %w: tensor<10x8x1x1xf32>, %v: tensor<16x10x3x3xf32>) -> tensor<1x16x14x20xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x20xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x20xf32>) -> tensor<1x10x14x20xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x8x14x20xf32>, tensor<10x8x1x1xf32>) outs(%f : tensor<1x10x14x20xf32>) -> tensor<1x10x14x20xf32>
  %p = tensor.pad %0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<1x10x14x20xf32> to tensor<1x10x16x22xf32>
  %g = tensor.empty() : tensor<1x16x14x20xf32>
  %h = linalg.fill ins(%z : f32) outs(%g : tensor<1x16x14x20xf32>) -> tensor<1x16x14x20xf32>
  %1 = linalg.conv_2d_nchw_fchw ins(%p, %v : tensor<1x10x16x22xf32>, tensor<16x10x3x3xf32>) outs(%h : tensor<1x16x14x20xf32>) -> tensor<1x16x14x20xf32>
  return %1 : tensor<1x16x14x20xf32>
}

// Several that follow each other move together, if what is between them is as much as what is transposed for it, of
// which nothing is left within.
// CHECK-LABEL: func.func @pixel_chain(
// CHECK:         linalg.transpose {{.*}} permutation = [0, 2, 3, 1]
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{.*}} : tensor<1x16x16x16xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         arith.maximumf
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{.*}} : tensor<1x16x16x4xf32>)
// CHECK:         linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
func.func @pixel_chain(%x: tensor<1x8x16x16xf32>, %v: tensor<16x8x1x1xf32>, %w: tensor<4x16x1x1xf32>) -> tensor<1x4x16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x16x16x16xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %v : tensor<1x8x16x16xf32>, tensor<16x8x1x1xf32>) outs(%f0 : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0 : tensor<1x16x16x16xf32>) outs(%e0 : tensor<1x16x16x16xf32>) {
  ^bb0(%i: f32, %o: f32):
    %m = arith.maximumf %i, %z : f32
    linalg.yield %m : f32
  } -> tensor<1x16x16x16xf32>
  %e2 = tensor.empty() : tensor<1x4x16x16xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %2 = linalg.conv_2d_nchw_fchw ins(%1, %w : tensor<1x16x16x16xf32>, tensor<4x16x1x1xf32>) outs(%f2 : tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  return %2 : tensor<1x4x16x16xf32>
}

// CHECK-LABEL: func.func @bottleneck(
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @bottleneck(%x: tensor<1x16x16x16xf32>, %v: tensor<8x16x1x1xf32>, %w: tensor<16x8x1x1xf32>) -> tensor<1x16x16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x8x16x16xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %v : tensor<1x16x16x16xf32>, tensor<8x16x1x1xf32>) outs(%f0 : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0 : tensor<1x8x16x16xf32>) outs(%e0 : tensor<1x8x16x16xf32>) {
  ^bb0(%i: f32, %o: f32):
    %m = arith.maximumf %i, %z : f32
    linalg.yield %m : f32
  } -> tensor<1x8x16x16xf32>
  %e2 = tensor.empty() : tensor<1x16x16x16xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  %2 = linalg.conv_2d_nchw_fchw ins(%1, %w : tensor<1x8x16x16xf32>, tensor<16x8x1x1xf32>) outs(%f2 : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  return %2 : tensor<1x16x16x16xf32>
}

// Of few pixels, in steps of two, or behind another one, it goes with the channels last.
// CHECK-LABEL: func.func @few_pixels(
// CHECK:         linalg.transpose
// CHECK:         linalg.generic
// CHECK:         return
func.func @few_pixels(%x: tensor<1x8x4x4xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<1x4x4x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x8x4x4xf32>, tensor<4x8x1x1xf32>) outs(%f : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// CHECK-LABEL: func.func @pixels_in_steps(
// CHECK:         linalg.transpose
// CHECK:         linalg.generic
// CHECK:         return
func.func @pixels_in_steps(%x: tensor<1x8x32x32xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<1x4x16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %0 = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x8x32x32xf32>, tensor<4x8x1x1xf32>) outs(%f : tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  return %0 : tensor<1x4x16x16xf32>
}

// CHECK-LABEL: func.func @behind_windows(
// CHECK:         linalg.transpose {{.*}} permutation = [0, 2, 3, 1]
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{.*}} : tensor<1x16x16x4xf32>)
// CHECK:         linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
func.func @behind_windows(%x: tensor<1x3x18x18xf32>, %v: tensor<8x3x3x3xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<1x4x16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x8x16x16xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %v : tensor<1x3x18x18xf32>, tensor<8x3x3x3xf32>) outs(%f0 : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %e = tensor.empty() : tensor<1x4x16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %1 = linalg.conv_2d_nchw_fchw ins(%0, %w : tensor<1x8x16x16xf32>, tensor<4x8x1x1xf32>) outs(%f : tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  return %1 : tensor<1x4x16x16xf32>
}

// The two sides of a concatenation agree: it happens on the channels, last.
// CHECK-LABEL: func.func @concat(
// CHECK:         tensor.concat dim(3)
// CHECK:         linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
func.func @concat(%a: tensor<1x8x8x3xf32>, %b: tensor<1x8x8x5xf32>) -> tensor<1x8x8x8xf32> {
  %ea = tensor.empty() : tensor<1x3x8x8xf32>
  %ta = linalg.transpose ins(%a : tensor<1x8x8x3xf32>) outs(%ea : tensor<1x3x8x8xf32>) permutation = [0, 3, 1, 2]
  %eb = tensor.empty() : tensor<1x5x8x8xf32>
  %tb = linalg.transpose ins(%b : tensor<1x8x8x5xf32>) outs(%eb : tensor<1x5x8x8xf32>) permutation = [0, 3, 1, 2]
  %0 = tensor.concat dim(1) %ta, %tb : (tensor<1x3x8x8xf32>, tensor<1x5x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %0 : tensor<1x8x8x8xf32>
}

// Channels in groups, shuffled: the spatial dimensions stay in front.
// CHECK-LABEL: func.func @shuffle(
// CHECK:         tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2], [3, 4]] {{.*}} into tensor<1x8x8x2x3xf32>
// CHECK:         linalg.transpose {{.*}} permutation = [0, 1, 2, 4, 3]
// CHECK:         tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2], [3, 4]] : tensor<1x8x8x3x2xf32>
// CHECK:         tensor.pad %{{.*}} low[0, 1, 1, 0]
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @shuffle(%x: tensor<1x8x8x6xf32>) -> tensor<1x10x10x6xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x6x8x8xf32>
  %0 = linalg.transpose ins(%x : tensor<1x8x8x6xf32>) outs(%e0 : tensor<1x6x8x8xf32>) permutation = [0, 3, 1, 2]
  %1 = tensor.expand_shape %0 [[0], [1, 2], [3], [4]] output_shape [1, 2, 3, 8, 8] : tensor<1x6x8x8xf32> into tensor<1x2x3x8x8xf32>
  %e1 = tensor.empty() : tensor<1x3x2x8x8xf32>
  %2 = linalg.transpose ins(%1 : tensor<1x2x3x8x8xf32>) outs(%e1 : tensor<1x3x2x8x8xf32>) permutation = [0, 2, 1, 3, 4]
  %3 = tensor.collapse_shape %2 [[0], [1, 2], [3], [4]] : tensor<1x3x2x8x8xf32> into tensor<1x6x8x8xf32>
  %p = tensor.pad %3 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<1x6x8x8xf32> to tensor<1x6x10x10xf32>
  %e2 = tensor.empty() : tensor<1x10x10x6xf32>
  %4 = linalg.transpose ins(%p : tensor<1x6x10x10xf32>) outs(%e2 : tensor<1x10x10x6xf32>) permutation = [0, 2, 3, 1]
  return %4 : tensor<1x10x10x6xf32>
}

// Of any size: operations that ask for it do not read the tensors between.
// CHECK-LABEL: func.func @shuffle_of_any_size(
// CHECK:         linalg.transpose {{.*}} permutation = [0, 1, 4, 2, 5, 3]
// CHECK:         tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3, 4], [5]] : tensor<1x?x2x?x2x16xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @shuffle_of_any_size(%x: tensor<1x?x?x16x2x2xf32>, %h: index, %w: index) -> (tensor<1x?x?x16xf32>, index) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %e0 = tensor.empty(%h, %w) : tensor<1x16x?x2x?x2xf32>
  %0 = linalg.transpose ins(%x : tensor<1x?x?x16x2x2xf32>) outs(%e0 : tensor<1x16x?x2x?x2xf32>) permutation = [0, 3, 1, 4, 2, 5]
  %1 = tensor.collapse_shape %0 [[0], [1], [2, 3], [4, 5]] : tensor<1x16x?x2x?x2xf32> into tensor<1x16x?x?xf32>
  %n = tensor.dim %1, %c2 : tensor<1x16x?x?xf32>
  %m = tensor.dim %1, %c3 : tensor<1x16x?x?xf32>
  %e1 = tensor.empty(%n, %m) : tensor<1x?x?x16xf32>
  %2 = linalg.transpose ins(%1 : tensor<1x16x?x?xf32>) outs(%e1 : tensor<1x?x?x16xf32>) permutation = [0, 2, 3, 1]
  return %2, %n : tensor<1x?x?x16xf32>, index
}

// Where nothing takes the second transpose away there is one, as before.
// CHECK-LABEL: func.func @alone(
// CHECK:         linalg.transpose {{.*}} permutation = [0, 2, 1, 3, 4]
// CHECK:         tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3], [4]]
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @alone(%x: tensor<1x2x3x8x8xf32>) -> tensor<1x6x8x8xf32> {
  %e1 = tensor.empty() : tensor<1x3x2x8x8xf32>
  %2 = linalg.transpose ins(%x : tensor<1x2x3x8x8xf32>) outs(%e1 : tensor<1x3x2x8x8xf32>) permutation = [0, 2, 1, 3, 4]
  %3 = tensor.collapse_shape %2 [[0], [1, 2], [3], [4]] : tensor<1x3x2x8x8xf32> into tensor<1x6x8x8xf32>
  return %3 : tensor<1x6x8x8xf32>
}

// A padding that nothing before it has the channels last of: the transpose goes straight into its middle.
// CHECK-LABEL: func.func @first(
// CHECK:         %[[T:.*]] = linalg.transpose ins(%arg0 : tensor<1x3x8x8xf32>) {{.*}} permutation = [0, 2, 3, 1]
// CHECK:         tensor.pad %[[T]] low[0, 1, 1, 0] high[0, 1, 1, 0]
func.func @first(%x: tensor<1x3x8x8xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<1x3x8x8xf32> to tensor<1x3x10x10xf32>
  %e = tensor.empty() : tensor<1x16x8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x3x10x10xf32>, tensor<16x3x3x3xf32>) outs(%f : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  return %0 : tensor<1x16x8x8xf32>
}

// Sizes of the padded tensor do not read it.
// CHECK-LABEL: func.func @pad_of_any_size(
// CHECK:         %[[T:.*]] = linalg.transpose ins(%arg0 : tensor<1x3x?x8xf32>)
// CHECK:         tensor.pad %[[T]] low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @pad_of_any_size(%x: tensor<1x3x?x8xf32>, %z: f32) -> (tensor<1x?x10x3xf32>, index) {
  %c2 = arith.constant 2 : index
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<1x3x?x8xf32> to tensor<1x3x?x10xf32>
  %n = tensor.dim %p, %c2 : tensor<1x3x?x10xf32>
  %e = tensor.empty(%n) : tensor<1x?x10x3xf32>
  %t = linalg.transpose ins(%p : tensor<1x3x?x10xf32>) outs(%e : tensor<1x?x10x3xf32>) permutation = [0, 2, 3, 1]
  return %t, %n : tensor<1x?x10x3xf32>, index
}

// Windows of single channels alone: rows of 56 are vectors nearly throughout, and two transposes are saved.
// CHECK-LABEL: func.func @depthwise(
// CHECK-NOT:     linalg.transpose
// CHECK:         outs(%{{.*}} : tensor<1x96x56x56xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @depthwise(%x: tensor<1x96x58x58xf32>, %w: tensor<96x3x3xf32>) -> tensor<1x96x56x56xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x96x56x56xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x96x56x56xf32>) -> tensor<1x96x56x56xf32>
  %0 = linalg.depthwise_conv_2d_nchw_chw ins(%x, %w : tensor<1x96x58x58xf32>, tensor<96x3x3xf32>) outs(%f : tensor<1x96x56x56xf32>) -> tensor<1x96x56x56xf32>
  return %0 : tensor<1x96x56x56xf32>
}

// In steps of two, elements of a row are read with those between them.
// CHECK-LABEL: func.func @strided(
// CHECK-NOT:     linalg.transpose
// CHECK:         outs(%{{.*}} : tensor<1x96x28x28xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @strided(%x: tensor<1x96x57x57xf32>, %w: tensor<96x3x3xf32>) -> tensor<1x96x28x28xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x96x28x28xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x96x28x28xf32>) -> tensor<1x96x28x28xf32>
  %0 = linalg.depthwise_conv_2d_nchw_chw {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x96x57x57xf32>, tensor<96x3x3xf32>) outs(%f : tensor<1x96x28x28xf32>) -> tensor<1x96x28x28xf32>
  return %0 : tensor<1x96x28x28xf32>
}

// In steps of five, hardly two of them are in one vector.
// CHECK-LABEL: func.func @farther(
// CHECK:         linalg.transpose
// CHECK:         outs(%{{.*}} : tensor<1x28x28x96xf32>)
func.func @farther(%x: tensor<1x96x138x138xf32>, %w: tensor<96x3x3xf32>) -> tensor<1x96x28x28xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x96x28x28xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x96x28x28xf32>) -> tensor<1x96x28x28xf32>
  %0 = linalg.depthwise_conv_2d_nchw_chw {strides = dense<5> : tensor<2xi64>} ins(%x, %w : tensor<1x96x138x138xf32>, tensor<96x3x3xf32>) outs(%f : tensor<1x96x28x28xf32>) -> tensor<1x96x28x28xf32>
  return %0 : tensor<1x96x28x28xf32>
}

// A reduction writes what is left in the order of what it reads.
// CHECK-LABEL: func.func @reduced(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<32x9x16xf32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]] : {{.*}} outs(%{{.*}} : tensor<32x16xf32>)
// CHECK:         linalg.transpose {{.*}} permutation = [1, 0]
#xyz = affine_map<(c, n, s) -> (c, n, s)>
#xy = affine_map<(c, n, s) -> (c, n)>
func.func @reduced(%x: tensor<32x9x16xf32>) -> tensor<16x32xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<16x32x9xf32>
  %t = linalg.transpose ins(%x : tensor<32x9x16xf32>) outs(%e : tensor<16x32x9xf32>) permutation = [2, 0, 1]
  %m = tensor.empty() : tensor<16x32xf32>
  %f = linalg.fill ins(%low : f32) outs(%m : tensor<16x32xf32>) -> tensor<16x32xf32>
  %0 = linalg.generic {indexing_maps = [#xyz, #xy], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%t : tensor<16x32x9xf32>) outs(%f : tensor<16x32xf32>) {
  ^bb0(%i: f32, %o: f32):
    %a = arith.maximumf %o, %i : f32
    linalg.yield %a : f32
  } -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// A product between two transposes that put the channels first and last again: the channels stay where they are.
// CHECK-LABEL: func.func @between(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<30x25x64xf32>, %[[W:[^:]*]]: tensor<25x25xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[W]] : {{.*}} outs(%{{.*}} : tensor<30x25x64xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         arith.maximumf
// CHECK-NOT:     linalg.transpose
// CHECK:         return
#data = affine_map<(c, t, w, v) -> (c, t, v)>
#weights = affine_map<(c, t, w, v) -> (v, w)>
#result = affine_map<(c, t, w, v) -> (c, t, w)>
#each = affine_map<(c, t, w) -> (c, t, w)>
func.func @between(%x: tensor<30x25x64xf32>, %w: tensor<25x25xf32>) -> tensor<30x25x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x30x25xf32>
  %t = linalg.transpose ins(%x : tensor<30x25x64xf32>) outs(%e : tensor<64x30x25xf32>) permutation = [2, 0, 1]
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x30x25xf32>) -> tensor<64x30x25xf32>
  %p = linalg.generic {indexing_maps = [#data, #weights, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%t, %w : tensor<64x30x25xf32>, tensor<25x25xf32>) outs(%f : tensor<64x30x25xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x30x25xf32>
  %r = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<64x30x25xf32>) outs(%e : tensor<64x30x25xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %z : f32
    linalg.yield %m : f32
  } -> tensor<64x30x25xf32>
  %e2 = tensor.empty() : tensor<30x25x64xf32>
  %y = linalg.transpose ins(%r : tensor<64x30x25xf32>) outs(%e2 : tensor<30x25x64xf32>) permutation = [1, 2, 0]
  return %y : tensor<30x25x64xf32>
}

// Where the result is wanted with the channels first, as it is: a transpose behind would be one more.
// CHECK-LABEL: func.func @first_behind(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<64x30x25xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @first_behind(%x: tensor<30x25x64xf32>, %w: tensor<25x25xf32>) -> tensor<64x30x25xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x30x25xf32>
  %t = linalg.transpose ins(%x : tensor<30x25x64xf32>) outs(%e : tensor<64x30x25xf32>) permutation = [2, 0, 1]
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x30x25xf32>) -> tensor<64x30x25xf32>
  %p = linalg.generic {indexing_maps = [#data, #weights, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%t, %w : tensor<64x30x25xf32>, tensor<25x25xf32>) outs(%f : tensor<64x30x25xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x30x25xf32>
  return %p : tensor<64x30x25xf32>
}

// What is in front of a loop stays there: it would be transposed part by part, again in each step.
// CHECK-LABEL: func.func @parts_in_a_loop(
// CHECK:         %[[T:.*]] = linalg.transpose ins(%arg0
// CHECK:         scf.for
// CHECK:           tensor.extract_slice %[[T]]
// CHECK-NOT:       linalg.transpose
// CHECK:           scf.yield
func.func @parts_in_a_loop(%x: tensor<16x50x50xf32>, %n: index) -> tensor<16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x50x16xf32>
  %t = linalg.transpose ins(%x : tensor<16x50x50xf32>) outs(%e : tensor<50x50x16xf32>) permutation = [1, 2, 0]
  %s = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%z : f32) outs(%s : tensor<16xf32>) -> tensor<16xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %f) -> tensor<16xf32> {
    %p = tensor.extract_slice %t[%i, 0, 0] [1, 50, 16] [1, 1, 1] : tensor<50x50x16xf32> to tensor<1x50x16xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (c)>], iterator_types = ["reduction", "reduction", "parallel"]} ins(%p : tensor<1x50x16xf32>) outs(%sum : tensor<16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %2 = arith.addf %a, %o : f32
      linalg.yield %2 : f32
    } -> tensor<16xf32>
    scf.yield %1 : tensor<16xf32>
  }
  return %0 : tensor<16xf32>
}

// A dimension that becomes two of unknown sizes, which no expand_shape says: the channels lie last in them, too.
// CHECK-LABEL: func.func @image_of_unknown_size(
// CHECK:         %[[SIZES:.*]] = tensor.from_elements %c1, %arg1, %arg2, %c32
// CHECK:         tensor.reshape %arg0(%[[SIZES]]) : (tensor<1x?x32xf32>, tensor<4xindex>) -> tensor<1x?x?x32xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @image_of_unknown_size(%x: tensor<1x?x32xf32>, %h: index, %w: index) -> tensor<1x?x?x32xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %n = arith.muli %h, %w : index
  %e0 = tensor.empty(%n) : tensor<1x32x?xf32>
  %0 = linalg.transpose ins(%x : tensor<1x?x32xf32>) outs(%e0 : tensor<1x32x?xf32>) permutation = [0, 2, 1]
  %s = tensor.from_elements %c1, %c32, %h, %w : tensor<4xindex>
  %1 = tensor.reshape %0(%s) : (tensor<1x32x?xf32>, tensor<4xindex>) -> tensor<1x32x?x?xf32>
  %e1 = tensor.empty(%h, %w) : tensor<1x?x?x32xf32>
  %2 = linalg.transpose ins(%1 : tensor<1x32x?x?xf32>) outs(%e1 : tensor<1x?x?x32xf32>) permutation = [0, 2, 3, 1]
  return %2 : tensor<1x?x?x32xf32>
}

// An interpolation reads rows that a table tells, and the channel that it writes: whole vectors of channels, if they lie
// last in what is transposed for it.
// CHECK-LABEL: func.func @interpolation(
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<1x16x8x32xf32>)
// CHECK:           %[[N:.*]] = linalg.index 0
// CHECK:           %[[C:.*]] = linalg.index 1
// CHECK:           %[[W:.*]] = linalg.index 3
// CHECK:           tensor.extract %arg0[%[[N]], %{{.*}}, %[[W]], %[[C]]] : tensor<1x8x8x32xf32>
// CHECK:         -> tensor<1x16x8x32xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         return
#tap = affine_map<(n, c, h, w, k) -> (h, k)>
#image = affine_map<(n, c, h, w, k) -> (n, c, h, w)>
func.func @interpolation(%x: tensor<1x8x8x32xf32>, %weights: tensor<16x2xf32>, %rows: tensor<16x2xindex>) -> tensor<1x16x8x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x32x8x8xf32>
  %0 = linalg.transpose ins(%x : tensor<1x8x8x32xf32>) outs(%e0 : tensor<1x32x8x8xf32>) permutation = [0, 3, 1, 2]
  %e1 = tensor.empty() : tensor<1x32x16x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x32x16x8xf32>) -> tensor<1x32x16x8xf32>
  %1 = linalg.generic {indexing_maps = [#tap, #tap, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%weights, %rows : tensor<16x2xf32>, tensor<16x2xindex>) outs(%init : tensor<1x32x16x8xf32>) {
  ^bb0(%weight: f32, %row: index, %sum: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %w = linalg.index 3 : index
    %a = tensor.extract %0[%n, %c, %row, %w] : tensor<1x32x8x8xf32>
    %b = arith.mulf %weight, %a : f32
    %d = arith.addf %sum, %b : f32
    linalg.yield %d : f32
  } -> tensor<1x32x16x8xf32>
  %e2 = tensor.empty() : tensor<1x16x8x32xf32>
  %2 = linalg.transpose ins(%1 : tensor<1x32x16x8xf32>) outs(%e2 : tensor<1x16x8x32xf32>) permutation = [0, 2, 3, 1]
  return %2 : tensor<1x16x8x32xf32>
}

// A result of the function would be transposed behind it, when there are more elements.
// CHECK-LABEL: func.func @interpolated_result(
// CHECK:         linalg.transpose ins(%arg0
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @interpolated_result(%x: tensor<1x8x8x32xf32>, %rows: tensor<16xindex>) -> tensor<1x32x16x8xf32> {
  %e0 = tensor.empty() : tensor<1x32x8x8xf32>
  %0 = linalg.transpose ins(%x : tensor<1x8x8x32xf32>) outs(%e0 : tensor<1x32x8x8xf32>) permutation = [0, 3, 1, 2]
  %e1 = tensor.empty() : tensor<1x32x16x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (h)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%rows : tensor<16xindex>) outs(%e1 : tensor<1x32x16x8xf32>) {
  ^bb0(%row: index, %out: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %w = linalg.index 3 : index
    %a = tensor.extract %0[%n, %c, %row, %w] : tensor<1x32x8x8xf32>
    linalg.yield %a : f32
  } -> tensor<1x32x16x8xf32>
  return %1 : tensor<1x32x16x8xf32>
}

// An enlarged image that repeats pixels, with a border of its own: rows of channels are repeated and inserted as they
// lie; a part that is not transposed is, for the others' sake.
// CHECK-LABEL: func.func @enlarged(
// CHECK-SAME:      %[[X:.*]]: tensor<1x4x4x32xf32>, %[[BORDER:.*]]: tensor<1x32x1x8xf32>
// CHECK:         %[[REPEATED:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<1x4x1x4x1x32xf32>) outs(%{{.*}} : tensor<1x4x2x4x2x32xf32>)
// CHECK:         %[[IMAGE:.*]] = tensor.collapse_shape %[[REPEATED]] {{\[\[0\], \[1, 2\], \[3, 4\], \[5\]\]}}
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<1x9x8x32xf32>
// CHECK:         %[[PART:.*]] = tensor.insert_slice %[[IMAGE]] into %[[EMPTY]][0, 1, 0, 0] [1, 8, 8, 32]
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[BORDER]]
// CHECK:         %[[ALL:.*]] = tensor.insert_slice %[[T]] into %[[PART]][0, 0, 0, 0] [1, 1, 8, 32]
// CHECK-NOT:     linalg.transpose
// CHECK:         return %[[ALL]]
func.func @enlarged(%x: tensor<1x4x4x32xf32>, %border: tensor<1x32x1x8xf32>) -> tensor<1x9x8x32xf32> {
  %e0 = tensor.empty() : tensor<1x32x4x4xf32>
  %0 = linalg.transpose ins(%x : tensor<1x4x4x32xf32>) outs(%e0 : tensor<1x32x4x4xf32>) permutation = [0, 3, 1, 2]
  %1 = tensor.expand_shape %0 [[0], [1], [2, 3], [4, 5]] output_shape [1, 32, 4, 1, 4, 1] : tensor<1x32x4x4xf32> into tensor<1x32x4x1x4x1xf32>
  %e1 = tensor.empty() : tensor<1x32x4x2x4x2xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(n, c, h, i, w, j) -> (n, c, h, 0, w, 0)>, affine_map<(n, c, h, i, w, j) -> (n, c, h, i, w, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%1 : tensor<1x32x4x1x4x1xf32>) outs(%e1 : tensor<1x32x4x2x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x32x4x2x4x2xf32>
  %3 = tensor.collapse_shape %2 [[0], [1], [2, 3], [4, 5]] : tensor<1x32x4x2x4x2xf32> into tensor<1x32x8x8xf32>
  %e2 = tensor.empty() : tensor<1x32x9x8xf32>
  %4 = tensor.insert_slice %3 into %e2[0, 0, 1, 0] [1, 32, 8, 8] [1, 1, 1, 1] : tensor<1x32x8x8xf32> into tensor<1x32x9x8xf32>
  %5 = tensor.insert_slice %border into %4[0, 0, 0, 0] [1, 32, 1, 8] [1, 1, 1, 1] : tensor<1x32x1x8xf32> into tensor<1x32x9x8xf32>
  %e3 = tensor.empty() : tensor<1x9x8x32xf32>
  %6 = linalg.transpose ins(%5 : tensor<1x32x9x8xf32>) outs(%e3 : tensor<1x9x8x32xf32>) permutation = [0, 2, 3, 1]
  return %6 : tensor<1x9x8x32xf32>
}

// Few channels are no vector.
// CHECK-LABEL: func.func @few_channels(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<1x3x4x4x2xf32>)
func.func @few_channels(%x: tensor<1x4x4x3xf32>) -> tensor<1x4x4x2x3xf32> {
  %e0 = tensor.empty() : tensor<1x3x4x4xf32>
  %0 = linalg.transpose ins(%x : tensor<1x4x4x3xf32>) outs(%e0 : tensor<1x3x4x4xf32>) permutation = [0, 3, 1, 2]
  %e1 = tensor.empty() : tensor<1x3x4x4x2xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(n, c, h, w, j) -> (n, c, h, w)>, affine_map<(n, c, h, w, j) -> (n, c, h, w, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%0 : tensor<1x3x4x4xf32>) outs(%e1 : tensor<1x3x4x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x3x4x4x2xf32>
  %e2 = tensor.empty() : tensor<1x4x4x2x3xf32>
  %2 = linalg.transpose ins(%1 : tensor<1x3x4x4x2xf32>) outs(%e2 : tensor<1x4x4x2x3xf32>) permutation = [0, 2, 3, 4, 1]
  return %2 : tensor<1x4x4x2x3xf32>
}

// A constant's transpose is made before the first run: a bias of heads does not give the scores its order.
// CHECK-LABEL: func.func @bias(
// CHECK:         linalg.transpose
// CHECK:         linalg.generic {{.*}} ins(%arg0, %{{.*}} outs(%{{.*}} : tensor<4x8x8xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         return
ml_program.global private @table(dense_resource<table> : tensor<8x8x4xf32>) : tensor<8x8x4xf32>
func.func @bias(%scores: tensor<4x8x8xf32>) -> tensor<4x8x8xf32> {
  %table = ml_program.global_load_const @table : tensor<8x8x4xf32>
  %e = tensor.empty() : tensor<4x8x8xf32>
  %0 = linalg.transpose ins(%table : tensor<8x8x4xf32>) outs(%e : tensor<4x8x8xf32>) permutation = [2, 0, 1]
  %1 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %0 : tensor<4x8x8xf32>, tensor<4x8x8xf32>) outs(%e : tensor<4x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %2 = arith.addf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<4x8x8xf32>
  return %1 : tensor<4x8x8xf32>
}

// Nor does the transpose of what is looked up for them: products have their own order.
// CHECK-LABEL: func.func @looked_up(
// CHECK:         %[[SCORES:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1
// CHECK:         %[[BIAS:.*]] = linalg.transpose ins(%arg2
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[SCORES]], %[[BIAS]]
// CHECK:         return %[[SUM]]
func.func @looked_up(%q: tensor<4x8x16xf32>, %k: tensor<4x16x8xf32>, %table: tensor<8x8x4xf32>) -> tensor<4x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %scores = linalg.generic {indexing_maps = [affine_map<(h, a, b, k) -> (h, a, k)>, affine_map<(h, a, b, k) -> (h, k, b)>, affine_map<(h, a, b, k) -> (h, a, b)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<4x8x16xf32>, tensor<4x16x8xf32>) outs(%f : tensor<4x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x8x8xf32>
  %0 = linalg.transpose ins(%table : tensor<8x8x4xf32>) outs(%e : tensor<4x8x8xf32>) permutation = [2, 0, 1]
  %1 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %0 : tensor<4x8x8xf32>, tensor<4x8x8xf32>) outs(%e : tensor<4x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %2 = arith.addf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<4x8x8xf32>
  return %1 : tensor<4x8x8xf32>
}

// -----

// That of what lies in the order of the products does not stay: it is read as it lies.
// CHECK-LABEL: func.func @looked_up_in_that_order(
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[SCORES:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {{.*}} ins(%[[SCORES]], %arg2
// CHECK-NOT:     linalg.transpose
func.func @looked_up_in_that_order(%q: tensor<4x8x16xf32>, %k: tensor<4x16x8xf32>, %table: tensor<4x8x8xf32>) -> tensor<4x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %scores = linalg.generic {indexing_maps = [affine_map<(h, a, b, k) -> (h, a, k)>, affine_map<(h, a, b, k) -> (h, k, b)>, affine_map<(h, a, b, k) -> (h, a, b)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<4x8x16xf32>, tensor<4x16x8xf32>) outs(%f : tensor<4x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x8x8xf32>
  %t = tensor.empty() : tensor<8x4x8xf32>
  %0 = linalg.transpose ins(%table : tensor<4x8x8xf32>) outs(%t : tensor<8x4x8xf32>) permutation = [2, 0, 1]
  %1 = linalg.generic {indexing_maps = [affine_map<(c, a, b) -> (a, b, c)>, affine_map<(c, a, b) -> (c, a, b)>, affine_map<(c, a, b) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %0 : tensor<4x8x8xf32>, tensor<8x4x8xf32>) outs(%e : tensor<4x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %2 = arith.addf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<4x8x8xf32>
  return %1 : tensor<4x8x8xf32>
}
