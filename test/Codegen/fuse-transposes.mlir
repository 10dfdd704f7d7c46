// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-fuse-transposes{cache-bytes=524288},canonicalize))' | FileCheck %s

// A convolution whose result has the channels first: 7 rows of 56 pixels at a time, which stay in the cache.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:      %[[X:.*]]: tensor<1x58x58x32xf32>
// CHECK:         %[[T:.*]] = scf.forall (%[[I:.*]]) = (0) to (56) step (7) shared_outs(%[[OUT:.*]] = %{{.*}}) -> (tensor<1x64x56x56xf32>)
// CHECK:           %[[PART:.*]] = tensor.extract_slice %[[X]][0, %[[I]], 0, 0] [1, 9, 58, 32]
// CHECK:           %[[EMPTY:.*]] = tensor.empty() : tensor<1x7x56x64xf32>
// CHECK:           %[[ZERO:.*]] = linalg.fill ins(%{{.*}}) outs(%[[EMPTY]]
// CHECK:           %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[PART]], {{.*}} outs(%[[ZERO]] : tensor<1x7x56x64xf32>)
// CHECK:           %[[PLACE:.*]] = tensor.empty() : tensor<1x7x56x64xf32>
// CHECK:           %[[RELU:.*]] = linalg.generic {{.*}} ins(%[[SUMS]] : {{.*}} outs(%[[PLACE]]
// CHECK:           %[[SLICE:.*]] = tensor.extract_slice %[[OUT]][0, 0, %[[I]], 0] [1, 64, 7, 56]
// CHECK:           linalg.transpose ins(%[[RELU]] : tensor<1x7x56x64xf32>) outs(%[[SLICE]] : tensor<1x64x7x56xf32>)
// CHECK:         return %[[T]]
#x = affine_map<(n, h, w, f, i, j, c) -> (n, h + i, w + j, c)>
#w = affine_map<(n, h, w, f, i, j, c) -> (i, j, c, f)>
#y = affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>
#id = affine_map<(n, h, w, f) -> (n, h, w, f)>
func.func @rows(%x: tensor<1x58x58x32xf32>) -> tensor<1x64x56x56xf32> {
  %z = arith.constant 0.0 : f32
  %w = arith.constant dense<1.0> : tensor<3x3x32x64xf32>
  %e = tensor.empty() : tensor<1x56x56x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x58x58x32xf32>, tensor<3x3x32x64xf32>) outs(%f : tensor<1x56x56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x56x56x64xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0 : tensor<1x56x56x64xf32>) outs(%e : tensor<1x56x56x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %z : f32
    linalg.yield %r : f32
  } -> tensor<1x56x56x64xf32>
  %d = tensor.empty() : tensor<1x64x56x56xf32>
  %t = linalg.transpose ins(%1 : tensor<1x56x56x64xf32>) outs(%d : tensor<1x64x56x56xf32>) permutation = [0, 3, 1, 2]
  return %t : tensor<1x64x56x56xf32>
}

// -----

// Of one long row, whole lines of the result: 64 pixels of 512 channels.
// CHECK-LABEL: func.func @line(
// CHECK:         scf.forall (%{{.*}}) = (0) to (3000) step (64)
// CHECK:           linalg.transpose
#x = affine_map<(n, w, f, j, c) -> (n, w + j, c)>
#w = affine_map<(n, w, f, j, c) -> (j, c, f)>
#y = affine_map<(n, w, f, j, c) -> (n, w, f)>
func.func @line(%x: tensor<1x3009x1xf32>) -> tensor<1x512x3000xf32> {
  %z = arith.constant 0.0 : f32
  %w = arith.constant dense<1.0> : tensor<10x1x512xf32>
  %e = tensor.empty() : tensor<1x3000x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x3000x512xf32>) -> tensor<1x3000x512xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x3009x1xf32>, tensor<10x1x512xf32>) outs(%f : tensor<1x3000x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x3000x512xf32>
  %d = tensor.empty() : tensor<1x512x3000xf32>
  %t = linalg.transpose ins(%0 : tensor<1x3000x512xf32>) outs(%d : tensor<1x512x3000xf32>) permutation = [0, 2, 1]
  return %t : tensor<1x512x3000xf32>
}

// -----

// Weights that leave no room in the cache would be read again for each block; weights that are given are first packed;
// and what others read, too, is written as a whole. All stay two operations.
// CHECK-LABEL: func.func @large(
// CHECK-NOT:     scf.forall
// CHECK-LABEL: func.func @given(
// CHECK-NOT:     scf.forall
// CHECK-LABEL: func.func @both(
// CHECK-NOT:     scf.forall
#x = affine_map<(p, f, c) -> (p, c)>
#w = affine_map<(p, f, c) -> (c, f)>
#y = affine_map<(p, f, c) -> (p, f)>
func.func @large(%x: tensor<4096x512xf32>) -> tensor<256x4096xf32> {
  %w = arith.constant dense<1.0> : tensor<512x256xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4096x256xf32>) -> tensor<4096x256xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4096x512xf32>, tensor<512x256xf32>) outs(%f : tensor<4096x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4096x256xf32>
  %d = tensor.empty() : tensor<256x4096xf32>
  %1 = linalg.transpose ins(%0 : tensor<4096x256xf32>) outs(%d : tensor<256x4096xf32>) permutation = [1, 0]
  return %1 : tensor<256x4096xf32>
}
func.func @given(%x: tensor<4096x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x4096xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4096x64xf32>, tensor<64x64xf32>) outs(%f : tensor<4096x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4096x64xf32>
  %d = tensor.empty() : tensor<64x4096xf32>
  %1 = linalg.transpose ins(%0 : tensor<4096x64xf32>) outs(%d : tensor<64x4096xf32>) permutation = [1, 0]
  return %1 : tensor<64x4096xf32>
}
func.func @both(%x: tensor<4096x64xf32>) -> (tensor<64x4096xf32>, tensor<4096x64xf32>) {
  %z = arith.constant 0.0 : f32
  %w = arith.constant dense<1.0> : tensor<64x64xf32>
  %e = tensor.empty() : tensor<4096x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4096x64xf32>, tensor<64x64xf32>) outs(%f : tensor<4096x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4096x64xf32>
  %d = tensor.empty() : tensor<64x4096xf32>
  %1 = linalg.transpose ins(%0 : tensor<4096x64xf32>) outs(%d : tensor<64x4096xf32>) permutation = [1, 0]
  return %1, %0 : tensor<64x4096xf32>, tensor<4096x64xf32>
}
