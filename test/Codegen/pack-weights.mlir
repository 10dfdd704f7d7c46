// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-generalize,strata-pack-weights{vector-bits=256}),canonicalize)' | FileCheck %s

// 40 columns in blocks of 16: [3 blocks, 8, 16]; only the rest that fills half a block is padded.
// CHECK-DAG:   #[[W:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)>
// CHECK-LABEL: func.func @main(
// CHECK:         tensor.empty() : tensor<3x8x16xf32>
// CHECK:         tensor.extract_slice {{.*}} to tensor<8x32xf32>
// CHECK:         tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] {{.*}} into tensor<8x2x16xf32>
// CHECK:         linalg.transpose {{.*}} permutation = [1, 0, 2]
// CHECK:         tensor.insert_slice {{.*}}[0, 0, 0] [2, 8, 16]
// CHECK:         tensor.pad %{{.*}} low[0, 0] high[0, 8]
// CHECK:         linalg.transpose {{.*}} permutation = [1, 0, 2]
// CHECK:         tensor.insert_slice {{.*}}[2, 0, 0] [1, 8, 16]
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[W]], #{{.*}}]
ml_program.global private @w(dense_resource<w> : tensor<8x40xf32>) : tensor<8x40xf32>
func.func @main(%x: tensor<4x8xf32>, %c: tensor<4x40xf32>) -> tensor<4x40xf32> {
  %w = ml_program.global_load_const @w : tensor<8x40xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x40xf32>) outs(%c : tensor<4x40xf32>) -> tensor<4x40xf32>
  return %0 : tensor<4x40xf32>
}

// -----

// An operand whose lanes are not contiguous is transposed once.
// CHECK-LABEL: func.func @main(
// CHECK:         linalg.transpose {{.*}} permutation = [1, 0]
func.func @main(%x: tensor<64x8xf32>, %w: tensor<40x8xf32>, %c: tensor<64x40xf32>) -> tensor<64x40xf32> {
  %0 = linalg.matmul_transpose_b ins(%x, %w : tensor<64x8xf32>, tensor<40x8xf32>) outs(%c : tensor<64x40xf32>) -> tensor<64x40xf32>
  return %0 : tensor<64x40xf32>
}

// -----

// The other operand may lie as it likes: no transpose.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic
func.func @main(%x: tensor<8x64xf32>, %w: tensor<8x40xf32>, %c: tensor<64x40xf32>) -> tensor<64x40xf32> {
  %e = tensor.empty() : tensor<64x8xf32>
  %t = linalg.transpose ins(%x : tensor<8x64xf32>) outs(%e : tensor<64x8xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%t, %w : tensor<64x8xf32>, tensor<8x40xf32>) outs(%c : tensor<64x40xf32>) -> tensor<64x40xf32>
  return %0 : tensor<64x40xf32>
}

// -----

// Weights of 128 MB are packed in parts of 32 MB: here of 1024 columns, which are 64 blocks.
// CHECK-LABEL: func.func @main(
// CHECK:         tensor.extract_slice %{{.*}}[0, 0] [1024, 8192]
// CHECK:         tensor.insert_slice {{.*}}[0, 0, 0] [64, 8192, 16]
// CHECK:         tensor.extract_slice %{{.*}}[1024, 0] [1024, 8192]
// CHECK:         tensor.insert_slice {{.*}}[64, 0, 0] [64, 8192, 16]
// CHECK:         tensor.insert_slice {{.*}}[128, 0, 0] [64, 8192, 16]
// CHECK:         tensor.insert_slice {{.*}}[192, 0, 0] [64, 8192, 16]
// CHECK-NOT:     tensor.insert_slice
ml_program.global private @w(dense_resource<w> : tensor<4096x8192xf32>) : tensor<4096x8192xf32>
func.func @main(%x: tensor<4x8192xf32>, %c: tensor<4x4096xf32>) -> tensor<4x4096xf32> {
  %w = ml_program.global_load_const @w : tensor<4096x8192xf32>
  %0 = linalg.matmul_transpose_b ins(%x, %w : tensor<4x8192xf32>, tensor<4096x8192xf32>) outs(%c : tensor<4x4096xf32>) -> tensor<4x4096xf32>
  return %0 : tensor<4x4096xf32>
}

