// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(strata-tiled-phase{cpu=skylake-avx512},strata-buffers-phase{cpu=skylake-avx512},strata-vector-phase{cpu=skylake-avx512})' | FileCheck %s

// The transformed weights stay in the cache: one region, of bands, each with a buffer of its own for what is transformed.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-LABEL: func.func private @kernel_0(%{{.*}}: memref<?x58x58x64xf32>
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     scf.for
// CHECK:         call @strata_rt_parallel_for
// CHECK-NOT:     call @strata_rt_parallel_for
// CHECK:       func.func private @kernel_1
// CHECK-LABEL: func.func private @strata_task_0
// CHECK-COUNT-2: memref.alloc()
// CHECK:         scf.for
// CHECK-COUNT-2: memref.dealloc
ml_program.global private @w(dense_resource<w> : tensor<32x64x3x3xf32>) : tensor<32x64x3x3xf32>
func.func @main(%x: tensor<?x58x58x64xf32>, %start: tensor<?x56x56x32xf32>) -> tensor<?x56x56x32xf32> {
  %w = ml_program.global_load_const @w : tensor<32x64x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x58x58x64xf32>, tensor<32x64x3x3xf32>) outs(%start : tensor<?x56x56x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x56x56x32xf32>
  return %0 : tensor<?x56x56x32xf32>
}

// -----

// So many weights are read once for a whole band, by threads that share them: the regions are within an image.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-LABEL: func.func private @kernel_0(%{{.*}}: memref<?x30x30x128xf32>
// CHECK:         memref.alloc
// CHECK:         scf.for
// CHECK:           call @strata_rt_parallel_for
// CHECK:         memref.dealloc
// CHECK:       func.func private @kernel_1
ml_program.global private @w(dense_resource<w> : tensor<128x128x3x3xf32>) : tensor<128x128x3x3xf32>
func.func @main(%x: tensor<?x30x30x128xf32>, %start: tensor<?x28x28x128xf32>) -> tensor<?x28x28x128xf32> {
  %w = ml_program.global_load_const @w : tensor<128x128x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x30x30x128xf32>, tensor<128x128x3x3xf32>) outs(%start : tensor<?x28x28x128xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x28x28x128xf32>
  return %0 : tensor<?x28x28x128xf32>
}

// -----

// There is one panel of filters, which threads cannot share: they have bands, though the weights do not stay in the cache
// beside them. The 196 tiles are as many bands as two or four threads share evenly, of 9 or 10 tiles.
#x = affine_map<(n, h, w, f, kh, kw, c) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, kh, kw, c) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>
// CHECK-LABEL: func.func private @kernel_0(%{{.*}}: memref<?x58x58x128xf32>
// CHECK:         %[[BANDS:.*]] = arith.muli %{{.*}}, %c20
// CHECK:         %[[END:.*]] = arith.index_cast %[[BANDS]]
// CHECK:         call @strata_rt_parallel_for(%{{.*}}, %{{.*}}, %[[END]]
// CHECK-NOT:     call @strata_rt_parallel_for
// CHECK:       func.func private @kernel_1
// CHECK-LABEL: func.func private @strata_task_0
// CHECK:         %[[BEFORE:.*]] = arith.muli %{{.*}}, %c196
// CHECK:         %[[FIRST:.*]] = arith.divui %[[BEFORE]], %c20
// CHECK:         %[[NEXT:.*]] = arith.divui %{{.*}}, %c20
// CHECK:         %[[TILES:.*]] = arith.subi %[[NEXT]], %[[FIRST]]
// CHECK:         scf.for %{{.*}} = %c0 to %[[TILES]]
ml_program.global private @w(dense<1.0> : tensor<32x128x3x3xf32>) : tensor<32x128x3x3xf32>
func.func @main(%x: tensor<?x58x58x128xf32>, %start: tensor<?x56x56x32xf32>) -> tensor<?x56x56x32xf32> {
  %w = ml_program.global_load_const @w : tensor<32x128x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x58x58x128xf32>, tensor<32x128x3x3xf32>) outs(%start : tensor<?x56x56x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x56x56x32xf32>
  return %0 : tensor<?x56x56x32xf32>
}

// -----

// Of several panels, too: the weights come to the cache while 24 tiles are multiplied by them.
#x = affine_map<(n, h, w, f, kh, kw, c) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, kh, kw, c) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>
// CHECK-LABEL: func.func private @kernel_0(%{{.*}}: memref<?x58x58x64xf32>
// CHECK:         %[[BANDS:.*]] = arith.muli %{{.*}}, %c8
// CHECK:         %[[END:.*]] = arith.index_cast %[[BANDS]]
// CHECK:         call @strata_rt_parallel_for(%{{.*}}, %{{.*}}, %[[END]]
// CHECK-NOT:     call @strata_rt_parallel_for
// CHECK:       func.func private @kernel_1
// CHECK-LABEL: func.func private @strata_task_0
// CHECK:         %[[BEFORE:.*]] = arith.muli %{{.*}}, %c196
// CHECK:         %[[FIRST:.*]] = arith.divui %[[BEFORE]], %c8
// CHECK:         %[[NEXT:.*]] = arith.divui %{{.*}}, %c8
// CHECK:         %[[TILES:.*]] = arith.subi %[[NEXT]], %[[FIRST]]
// CHECK:         scf.for %{{.*}} = %c0 to %[[TILES]]
ml_program.global private @w(dense<1.0> : tensor<192x64x3x3xf32>) : tensor<192x64x3x3xf32>
func.func @main(%x: tensor<?x58x58x64xf32>, %start: tensor<?x56x56x192xf32>) -> tensor<?x56x56x192xf32> {
  %w = ml_program.global_load_const @w : tensor<192x64x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x58x58x64xf32>, tensor<192x64x3x3xf32>) outs(%start : tensor<?x56x56x192xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x56x56x192xf32>
  return %0 : tensor<?x56x56x192xf32>
}

