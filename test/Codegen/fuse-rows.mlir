// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-fuse-rows,canonicalize,cse))' | FileCheck %s
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-fuse-rows{cache-bytes=524288}))' | FileCheck %s --check-prefix=SMALL

// A softmax: one loop over the rows, in blocks of what fits the cache. Exponentials that only members read are computed
// once, in the place of the result, which only the last of their readers writes.
// CHECK-LABEL: func.func @softmax(
// CHECK:         scf.forall (%[[I:.*]], %[[J:.*]]) = (0, 0) to (12, 512) step (1, 4) shared_outs(%[[Y:.*]] =
// CHECK-DAG:       %[[X:.*]] = tensor.extract_slice %arg0[%[[I]], %[[J]], 0] [1, 4, 512] [1, 1, 1]
// CHECK:           linalg.fill {{.*}} -> tensor<1x4xf32>
// CHECK:           linalg.generic {{.*}} ins(%[[X]]
// CHECK:           %[[PLACE:.*]] = tensor.extract_slice %[[Y]][%[[I]], %[[J]], 0] [1, 4, 512] [1, 1, 1]
// CHECK:           %[[E:.*]] = linalg.generic {{.*}} ins(%[[X]], {{.*}} outs(%[[PLACE]]
// CHECK:             math.exp
// CHECK:           %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[E]]
// CHECK:           linalg.generic {{.*}} ins(%[[E]], %[[SUM]] : {{.*}} outs(%[[E]]
// CHECK:             arith.divf
// CHECK-NOT:       linalg.generic
// CHECK:           tensor.parallel_insert_slice {{.*}} into %[[Y]][%[[I]], %[[J]], 0] [1, 4, 512] [1, 1, 1]
// CHECK-NOT:     linalg.generic
#all = affine_map<(b, i, k) -> (b, i, k)>
#row = affine_map<(b, i, k) -> (b, i)>
func.func @softmax(%x: tensor<12x512x512xf32>) -> tensor<12x512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %r = tensor.empty() : tensor<12x512xf32>
  %e = tensor.empty() : tensor<12x512x512xf32>
  %0 = linalg.fill ins(%lowest : f32) outs(%r : tensor<12x512xf32>) -> tensor<12x512xf32>
  %1 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<12x512x512xf32>) outs(%0 : tensor<12x512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<12x512xf32>
  %2 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %1 : tensor<12x512x512xf32>, tensor<12x512xf32>) outs(%e : tensor<12x512x512xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<12x512x512xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%r : tensor<12x512xf32>) -> tensor<12x512xf32>
  %4 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%2 : tensor<12x512x512xf32>) outs(%3 : tensor<12x512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<12x512xf32>
  %5 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2, %4 : tensor<12x512x512xf32>, tensor<12x512xf32>) outs(%e : tensor<12x512x512xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %q = arith.divf %a, %s : f32
    linalg.yield %q : f32
  } -> tensor<12x512x512xf32>
  return %5 : tensor<12x512x512xf32>
}

// -----