// -----

// Weights that are rounded first are rounded part by part, on the way to their places: there is no rounded whole.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[W:.*]] = ml_program.global_load_const @w
// CHECK-NOT:     tensor<8192x4096xbf16>
// CHECK:         tensor.extract_slice %[[W]][0, 0] [4096, 4096]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<{{.*}}xf32>) outs(%{{.*}} : tensor<256x2048x16x2xbf16>)
// CHECK:         tensor.insert_slice {{.*}}[0, 0, 0, 0] [256, 2048, 16, 2]
// CHECK:         tensor.extract_slice %[[W]][4096, 0] [4096, 4096]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<{{.*}}xf32>) outs(%{{.*}} : tensor<256x2048x16x2xbf16>)
// CHECK:         tensor.insert_slice {{.*}}[256, 0, 0, 0] [256, 2048, 16, 2]
// CHECK-NOT:     tensor.insert_slice
ml_program.global private @w(dense_resource<w> : tensor<8192x4096xf32>) : tensor<8192x4096xf32>
func.func @main(%x: tensor<64x2048x2xbf16>, %c: tensor<64x8192xf32>) -> tensor<64x8192xf32> {
  %w = ml_program.global_load_const @w : tensor<8192x4096xf32>
  %e = tensor.empty() : tensor<8192x4096xbf16>
  %n = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<8192x4096xf32>) outs(%e : tensor<8192x4096xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %t = arith.truncf %in : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8192x4096xbf16>
  %g = tensor.expand_shape %n [[0], [1, 2]] output_shape [8192, 2048, 2] : tensor<8192x4096xbf16> into tensor<8192x2048x2xbf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %g : tensor<64x2048x2xbf16>, tensor<8192x2048x2xbf16>) outs(%c : tensor<64x8192xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64x8192xf32>
  return %0 : tensor<64x8192xf32>
}

// -----

// Pairs of rows are pairs of the reshaped weights'.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[W:.*]] = ml_program.global_load_const @w
// CHECK-NOT:     tensor<4096x8192xbf16>
// CHECK:         tensor.extract_slice %[[W]][0, 0] [2048, 8192]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<1024x2x512x16xf32>) outs(%{{.*}} : tensor<512x1024x16x2xbf16>)
// CHECK:         tensor.extract_slice %[[W]][2048, 0] [2048, 8192]
// CHECK:         tensor.insert_slice {{.*}}[0, 1024, 0, 0] [512, 1024, 16, 2]
ml_program.global private @w(dense_resource<w> : tensor<4096x8192xf32>) : tensor<4096x8192xf32>
func.func @main(%x: tensor<64x2048x2xbf16>, %c: tensor<64x8192xf32>) -> tensor<64x8192xf32> {
  %w = ml_program.global_load_const @w : tensor<4096x8192xf32>
  %e = tensor.empty() : tensor<4096x8192xbf16>
  %n = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<4096x8192xf32>) outs(%e : tensor<4096x8192xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %t = arith.truncf %in : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x8192xbf16>
  %g = tensor.expand_shape %n [[0, 1], [2]] output_shape [2048, 2, 8192] : tensor<4096x8192xbf16> into tensor<2048x2x8192xbf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %g : tensor<64x2048x2xbf16>, tensor<2048x2x8192xbf16>) outs(%c : tensor<64x8192xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64x8192xf32>
  return %0 : tensor<64x8192xf32>
}

// -----

// Along the first dimension also where that is the reduction's; the last block of each part is padded.
// CHECK-LABEL: func.func @main(
// CHECK:         tensor.extract_slice %{{.*}}[0, 0] [2046, 4096]
// CHECK:         tensor.insert_slice {{.*}}[0, 0, 0] [256, 2046, 16]
// CHECK:         tensor.pad %{{.*}} low[0, 0] high[0, 12]
// CHECK:         tensor.insert_slice {{.*}}[256, 0, 0] [1, 2046, 16]
// CHECK:         tensor.insert_slice {{.*}}[0, 2046, 0] [256, 2046, 16]
ml_program.global private @w(dense_resource<w> : tensor<8192x4100xf32>) : tensor<8192x4100xf32>
func.func @main(%x: tensor<4x8192xf32>, %c: tensor<4x4100xf32>) -> tensor<4x4100xf32> {
  %w = ml_program.global_load_const @w : tensor<8192x4100xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8192xf32>, tensor<8192x4100xf32>) outs(%c : tensor<4x4100xf32>) -> tensor<4x4100xf32>
  return %0 : tensor<4x4100xf32>
}

