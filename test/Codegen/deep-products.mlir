// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-pack-weights{vector-bits=512 registers=32 bf16-tiles=true cache-bytes=65536 near-cache-bytes=32768}))' | FileCheck %s

// 64 lanes of 1024 rows of weights are four times the cache: sixteen parts of a quarter of it, each of which
// adds to what the one before has.
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (k, j)>
#y = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: func.func @deep(
// CHECK-SAME:    %[[X:.*]]: tensor<?x1024xf32>, %[[START:.*]]: tensor<?x64xf32>
// CHECK:         %[[X0:.*]] = tensor.extract_slice %[[X]][0, 0] [%{{.*}}, 64]
// CHECK:         %[[Y0:.*]] = linalg.generic {{.*}} ins(%[[X0]], %{{.*}} : tensor<?x64xf32>, {{.*}}) outs(%[[START]] :
// CHECK:         %[[X1:.*]] = tensor.extract_slice %[[X]][0, 64] [%{{.*}}, 64]
// CHECK:         linalg.generic {{.*}} ins(%[[X1]], %{{.*}}) outs(%[[Y0]] :
// CHECK-COUNT-14: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @deep(%x: tensor<?x1024xf32>, %start: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %w = arith.constant dense<0.5> : tensor<1024x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x1024xf32>, tensor<1024x64xf32>) outs(%start : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

// A convolution in parts of its channels, which are a dimension of the data by themselves: two vectors of them or more.
#x = affine_map<(h, w, f, i, j, c) -> (2 * h + i, 2 * w + j, c)>
#w = affine_map<(h, w, f, i, j, c) -> (f, c, i, j)>
#y = affine_map<(h, w, f, i, j, c) -> (h, w, f)>
// CHECK-LABEL: func.func @convolution(
// CHECK-SAME:    %[[X:.*]]: tensor<17x17x64xf32>, %[[START:.*]]: tensor<8x8x64xf32>
// CHECK:         %[[X0:.*]] = tensor.extract_slice %[[X]][0, 0, 0] [17, 17, 32]
// CHECK:         %[[Y0:.*]] = linalg.generic {{.*}} ins(%[[X0]], %{{.*}}) outs(%[[START]] :
// CHECK:         %[[X1:.*]] = tensor.extract_slice %[[X]][0, 0, 32] [17, 17, 32]
// CHECK:         linalg.generic {{.*}} ins(%[[X1]], %{{.*}}) outs(%[[Y0]] :
// CHECK-NOT:     linalg.generic
func.func @convolution(%x: tensor<17x17x64xf32>, %start: tensor<8x8x64xf32>) -> tensor<8x8x64xf32> {
  %w = arith.constant dense<0.5> : tensor<64x64x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<17x17x64xf32>, tensor<64x64x3x3xf32>) outs(%start : tensor<8x8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x8x64xf32>
  return %0 : tensor<8x8x64xf32>
}

// -----