// Scores of two computed matrices, and how they are summed up: 64 queries at once, the last time what is left. The
// scores come where their quotients will; the sums of the rows are a second result, and who reads it moves behind.
// CHECK-LABEL: func.func @scores(
// CHECK:         scf.forall (%[[I:.*]]) = (0) to (%{{.*}}) step (64) shared_outs(%{{.*}} = {{.*}}, %[[Y:.*]] =
// CHECK:           %[[LEFT:.*]] = affine.min
// CHECK:           tensor.extract_slice %[[Y]][%[[I]], 0] [%[[LEFT]], 100]
// CHECK:           linalg.generic {{.*}}"reduction"]} ins(%{{.*}}, %arg1 : tensor<?x16xf32>, tensor<16x100xf32>)
// CHECK-COUNT-2:   linalg.generic
// CHECK:           scf.forall.in_parallel
// CHECK-COUNT-2:     tensor.parallel_insert_slice
// CHECK:         math.sqrt
#q = affine_map<(i, j, k) -> (i, k)>
#k = affine_map<(i, j, k) -> (k, j)>
#s = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
func.func @scores(%q: tensor<?x16xf32>, %k: tensor<16x100xf32>) -> (tensor<?x100xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%n) : tensor<?x100xf32>
  %r = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<?x100xf32>) -> tensor<?x100xf32>
  %1 = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k : tensor<?x16xf32>, tensor<16x100xf32>) outs(%0 : tensor<?x100xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x100xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %3 = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<?x100xf32>) outs(%2 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  // Only its rows are the group's: alone it would not be worth a place.
  %index = tensor.extract %3[%c0] : tensor<?xf32>
  %root = math.sqrt %index : f32
  %4 = linalg.generic {indexing_maps = [#id, #first, #id], iterator_types = ["parallel", "parallel"]} ins(%1, %3 : tensor<?x100xf32>, tensor<?xf32>) outs(%e : tensor<?x100xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.divf %a, %s : f32
    linalg.yield %d : f32
  } -> tensor<?x100xf32>
  %5 = tensor.insert %root into %3[%c0] : tensor<?xf32>
  return %4, %5 : tensor<?x100xf32>, tensor<?xf32>
}

// -----

// Windows of 49 rows are one block, not one of 32 and a rest. An accumulator is often in a view of an empty tensor, and
// a view that nobody reads is no reader.
// CHECK-LABEL: func.func @windows_of_attention(
// CHECK:         scf.forall (%{{.*}}) in (64)
// CHECK:           linalg.generic {{.*}}"reduction"]} ins(%{{.*}}, %{{.*}} : tensor<1x49x32xf32>, tensor<1x32x49xf32>)
// CHECK:           linalg.generic {{.*}}"reduction"]} ins(%{{.*}} : tensor<1x49x49xf32>) outs(%{{.*}} : tensor<1x49xf32>)
// CHECK:           linalg.generic
// CHECK:           scf.forall.in_parallel
// CHECK-NOT:     linalg.generic
#a = affine_map<(b, i, j, k) -> (b, i, k)>
#b = affine_map<(b, i, j, k) -> (b, k, j)>
#c = affine_map<(b, i, j, k) -> (b, i, j)>
#id3 = affine_map<(b, i, j) -> (b, i, j)>
#rows = affine_map<(b, i, j) -> (b, i)>
func.func @windows_of_attention(%q: tensor<64x49x32xf32>, %k: tensor<64x32x49xf32>) -> tensor<64x49x49xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x49x49xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<64x49x49xf32>) -> tensor<64x49x49xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<64x49x32xf32>, tensor<64x32x49xf32>) outs(%0 : tensor<64x49x49xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x49x49xf32>
  %dead = tensor.expand_shape %1 [[0, 1], [2], [3]] output_shape [1, 64, 49, 49] : tensor<64x49x49xf32> into tensor<1x64x49x49xf32>
  %r = tensor.empty() : tensor<1x64x49xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%r : tensor<1x64x49xf32>) -> tensor<1x64x49xf32>
  %3 = tensor.collapse_shape %2 [[0, 1], [2]] : tensor<1x64x49xf32> into tensor<64x49xf32>
  %4 = linalg.generic {indexing_maps = [#id3, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<64x49x49xf32>) outs(%3 : tensor<64x49xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<64x49xf32>
  %5 = linalg.generic {indexing_maps = [#id3, #rows, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %4 : tensor<64x49x49xf32>, tensor<64x49xf32>) outs(%e : tensor<64x49x49xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %d = arith.divf %x, %s : f32
    linalg.yield %d : f32
  } -> tensor<64x49x49xf32>
  return %5 : tensor<64x49x49xf32>
}

// -----

// The scores of 64 rows may fill the second level, but not be more: where it is half as large there are 32.
// CHECK-LABEL: func.func @long_attention(
// CHECK:         scf.forall ({{.*}}) = (0, 0) to (6, 4096) step (1, 64)
// SMALL-LABEL: func.func @long_attention(
// SMALL:         scf.forall ({{.*}}) = (0, 0) to (6, 4096) step (1, 32)
#a = affine_map<(b, i, j, k) -> (b, i, k)>
#b = affine_map<(b, i, j, k) -> (b, k, j)>
#c = affine_map<(b, i, j, k) -> (b, i, j)>
#id3 = affine_map<(b, i, j) -> (b, i, j)>
#rows = affine_map<(b, i, j) -> (b, i)>
func.func @long_attention(%q: tensor<6x4096x64xf32>, %k: tensor<6x64x3072xf32>, %v: tensor<6x3072x64xf32>) -> tensor<6x4096x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x4096x3072xf32>
  %r = tensor.empty() : tensor<6x4096xf32>
  %w = tensor.empty() : tensor<6x4096x64xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<6x4096x3072xf32>) -> tensor<6x4096x3072xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<6x4096x64xf32>, tensor<6x64x3072xf32>) outs(%0 : tensor<6x4096x3072xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<6x4096x3072xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%r : tensor<6x4096xf32>) -> tensor<6x4096xf32>
  %3 = linalg.generic {indexing_maps = [#id3, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<6x4096x3072xf32>) outs(%2 : tensor<6x4096xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<6x4096xf32>
  %4 = linalg.generic {indexing_maps = [#id3, #rows, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %3 : tensor<6x4096x3072xf32>, tensor<6x4096xf32>) outs(%e : tensor<6x4096x3072xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %d = arith.divf %x, %s : f32
    linalg.yield %d : f32
  } -> tensor<6x4096x3072xf32>
  %5 = linalg.fill ins(%zero : f32) outs(%w : tensor<6x4096x64xf32>) -> tensor<6x4096x64xf32>
  %6 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%4, %v : tensor<6x4096x3072xf32>, tensor<6x3072x64xf32>) outs(%5 : tensor<6x4096x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<6x4096x64xf32>
  return %6 : tensor<6x4096x64xf32>
}

// -----

// What lies side by side is less than some lines of the cache: several lines of the image, which share them out evenly.
// CHECK-LABEL: func.func @short_lines(
// CHECK:         scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (8, 28) step (1, 14)
#image = affine_map<(n, c, y, x) -> (n, c, y, x)>
#channels = affine_map<(n, c, y, x) -> (n, y, x)>
func.func @short_lines(%x: tensor<8x192x28x28xf32>) -> tensor<8x192x28x28xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<8x28x28xf32>
  %e = tensor.empty() : tensor<8x192x28x28xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%r : tensor<8x28x28xf32>) -> tensor<8x28x28xf32>
  %1 = linalg.generic {indexing_maps = [#image, #channels], iterator_types = ["parallel", "reduction", "parallel", "parallel"]} ins(%x : tensor<8x192x28x28xf32>) outs(%0 : tensor<8x28x28xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8x28x28xf32>
  %2 = linalg.generic {indexing_maps = [#image, #channels, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %1 : tensor<8x192x28x28xf32>, tensor<8x28x28xf32>) outs(%e : tensor<8x192x28x28xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.subf %a, %s : f32
    linalg.yield %d : f32
  } -> tensor<8x192x28x28xf32>
  return %2 : tensor<8x192x28x28xf32>
}

// -----

// More lines of a dimension further out would not lie side by side.
// CHECK-LABEL: func.func @lines_apart(
// CHECK:         scf.forall (%{{.*}}, %{{.*}}) in (32, 64)
#image = affine_map<(n, c, y, x) -> (n, c, y, x)>
#lines = affine_map<(n, c, y, x) -> (n, c, x)>
func.func @lines_apart(%x: tensor<32x64x128x8xf32>) -> tensor<32x64x128x8xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<32x64x8xf32>
  %e = tensor.empty() : tensor<32x64x128x8xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%r : tensor<32x64x8xf32>) -> tensor<32x64x8xf32>
  %1 = linalg.generic {indexing_maps = [#image, #lines], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%x : tensor<32x64x128x8xf32>) outs(%0 : tensor<32x64x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<32x64x8xf32>
  %2 = linalg.generic {indexing_maps = [#image, #lines, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %1 : tensor<32x64x128x8xf32>, tensor<32x64x8xf32>) outs(%e : tensor<32x64x128x8xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.subf %a, %s : f32
    linalg.yield %d : f32
  } -> tensor<32x64x128x8xf32>
  return %2 : tensor<32x64x128x8xf32>
}

// -----

// Of an unknown number of rows, or of lines, full blocks of a known size; then smaller ones, and single ones.
// CHECK-LABEL: func.func @unknown_rows(
// CHECK:         %[[N:.*]] = tensor.dim %{{.*}}, %c0
// CHECK:         %[[WHOLE:.*]] = affine.apply #{{.*}}()[%[[N]]]
// CHECK:         %[[BEGUN:.*]] = scf.forall (%{{.*}}) = (0) to (%[[WHOLE]]) step (2)
// CHECK:           tensor.extract_slice {{.*}} [2, 1024] [1, 1] : tensor<?x1024xf32> to tensor<2x1024xf32>
// CHECK-NOT:       affine.min
// CHECK:         %[[LEFT:.*]] = affine.apply #{{.*}}()[%[[N]]]
// CHECK:         scf.forall (%[[I:.*]]) in (%[[LEFT]]) shared_outs(%{{.*}} = %[[BEGUN]])
// CHECK:           affine.apply #{{.*}}(%[[I]])[%[[N]]]
// CHECK:           tensor.extract_slice {{.*}} [1, 1024] [1, 1] : tensor<?x1024xf32> to tensor<1x1024xf32>
// CHECK-LABEL: func.func @unknown_lines(
// CHECK:         scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (8, %{{.*}}) step (1, 10)
// CHECK:         scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (8, %{{.*}}) step (1, 4)
// CHECK:         scf.forall (%{{.*}}, %{{.*}}) in (8, %{{.*}}) shared_outs
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @unknown_rows(%x: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %r = tensor.empty(%n) : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?x1024xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x1024xf32>) outs(%0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %1 : tensor<?x1024xf32>, tensor<?xf32>) outs(%e : tensor<?x1024xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.subf %a, %s : f32
    linalg.yield %d : f32
  } -> tensor<?x1024xf32>
  return %2 : tensor<?x1024xf32>
}
#image = affine_map<(n, c, y, x) -> (n, c, y, x)>
#channels = affine_map<(n, c, y, x) -> (n, y, x)>
func.func @unknown_lines(%x: tensor<8x192x?x28xf32>) -> tensor<8x192x?x28xf32> {
  %zero = arith.constant 0.0 : f32
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c2 : tensor<8x192x?x28xf32>
  %r = tensor.empty(%n) : tensor<8x?x28xf32>
  %e = tensor.empty(%n) : tensor<8x192x?x28xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%r : tensor<8x?x28xf32>) -> tensor<8x?x28xf32>
  %1 = linalg.generic {indexing_maps = [#image, #channels], iterator_types = ["parallel", "reduction", "parallel", "parallel"]} ins(%x : tensor<8x192x?x28xf32>) outs(%0 : tensor<8x?x28xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8x?x28xf32>
  %2 = linalg.generic {indexing_maps = [#image, #channels, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %1 : tensor<8x192x?x28xf32>, tensor<8x?x28xf32>) outs(%e : tensor<8x192x?x28xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.subf %a, %s : f32
    linalg.yield %d : f32
  } -> tensor<8x192x?x28xf32>
  return %2 : tensor<8x192x?x28xf32>
}

// -----

// Rows by columns: a block of columns, which lie side by side, not one.
// CHECK-LABEL: func.func @columns(
// CHECK:         scf.forall (%{{.*}}) = (0) to (4096) step (128)
#id = affine_map<(i, j) -> (i, j)>
#second = affine_map<(i, j) -> (j)>
func.func @columns(%x: tensor<21x4096xf32>) -> tensor<21x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<4096xf32>
  %e = tensor.empty() : tensor<21x4096xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%r : tensor<4096xf32>) -> tensor<4096xf32>
  %1 = linalg.generic {indexing_maps = [#id, #second], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<21x4096xf32>) outs(%0 : tensor<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4096xf32>
  %2 = linalg.generic {indexing_maps = [#id, #second, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %1 : tensor<21x4096xf32>, tensor<4096xf32>) outs(%e : tensor<21x4096xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.divf %a, %s : f32
    linalg.yield %d : f32
  } -> tensor<21x4096xf32>
  return %2 : tensor<21x4096xf32>
}

// -----

// Nothing that is swept twice: a sum of rows and the root of it. A row of four megabytes, which no cache holds.
// CHECK-LABEL: func.func @once(
// CHECK-NOT:     scf.forall
#id = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
func.func @once(%x: tensor<64x512xf32>, %long: tensor<64x1048576xf32>) -> (tensor<64xf32>, tensor<64x1048576xf32>) {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<64xf32>
  %e = tensor.empty() : tensor<64x1048576xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%r : tensor<64xf32>) -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x512xf32>) outs(%0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%1 : tensor<64xf32>) outs(%r : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.sqrt %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %3 = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} ins(%long : tensor<64x1048576xf32>) outs(%0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %4 = linalg.generic {indexing_maps = [#id, #first, #id], iterator_types = ["parallel", "parallel"]} ins(%long, %3 : tensor<64x1048576xf32>, tensor<64xf32>) outs(%e : tensor<64x1048576xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.divf %a, %s : f32
    linalg.yield %d : f32
  } -> tensor<64x1048576xf32>
  return %2, %4 : tensor<64xf32>, tensor<64x1048576xf32>
}

// -----

// Windows of single channels: the input is padded channel by channel, in a buffer of one channel.
// CHECK-LABEL: func.func @windows(
// CHECK-NOT:     tensor.pad
// CHECK:         scf.forall (%[[C:.*]]) in (96) shared_outs(%[[Y:.*]] =
// CHECK:           %[[X:.*]] = tensor.extract_slice %arg0[0, %[[C]], 0, 0] [1, 1, 56, 56]
// CHECK:           %[[P:.*]] = tensor.pad %[[X]] low[0, 0, 1, 1] high[0, 0, 1, 1]
// CHECK:           : tensor<1x1x56x56xf32> to tensor<1x1x58x58xf32>
// CHECK:           linalg.generic {{.*}} ins(%[[P]], {{.*}} outs(%{{.*}} : tensor<1x1x56x56xf32>)
#data = affine_map<(n, y, x, c, i, j) -> (n, c, y + i, x + j)>
#weights = affine_map<(n, y, x, c, i, j) -> (c, i, j)>
#out = affine_map<(n, y, x, c, i, j) -> (n, c, y, x)>
func.func @windows(%x: tensor<1x96x56x56xf32>, %w: tensor<96x3x3xf32>) -> tensor<1x96x56x56xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x96x56x56xf32> to tensor<1x96x58x58xf32>
  %e = tensor.empty() : tensor<1x96x56x56xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<1x96x56x56xf32>) -> tensor<1x96x56x56xf32>
  %1 = linalg.generic {indexing_maps = [#data, #weights, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%p, %w : tensor<1x96x58x58xf32>, tensor<96x3x3xf32>) outs(%0 : tensor<1x96x56x56xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x96x56x56xf32>
  return %1 : tensor<1x96x56x56xf32>
}

// -----

// Of images of unknown size, too, where the channels are enough for threads to share.
// CHECK-LABEL: func.func @windows_of_unknown_sizes(
// CHECK-NOT:     tensor.pad
// CHECK:         scf.forall (%[[N:.*]], %[[C:.*]]) in (%{{.*}}, 96)
// CHECK:           tensor.pad %{{.*}} low[0, 0, 1, 1] high[0, 0, 1, 1]
// CHECK-LABEL: func.func @few_windows_of_unknown_sizes(
// CHECK:         tensor.pad
// CHECK-NOT:     scf.forall
#data = affine_map<(n, y, x, c, i, j) -> (n, c, y + i, x + j)>
#weights = affine_map<(n, y, x, c, i, j) -> (c, i, j)>
#out = affine_map<(n, y, x, c, i, j) -> (n, c, y, x)>
func.func @windows_of_unknown_sizes(%x: tensor<?x96x?x?xf32>, %w: tensor<96x3x3xf32>, %n: index, %h: index, %l: index) -> tensor<?x96x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<?x96x?x?xf32> to tensor<?x96x?x?xf32>
  %e = tensor.empty(%n, %h, %l) : tensor<?x96x?x?xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<?x96x?x?xf32>) -> tensor<?x96x?x?xf32>
  %1 = linalg.generic {indexing_maps = [#data, #weights, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%p, %w : tensor<?x96x?x?xf32>, tensor<96x3x3xf32>) outs(%0 : tensor<?x96x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x96x?x?xf32>
  return %1 : tensor<?x96x?x?xf32>
}
func.func @few_windows_of_unknown_sizes(%x: tensor<?x3x?x?xf32>, %w: tensor<3x3x3xf32>, %n: index, %h: index, %l: index) -> tensor<?x3x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<?x3x?x?xf32> to tensor<?x3x?x?xf32>
  %e = tensor.empty(%n, %h, %l) : tensor<?x3x?x?xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %1 = linalg.generic {indexing_maps = [#data, #weights, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%p, %w : tensor<?x3x?x?xf32>, tensor<3x3x3xf32>) outs(%0 : tensor<?x3x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x3x?x?xf32>
  return %1 : tensor<?x3x?x?xf32>
}

// -----

// Weights that the init function has packed are weights: each block of rows would read all of them again.
// CHECK-LABEL: func.func @packed_weights(
// CHECK-NOT:     scf.forall
// CHECK:         return
ml_program.global private mutable @computed : tensor<4x256x64xf32>
func.func @packed_weights(%x: tensor<128x256xf32>) -> (tensor<128x256xf32>, tensor<128xf32>) {
  %zero = arith.constant 0.0 : f32
  %w = ml_program.global_load @computed : tensor<4x256x64xf32>
  %e = tensor.empty() : tensor<128x256xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 64, k, n mod 64)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<128x256xf32>, tensor<4x256x64xf32>) outs(%0 : tensor<128x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<128x256xf32>
  %r = tensor.empty() : tensor<128xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%r : tensor<128xf32>) -> tensor<128xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<128x256xf32>) outs(%2 : tensor<128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  return %1, %3 : tensor<128x256xf32>, tensor<128xf32>
}

// -----

// The groups of a reduction are read in the rows that the loop computes, without a reshape of the whole in between.
// CHECK-DAG:   #[[GROUPS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2 * 2 + d3)>
// CHECK-LABEL: func.func @grouped(
// CHECK-NOT:     tensor.expand_shape
// CHECK:         scf.forall (%{{.*}}) = (0) to (128) step (64)
// CHECK:           %[[P:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64x64xbf16>)
// CHECK:           linalg.generic {indexing_maps = [#[[GROUPS]], {{.*}} ins(%[[P]], %{{.*}} : tensor<64x64xbf16>, tensor<1x32x32x2xbf16>) outs(%{{.*}} : tensor<64x32xf32>)
// CHECK-NOT:     linalg.generic
func.func @grouped(%x: tensor<128x64xf32>, %v: tensor<1x32x32x2xbf16>) -> tensor<128x32xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<128xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%r : tensor<128xf32>) -> tensor<128xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<128x64xf32>) outs(%0 : tensor<128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %e = tensor.empty() : tensor<128x64xbf16>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%x, %1 : tensor<128x64xf32>, tensor<128xf32>) outs(%e : tensor<128x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %d = arith.divf %a, %b : f32
    %t = arith.truncf %d : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<128x64xbf16>
  %g = tensor.expand_shape %p [[0], [1, 2]] output_shape [128, 32, 2] : tensor<128x64xbf16> into tensor<128x32x2xbf16>
  %f = tensor.empty() : tensor<128x32xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%f : tensor<128x32xf32>) -> tensor<128x32xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(m, n, k, g) -> (m, k, g)>, affine_map<(m, n, k, g) -> (n floordiv 32, k, n mod 32, g)>, affine_map<(m, n, k, g) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%g, %v : tensor<128x32x2xbf16>, tensor<1x32x32x2xbf16>) outs(%2 : tensor<128x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %x0 = arith.extf %a : bf16 to f32
    %x1 = arith.extf %b : bf16 to f32
    %m = arith.mulf %x0, %x1 : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<128x32xf32>
  return %3 : tensor<128x32xf32>
}

// -----

// Two blocks of rows read the same keys: they are copied in the blocks of lanes of a tile first, from where they lie
// before they are transposed, the last block filled up.
// CHECK-DAG:   #[[KEYS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2 floordiv 16, d3, d2 mod 16)>
// CHECK-LABEL: func.func @keys(
// CHECK-SAME:    %[[K:.*]]: tensor<2x100x16xf32>
// CHECK-DAG:     linalg.transpose {{.*}} outs(%{{.*}} : tensor<2x6x16x16xf32>) permutation = [0, 1, 3, 2]
// CHECK-DAG:     } : tensor<2x4x16xf32> to tensor<2x16x16xf32>
// CHECK:         scf.forall
// CHECK:           tensor.extract_slice {{.*}} : tensor<2x7x16x16xf32> to tensor<1x7x16x16xf32>
// CHECK:           linalg.generic {indexing_maps = [#{{.*}}, #[[KEYS]], #{{.*}}]
#a = affine_map<(h, m, n, k) -> (h, m, k)>
#b = affine_map<(h, m, n, k) -> (h, k, n)>
#c = affine_map<(h, m, n, k) -> (h, m, n)>
#p = affine_map<(h, m, n) -> (h, m, n)>
#r = affine_map<(h, m, n) -> (h, m)>
func.func @keys(%k: tensor<2x100x16xf32>, %q: tensor<2x256x16xf32>) -> tensor<2x256x100xf32> {
  %zero = arith.constant 0.0 : f32
  %t0 = tensor.empty() : tensor<2x16x100xf32>
  %t = linalg.transpose ins(%k : tensor<2x100x16xf32>) outs(%t0 : tensor<2x16x100xf32>) permutation = [0, 2, 1]
  %s0 = tensor.empty() : tensor<2x256x100xf32>
  %s1 = linalg.fill ins(%zero : f32) outs(%s0 : tensor<2x256x100xf32>) -> tensor<2x256x100xf32>
  %s = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %t : tensor<2x256x16xf32>, tensor<2x16x100xf32>) outs(%s1 : tensor<2x256x100xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %z, %m : f32
    linalg.yield %n : f32
  } -> tensor<2x256x100xf32>
  %d0 = tensor.empty() : tensor<2x256xf32>
  %d1 = linalg.fill ins(%zero : f32) outs(%d0 : tensor<2x256xf32>) -> tensor<2x256xf32>
  %d = linalg.generic {indexing_maps = [#p, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x256x100xf32>) outs(%d1 : tensor<2x256xf32>) {
  ^bb0(%x: f32, %z: f32):
    %n = arith.addf %z, %x : f32
    linalg.yield %n : f32
  } -> tensor<2x256xf32>
  %o = linalg.generic {indexing_maps = [#p, #r, #p], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %d : tensor<2x256x100xf32>, tensor<2x256xf32>) outs(%s0 : tensor<2x256x100xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %n = arith.divf %x, %y : f32
    linalg.yield %n : f32
  } -> tensor<2x256x100xf32>
  return %o : tensor<2x256x100xf32>
}

// -----

// Of eight heads, which threads share, each iteration copies the keys of its own head. (strata-emit-kernels makes that
// the first one of a head.)
// CHECK-DAG:   #[[BLOCKS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2 floordiv 16, d3, d2 mod 16)>
// CHECK-LABEL: func.func @keys_of_a_head(
// CHECK-SAME:    %[[K:.*]]: tensor<8x96x16xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         scf.forall (%[[H:.*]], %{{.*}}) =
// CHECK:           %[[HEAD:.*]] = tensor.extract_slice %[[K]][%[[H]], 0, 0] [1, 96, 16] [1, 1, 1]
// CHECK:           %[[CUT:.*]] = tensor.expand_shape %[[HEAD]] {{.*}} into tensor<1x6x16x16xf32>
// CHECK:           linalg.transpose ins(%[[CUT]] {{.*}} permutation = [0, 1, 3, 2]
// CHECK:           linalg.generic {indexing_maps = [#{{.*}}, #[[BLOCKS]], #{{.*}}]
//
// Of unknown length they are transposed; the place for it has its size from in front of the loop.
// CHECK-LABEL: func.func @many_keys_of_a_head(
// CHECK-SAME:    %[[K:.*]]: tensor<8x?x16xf32>
// CHECK:         %[[N:.*]] = tensor.dim %[[K]], %c1
// CHECK:         scf.forall
// CHECK:           %[[HEAD:.*]] = tensor.extract_slice %[[K]]
// CHECK:           %[[PLACE:.*]] = tensor.empty(%[[N]]) : tensor<1x16x?xf32>
// CHECK:           linalg.transpose ins(%[[HEAD]] {{.*}} outs(%[[PLACE]]
#a = affine_map<(h, m, n, k) -> (h, m, k)>
#b = affine_map<(h, m, n, k) -> (h, k, n)>
#c = affine_map<(h, m, n, k) -> (h, m, n)>
#p = affine_map<(h, m, n) -> (h, m, n)>
#r = affine_map<(h, m, n) -> (h, m)>
func.func @keys_of_a_head(%k: tensor<8x96x16xf32>, %q: tensor<8x256x16xf32>) -> tensor<8x256x96xf32> {
  %zero = arith.constant 0.0 : f32
  %t0 = tensor.empty() : tensor<8x16x96xf32>
  %s0 = tensor.empty() : tensor<8x256x96xf32>
  %t = linalg.transpose ins(%k : tensor<8x96x16xf32>) outs(%t0 : tensor<8x16x96xf32>) permutation = [0, 2, 1]
  %s1 = linalg.fill ins(%zero : f32) outs(%s0 : tensor<8x256x96xf32>) -> tensor<8x256x96xf32>
  %s = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %t : tensor<8x256x16xf32>, tensor<8x16x96xf32>) outs(%s1 : tensor<8x256x96xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %z, %m : f32
    linalg.yield %n : f32
  } -> tensor<8x256x96xf32>
  %d0 = tensor.empty() : tensor<8x256xf32>
  %d1 = linalg.fill ins(%zero : f32) outs(%d0 : tensor<8x256xf32>) -> tensor<8x256xf32>
  %d = linalg.generic {indexing_maps = [#p, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<8x256x96xf32>) outs(%d1 : tensor<8x256xf32>) {
  ^bb0(%x: f32, %z: f32):
    %n = arith.addf %z, %x : f32
    linalg.yield %n : f32
  } -> tensor<8x256xf32>
  %o = linalg.generic {indexing_maps = [#p, #r, #p], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %d : tensor<8x256x96xf32>, tensor<8x256xf32>) outs(%s0 : tensor<8x256x96xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %n = arith.divf %x, %y : f32
    linalg.yield %n : f32
  } -> tensor<8x256x96xf32>
  return %o : tensor<8x256x96xf32>
}
func.func @many_keys_of_a_head(%k: tensor<8x?x16xf32>, %q: tensor<8x256x16xf32>) -> tensor<8x256x?xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %size = tensor.dim %k, %one : tensor<8x?x16xf32>
  %t0 = tensor.empty(%size) : tensor<8x16x?xf32>
  %s0 = tensor.empty(%size) : tensor<8x256x?xf32>
  %t = linalg.transpose ins(%k : tensor<8x?x16xf32>) outs(%t0 : tensor<8x16x?xf32>) permutation = [0, 2, 1]
  %s1 = linalg.fill ins(%zero : f32) outs(%s0 : tensor<8x256x?xf32>) -> tensor<8x256x?xf32>
  %s = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %t : tensor<8x256x16xf32>, tensor<8x16x?xf32>) outs(%s1 : tensor<8x256x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %z, %m : f32
    linalg.yield %n : f32
  } -> tensor<8x256x?xf32>
  %d0 = tensor.empty() : tensor<8x256xf32>
  %d1 = linalg.fill ins(%zero : f32) outs(%d0 : tensor<8x256xf32>) -> tensor<8x256xf32>
  %d = linalg.generic {indexing_maps = [#p, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<8x256x?xf32>) outs(%d1 : tensor<8x256xf32>) {
  ^bb0(%x: f32, %z: f32):
    %n = arith.addf %z, %x : f32
    linalg.yield %n : f32
  } -> tensor<8x256xf32>
  %o = linalg.generic {indexing_maps = [#p, #r, #p], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %d : tensor<8x256x?xf32>, tensor<8x256xf32>) outs(%s0 : tensor<8x256x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %n = arith.divf %x, %y : f32
    linalg.yield %n : f32
  } -> tensor<8x256x?xf32>
  return %o : tensor<8x256x?xf32>
}

// -----

// Rows of an unknown length: as many at once as it has room for, up to 16. What only members read has a place for these.
// CHECK-LABEL: func.func @unknown_length(
// CHECK-SAME:      %[[X:.*]]: tensor<12x?xf32>
// CHECK:         %[[LENGTH:.*]] = tensor.dim %[[X]], %c1
// CHECK:         %[[SOME:.*]] = arith.maxui %[[LENGTH]], %c1
// CHECK:         %[[FIT:.*]] = arith.divui %{{.*}}, %[[SOME]]
// CHECK:         %[[MOST:.*]] = arith.minui %[[FIT]], %c16
// CHECK:         %[[STEP:.*]] = arith.maxui %[[MOST]], %c1
// CHECK:         scf.forall (%[[I:.*]]) = (0) to (12) step (%[[STEP]])
// CHECK:           %[[ROWS:.*]] = affine.min
// CHECK:           tensor.extract_slice %[[X]][%[[I]], 0] [%[[ROWS]], %[[LENGTH]]] [1, 1]
// CHECK:           tensor.empty() : tensor<16xf32>
func.func @unknown_length(%x: tensor<12x?xf32>) -> tensor<12x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<12x?xf32>
  %e = tensor.empty(%n) : tensor<12x?xf32>
  %r = tensor.empty() : tensor<12xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%r : tensor<12xf32>) -> tensor<12xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<12x?xf32>) outs(%0 : tensor<12xf32>) {
  ^bb0(%a: f32, %s: f32):
    %2 = arith.addf %a, %s : f32
    linalg.yield %2 : f32
  } -> tensor<12xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%x, %1 : tensor<12x?xf32>, tensor<12xf32>) outs(%e : tensor<12x?xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %4 = arith.divf %a, %s : f32
    linalg.yield %4 : f32
  } -> tensor<12x?xf32>
  return %3 : tensor<12x?xf32>
}