// -----

// A large right-hand side that lies the wrong way is transposed into blocks in each run, for many rows; another one is
// read where it lies.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %{{.*}}: tensor<64x128xf32>, %[[FEW:.*]]: tensor<4x128xf32>, %[[W:.*]]: tensor<128x128xf32>,
// CHECK:         tensor.expand_shape %[[W]] {{\[\[}}0, 1], [2]] {{.*}} into tensor<8x16x128xf32>
// CHECK:         %[[PACKED:.*]] = linalg.transpose {{.*}} permutation = [0, 2, 1]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[PACKED]] :
// CHECK:         linalg.generic {{.*}} ins(%[[FEW]], %[[W]] :
func.func @main(%x: tensor<64x128xf32>, %few: tensor<4x128xf32>, %w: tensor<128x128xf32>, %c: tensor<64x128xf32>, %d: tensor<4x128xf32>) -> (tensor<64x128xf32>, tensor<4x128xf32>) {
  %0 = linalg.matmul_transpose_b ins(%x, %w : tensor<64x128xf32>, tensor<128x128xf32>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  %1 = linalg.matmul ins(%few, %w : tensor<4x128xf32>, tensor<128x128xf32>) outs(%d : tensor<4x128xf32>) -> tensor<4x128xf32>
  return %0, %1 : tensor<64x128xf32>, tensor<4x128xf32>
}

// -----

// Keys that were transposed before are read where they lie by four queries, and are copied for many.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[Q:.*]]: tensor<8x4x64xf32>, %[[MORE:.*]]: tensor<8x48x64xf32>, %[[K:.*]]: tensor<8x1500x64xf32>,
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[K]] {{.*}} permutation = [0, 2, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[Q]], %[[K]] :
// CHECK:         linalg.generic {{.*}} ins(%[[MORE]], %[[T]] :
func.func @main(%q: tensor<8x4x64xf32>, %more: tensor<8x48x64xf32>, %k: tensor<8x1500x64xf32>, %c: tensor<8x4x1500xf32>, %d: tensor<8x48x1500xf32>)
    -> (tensor<8x4x1500xf32>, tensor<8x48x1500xf32>) {
  %e = tensor.empty() : tensor<8x64x1500xf32>
  %t = linalg.transpose ins(%k : tensor<8x1500x64xf32>) outs(%e : tensor<8x64x1500xf32>) permutation = [0, 2, 1]
  %0 = linalg.batch_matmul ins(%q, %t : tensor<8x4x64xf32>, tensor<8x64x1500xf32>) outs(%c : tensor<8x4x1500xf32>) -> tensor<8x4x1500xf32>
  %1 = linalg.batch_matmul ins(%more, %t : tensor<8x48x64xf32>, tensor<8x64x1500xf32>) outs(%d : tensor<8x48x1500xf32>) -> tensor<8x48x1500xf32>
  return %0, %1 : tensor<8x4x1500xf32>, tensor<8x48x1500xf32>
}

// -----