// Every other pixel of 512 channels is a page apart: in the same lines of the first-level cache, that have room for six
// and not for the row of seven. Here the parts are padded, in which they are closer.
#x = affine_map<(h, w, f, i, j, c) -> (2 * h + i, 2 * w + j, c)>
#w = affine_map<(h, w, f, i, j, c) -> (f, c, i, j)>
#y = affine_map<(h, w, f, i, j, c) -> (h, w, f)>
// CHECK-LABEL: func.func @crowded(
// CHECK-SAME:    %[[X:.*]]: tensor<14x14x512xf32>, %
// CHECK:         %[[X0:.*]] = tensor.extract_slice %[[X]][0, 0, 0] [14, 14, 32]
// CHECK:         %[[P0:.*]] = tensor.pad %[[X0]] low[1, 1, 0] high[0, 0, 0]
// CHECK:         linalg.generic {{.*}} ins(%[[P0]], %{{.*}} : tensor<15x15x32xf32>
// CHECK:         %[[X1:.*]] = tensor.extract_slice %[[X]][0, 0, 32] [14, 14, 32]
// CHECK:         %[[P1:.*]] = tensor.pad %[[X1]] low[1, 1, 0] high[0, 0, 0]
// CHECK:         linalg.generic {{.*}} ins(%[[P1]], %{{.*}} : tensor<15x15x32xf32>
func.func @crowded(%given: tensor<14x14x512xf32>, %start: tensor<7x7x64xf32>) -> tensor<7x7x64xf32> {
  %w = arith.constant dense<0.5> : tensor<64x512x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %x = tensor.pad %given low[1, 1, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<14x14x512xf32> to tensor<15x15x512xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<15x15x512xf32>, tensor<64x512x3x3xf32>) outs(%start : tensor<7x7x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<7x7x64xf32>
  return %0 : tensor<7x7x64xf32>
}

// -----

// Of 256 channels they are half a page apart: what is padded is padded at once.
#x = affine_map<(h, w, f, i, j, c) -> (2 * h + i, 2 * w + j, c)>
#w = affine_map<(h, w, f, i, j, c) -> (f, c, i, j)>
#y = affine_map<(h, w, f, i, j, c) -> (h, w, f)>
// CHECK-LABEL: func.func @spread(
// CHECK-COUNT-1: tensor.pad
// CHECK-NOT:     tensor.pad
func.func @spread(%given: tensor<14x14x256xf32>, %start: tensor<7x7x64xf32>) -> tensor<7x7x64xf32> {
  %w = arith.constant dense<0.5> : tensor<64x256x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %x = tensor.pad %given low[1, 1, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<14x14x256xf32> to tensor<15x15x256xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<15x15x256xf32>, tensor<64x256x3x3xf32>) outs(%start : tensor<7x7x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<7x7x64xf32>
  return %0 : tensor<7x7x64xf32>
}

// -----

// A matrix unit has tiles of more rows. Also of channels in pairs the parts are padded.
#x = affine_map<(h, w, f, i, j, c, g) -> (h + i, w + j, c, g)>
#w = affine_map<(h, w, f, i, j, c, g) -> (f, c, g, i, j)>
#y = affine_map<(h, w, f, i, j, c, g) -> (h, w, f)>
// CHECK-LABEL: func.func @pairs(
// CHECK-SAME:    %[[X:.*]]: tensor<14x14x2048xbf16>, %
// CHECK:         %[[X0:.*]] = tensor.extract_slice %[[X]][0, 0, 0] [14, 14, 64]
// CHECK:         %[[P0:.*]] = tensor.pad %[[X0]] low[1, 1, 0] high[1, 1, 0]
// CHECK:         %[[E0:.*]] = tensor.expand_shape %[[P0]] {{.*}} into tensor<16x16x32x2xbf16>
// CHECK:         linalg.generic {{.*}} ins(%[[E0]], %{{.*}} : tensor<16x16x32x2xbf16>
// CHECK:         %[[X1:.*]] = tensor.extract_slice %[[X]][0, 0, 64] [14, 14, 64]
// CHECK:         tensor.pad %[[X1]] low[1, 1, 0] high[1, 1, 0]
func.func @pairs(%given: tensor<14x14x2048xbf16>, %start: tensor<14x14x64xf32>) -> tensor<14x14x64xf32> {
  %w = arith.constant dense<0.5> : tensor<64x1024x2x3x3xbf16>
  %zero = arith.constant 0.0 : bf16
  %x = tensor.pad %given low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : bf16
  } : tensor<14x14x2048xbf16> to tensor<16x16x2048xbf16>
  %pairs = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [16, 16, 1024, 2] : tensor<16x16x2048xbf16> into tensor<16x16x1024x2xbf16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%pairs, %w : tensor<16x16x1024x2xbf16>, tensor<64x1024x2x3x3xbf16>) outs(%start : tensor<14x14x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<14x14x64xf32>
  return %0 : tensor<14x14x64xf32>
}

// -----

// A few rows read the weights once.
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (k, j)>
#y = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     tensor.extract_slice
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x1024xf32>
// CHECK-NOT:     linalg.generic
func.func @few(%x: tensor<4x1024xf32>, %start: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %w = arith.constant dense<0.5> : tensor<1024x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x1024xf32>, tensor<1024x64xf32>) outs(%start : tensor<4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}

// -----

// Half of the cache: the next block has room beside it.
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (k, j)>
#y = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: func.func @half(
// CHECK-NOT:     tensor.extract_slice
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x128xf32>
// CHECK-NOT:     linalg.generic
func.func @half(%x: tensor<?x128xf32>, %start: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %w = arith.constant dense<0.5> : tensor<128x64xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x128xf32>, tensor<128x64xf32>) outs(%start : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