// -----

// Groups of channels of images of unknown size: the more channels, the fewer pixels they are taken to have. Few groups
// may have long rows, and stay apart.
// CHECK-LABEL: func.func @groups_of_channels(
// CHECK:         scf.forall (%{{.*}}, %{{.*}}) {{.*}}(%{{.*}}, 8)
// CHECK:           linalg.generic {{.*}}"reduction"
// CHECK:           linalg.generic
// CHECK-LABEL: func.func @few_groups_of_channels(
// CHECK-NOT:     scf.forall
#x = affine_map<(n, g, c, h, w) -> (n, g, c, h, w)>
#group = affine_map<(n, g, c, h, w) -> (n, g)>
func.func @groups_of_channels(%x: tensor<?x8x32x?x?xf32>, %n: index, %h: index, %w: index) -> tensor<?x8x32x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty(%n) : tensor<?x8xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%r : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = linalg.generic {indexing_maps = [#x, #group], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x : tensor<?x8x32x?x?xf32>) outs(%0 : tensor<?x8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %2 = arith.addf %a, %s : f32
    linalg.yield %2 : f32
  } -> tensor<?x8xf32>
  %e = tensor.empty(%n, %h, %w) : tensor<?x8x32x?x?xf32>
  %3 = linalg.generic {indexing_maps = [#x, #group, #x], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%x, %1 : tensor<?x8x32x?x?xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8x32x?x?xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %4 = arith.divf %a, %s : f32
    linalg.yield %4 : f32
  } -> tensor<?x8x32x?x?xf32>
  return %3 : tensor<?x8x32x?x?xf32>
}
func.func @few_groups_of_channels(%x: tensor<?x4x32x?x?xf32>, %n: index, %h: index, %w: index) -> tensor<?x4x32x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty(%n) : tensor<?x4xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%r : tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = linalg.generic {indexing_maps = [#x, #group], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x : tensor<?x4x32x?x?xf32>) outs(%0 : tensor<?x4xf32>) {
  ^bb0(%a: f32, %s: f32):
    %2 = arith.addf %a, %s : f32
    linalg.yield %2 : f32
  } -> tensor<?x4xf32>
  %e = tensor.empty(%n, %h, %w) : tensor<?x4x32x?x?xf32>
  %3 = linalg.generic {indexing_maps = [#x, #group, #x], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%x, %1 : tensor<?x4x32x?x?xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4x32x?x?xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %4 = arith.divf %a, %s : f32
    linalg.yield %4 : f32
  } -> tensor<?x4x32x?x?xf32>
  return %3 : tensor<?x4x32x?x?xf32>
}