// Data that was transposed is read where it lies, but not if the steps are as many lines in as many pages.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[NEAR:[^:]*]]: tensor<256x4096xf32>, %[[FAR:[^:]*]]: tensor<1024x?xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[NEAR]],
// CHECK:         %[[ROWS:.*]] = linalg.transpose ins(%[[FAR]] {{.*}} permutation = [1, 0]
// CHECK:         linalg.generic {{.*}} ins(%[[ROWS]],
func.func @main(%near: tensor<256x4096xf32>, %far: tensor<1024x?xf32>, %v: tensor<256x64xf32>, %w: tensor<1024x64xf32>, %c: tensor<4096x64xf32>, %d: tensor<?x64xf32>, %e: tensor<?x1024xf32>)
    -> (tensor<4096x64xf32>, tensor<?x64xf32>) {
  %e0 = tensor.empty() : tensor<4096x256xf32>
  %t0 = linalg.transpose ins(%near : tensor<256x4096xf32>) outs(%e0 : tensor<4096x256xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%t0, %v : tensor<4096x256xf32>, tensor<256x64xf32>) outs(%c : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %t1 = linalg.transpose ins(%far : tensor<1024x?xf32>) outs(%e : tensor<?x1024xf32>) permutation = [1, 0]
  %1 = linalg.matmul ins(%t1, %w : tensor<?x1024xf32>, tensor<1024x64xf32>) outs(%d : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0, %1 : tensor<4096x64xf32>, tensor<?x64xf32>
}

// -----

// All that weights are computed of lies in the same blocks of lanes, in the order in which the data is read.
// CHECK-LABEL: func.func @computed(
// CHECK-SAME:      %[[X:.*]]: tensor<4x2x16xf32>, %[[C:.*]]: tensor<4x32xf32>
// CHECK-DAG:     linalg.transpose {{.*}} outs(%{{.*}} : tensor<2x2x16x16xi8>) permutation = [2, 0, 1, 3]
// CHECK-DAG:     linalg.transpose {{.*}} outs(%{{.*}} : tensor<2x2x16xf32>) permutation = [1, 0, 2]
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[W:.*]], #[[S:.*]], #{{.*}}], {{.*}} ins(%[[X]], %{{.*}}, %{{.*}} : tensor<4x2x16xf32>, tensor<2x2x16x16xi8>, tensor<2x2x16xf32>)
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<2x16x32xi8>) : tensor<2x16x32xi8>
ml_program.global private @s(dense_resource<s> : tensor<2x32xf32>) : tensor<2x32xf32>
func.func @computed(%x: tensor<4x2x16xf32>, %c: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %w = ml_program.global_load_const @w : tensor<2x16x32xi8>
  %s = ml_program.global_load_const @s : tensor<2x32xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s : tensor<4x2x16xf32>, tensor<2x16x32xi8>, tensor<2x32xf32>) outs(%c : tensor<4x32xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %sum: f32):
    %1 = arith.sitofp %i : i8 to f32
    %2 = arith.mulf %1, %f : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.addf %sum, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}

// -----

// So few columns that a vector is better filled with terms of one sum: those come last.
// CHECK-DAG:   #[[W:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @few_columns(
// CHECK:         %[[W3:.*]] = linalg.transpose {{.*}} permutation = [1, 0]
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[W]], #{{.*}}], {{.*}} ins(%arg0, %[[W3]]
ml_program.global private @w(dense_resource<w> : tensor<256x3xf32>) : tensor<256x3xf32>
func.func @few_columns(%x: tensor<40x256xf32>, %c: tensor<40x3xf32>) -> tensor<40x3xf32> {
  %w = ml_program.global_load_const @w : tensor<256x3xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<40x256xf32>, tensor<256x3xf32>) outs(%c : tensor<40x3xf32>) -> tensor<40x3xf32>
  return %0 : tensor<40x3xf32>
}

// -----

// Of short sums it would take longer to add up the lanes; of more columns, vectors of those are nearly full.
// CHECK-LABEL: func.func @short_sums(
// CHECK-NOT:     linalg.transpose
ml_program.global private @w(dense_resource<w> : tensor<32x3xf32>) : tensor<32x3xf32>
func.func @short_sums(%x: tensor<40x32xf32>, %c: tensor<40x3xf32>) -> tensor<40x3xf32> {
  %w = ml_program.global_load_const @w : tensor<32x3xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<40x32xf32>, tensor<32x3xf32>) outs(%c : tensor<40x3xf32>) -> tensor<40x3xf32>
  return %0 : tensor<40x3xf32>
}
// CHECK-LABEL: func.func @more_columns(
// CHECK-NOT:     linalg.transpose
ml_program.global private @v(dense_resource<v> : tensor<256x6xf32>) : tensor<256x6xf32>
func.func @more_columns(%x: tensor<40x256xf32>, %c: tensor<40x6xf32>) -> tensor<40x6xf32> {
  %v = ml_program.global_load_const @v : tensor<256x6xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<40x256xf32>, tensor<256x6xf32>) outs(%c : tensor<40x6xf32>) -> tensor<40x6xf32>
  return %0 : tensor<40x6xf32>
}