// -----

// A slice of a volume is an image. Its inputs are transformed from the first to the last of its three slices that is not
// padding, and so many channels are multiplied.
#x = affine_map<(n, d, h, w, f, kd, kh, kw, c) -> (n, d + kd, h + kh, w + kw, c)>
#w = affine_map<(n, d, h, w, f, kd, kh, kw, c) -> (kd, kh, kw, c, f)>
#y = affine_map<(n, d, h, w, f, kd, kh, kw, c) -> (n, d, h, w, f)>
// CHECK-LABEL: func.func private @kernel_0(%{{.*}}: memref<?x6x58x58x16xf32>
// CHECK-LABEL: func.func private @strata_task_0
// CHECK:         %[[SLICE:.*]] = arith.remui %{{.*}}, %c4
// CHECK:         %[[BEFORE:.*]] = arith.subi %c1, %[[SLICE]]
// CHECK:         %[[FROM:.*]] = arith.maxsi %[[BEFORE]], %c0
// CHECK:         %[[LEFT:.*]] = arith.subi %c5, %[[SLICE]]
// CHECK:         %[[END:.*]] = arith.maxsi %[[LEFT]], %c0
// CHECK:         %[[TO:.*]] = arith.minui %[[END]], %c3
// CHECK:         scf.for %{{.*}} = %[[FROM]] to %[[TO]]
// CHECK:         %[[SLICES:.*]] = arith.subi %[[TO]], %[[FROM]]
// CHECK:         %[[COUNT:.*]] = arith.muli %[[SLICES]], %c16
// CHECK:         scf.for %{{.*}} = %c0 to %[[COUNT]] step %c1 iter_args
ml_program.global private @w(dense<1.0> : tensor<3x3x3x16x32xf32>) : tensor<3x3x3x16x32xf32>
func.func @main(%x: tensor<?x4x56x56x16xf32>, %start: tensor<?x4x56x56x32xf32>) -> tensor<?x4x56x56x32xf32> {
  %w = ml_program.global_load_const @w : tensor<3x3x3x16x32xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 1, 0] high[0, 1, 1, 1, 0] {
  ^bb0(%n: index, %d: index, %h: index, %v: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<?x4x56x56x16xf32> to tensor<?x6x58x58x16xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%padded, %w : tensor<?x6x58x58x16xf32>, tensor<3x3x3x16x32xf32>) outs(%start : tensor<?x4x56x56x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x4x56x56x32xf32>
  return %0 : tensor<?x4x56x56x32xf32>
}

// -----

// Of a size that only the run tells: as many bands as it takes, of so many tiles, and what is left in the last one.
#x = affine_map<(n, h, w, f, c, kh, kw) -> (n, h + kh, w + kw, c)>
#w = affine_map<(n, h, w, f, c, kh, kw) -> (f, c, kh, kw)>
#y = affine_map<(n, h, w, f, c, kh, kw) -> (n, h, w, f)>
// CHECK-LABEL: func.func private @kernel_0(%{{.*}}: memref<1x?x?x64xf32>
// CHECK:         %[[ROWS:.*]] = arith.ceildivui %{{.*}}, %[[FOUR:.*]] : index
// CHECK:         %[[COLUMNS:.*]] = arith.ceildivui %{{.*}}, %[[FOUR]] : index
// CHECK:         %[[TILES:.*]] = arith.muli %[[ROWS]], %[[COLUMNS]] : index
// CHECK:         %[[BANDS:.*]] = arith.ceildivui %[[TILES]], %[[BAND:.*]] : index
// CHECK:         call @strata_rt_parallel_for
// CHECK-LABEL: func.func private @strata_task_0
// CHECK:         arith.divui
// CHECK:         scf.for
// Groups of as many tiles as share them out evenly, of the sizes that there are.
// CHECK:         scf.index_switch
// CHECK-NEXT:    case 12 {
// CHECK:         case 2 {
// CHECK:         default {
ml_program.global private @w(dense_resource<w> : tensor<32x64x3x3xf32>) : tensor<32x64x3x3xf32>
func.func @main(%x: tensor<1x?x?x64xf32>, %start: tensor<1x?x?x32xf32>) -> tensor<1x?x?x32xf32> {
  %w = ml_program.global_load_const @w : tensor<32x64x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x?x?x64xf32>, tensor<32x64x3x3xf32>) outs(%start : tensor<1x?x?x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x?x?x32xf32>
  return %0 : tensor<1x?x?x32xf32>
}
