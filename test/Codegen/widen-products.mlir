// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-widen-products{bytes=true}))' | FileCheck %s
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-widen-products{bytes=true byte-pairs=true}))' | FileCheck %s --check-prefix=EXACT
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-widen-products{f16=true}))' | FileCheck %s --check-prefix=HALVES

// The data is extended before the padding, by what makes it; its bytes stay for another reader.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<64x40xi8>) outs(%{{.*}} : tensor<64x40xi16>)
// CHECK:           arith.extsi
// CHECK:         %[[BOTH:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<30x64xi8>, tensor<30x64xi16>)
// CHECK:           %[[BYTE:.*]] = arith.fptoui
// CHECK:           %[[WORD:.*]] = arith.extui %[[BYTE]] : i8 to i16
// CHECK:           linalg.yield %[[BYTE]], %[[WORD]]
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[BOTH]]#1
// CHECK:           tensor.yield %c200_i16
// CHECK:         linalg.generic {{.*}} ins(%[[PADDED]], %[[W]] : tensor<32x64xi16>, tensor<64x40xi16>)
// CHECK-COUNT-2:   arith.extsi %{{.*}} : i16 to i32
// CHECK:         return %{{.*}}, %[[BOTH]]#0
#same = affine_map<(i, j) -> (i, j)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<64x40xi8>) : tensor<64x40xi8>
func.func @main(%f: tensor<30x64xf32>, %c: tensor<32x40xi32>) -> (tensor<32x40xi32>, tensor<30x64xi8>) {
  %w = ml_program.global_load_const @w : tensor<64x40xi8>
  %e = tensor.empty() : tensor<30x64xi8>
  %x = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%f : tensor<30x64xf32>) outs(%e : tensor<30x64xi8>) {
  ^bb0(%a: f32, %o: i8):
    %1 = arith.fptoui %a : f32 to i8
    linalg.yield %1 : i8
  } -> tensor<30x64xi8>
  %zero = arith.constant 200 : i8
  %p = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : i8
  } : tensor<30x64xi8> to tensor<32x64xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %w : tensor<32x64xi8>, tensor<64x40xi8>) outs(%c : tensor<32x40xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %1 = arith.extui %a : i8 to i32
    %2 = arith.extsi %b : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<32x40xi32>
  return %0, %x : tensor<32x40xi32>, tensor<30x64xi8>
}

// -----

// Of few rows, the bytes of the weights are what takes time.
// CHECK-LABEL: func.func @few_rows(
// CHECK-NOT:     i16
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<64x40xi8>) : tensor<64x40xi8>
func.func @few_rows(%x: tensor<4x64xi8>, %c: tensor<4x40xi32>) -> tensor<4x40xi32> {
  %w = ml_program.global_load_const @w : tensor<64x40xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x64xi8>, tensor<64x40xi8>) outs(%c : tensor<4x40xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %1 = arith.extui %a : i8 to i32
    %2 = arith.extsi %b : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<4x40xi32>
  return %0 : tensor<4x40xi32>
}

// -----

// Halves in f32: the weights and, before the padding, the data. What adds to it, and may leave the rounding out, reads
// f32, too; what does not say so reads the halves.
// CHECK-LABEL:  func.func @halves(
// CHECK-NOT:      tensor<64x40xf32>
// HALVES-LABEL: func.func @halves(
// HALVES:         %[[W:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<64x40xf16>) outs(%{{.*}} : tensor<64x40xf32>)
// HALVES:         %[[X:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<30x64xf16>)
// HALVES:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<30x64xf16>) outs(%{{.*}} : tensor<30x64xf32>)
// HALVES:           arith.extf %{{.*}} fastmath<contract>
// HALVES:         %[[PADDED:.*]] = tensor.pad %[[WIDE]]
// HALVES:         linalg.generic {{.*}} ins(%[[PADDED]], %[[W]] : tensor<32x64xf32>, tensor<64x40xf32>)
// HALVES-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// HALVES-NEXT:      arith.mulf %[[A]], %[[B]] : f32
// HALVES:         linalg.generic {{.*}} ins(%[[WIDE]] : tensor<30x64xf32>)
// HALVES-NEXT:    ^bb0(%[[A:.*]]: f32, %{{.*}}: f32):
// HALVES-NEXT:      arith.addf %[[A]], %[[A]] : f32
// HALVES:         linalg.generic {{.*}} ins(%[[X]] : tensor<30x64xf16>)
#same = affine_map<(i, j) -> (i, j)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<64x40xf16>) : tensor<64x40xf16>
func.func @halves(%f: tensor<30x64xf32>, %c: tensor<32x40xf32>) -> (tensor<32x40xf32>, tensor<30x64xf32>, tensor<30x64xf32>) {
  %w = ml_program.global_load_const @w : tensor<64x40xf16>
  %e = tensor.empty() : tensor<30x64xf16>
  %x = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%f : tensor<30x64xf32>) outs(%e : tensor<30x64xf16>) {
  ^bb0(%a: f32, %o: f16):
    %4 = arith.truncf %a fastmath<contract> : f32 to f16
    linalg.yield %4 : f16
  } -> tensor<30x64xf16>
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f16
  } : tensor<30x64xf16> to tensor<32x64xf16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %w : tensor<32x64xf16>, tensor<64x40xf16>) outs(%c : tensor<32x40xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %4 = arith.extf %a fastmath<contract> : f16 to f32
    %5 = arith.extf %b fastmath<contract> : f16 to f32
    %6 = arith.mulf %4, %5 : f32
    %7 = arith.addf %s, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<32x40xf32>
  %1 = tensor.empty() : tensor<30x64xf32>
  %2 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<30x64xf16>) outs(%1 : tensor<30x64xf32>) {
  ^bb0(%a: f16, %o: f32):
    %4 = arith.extf %a fastmath<contract> : f16 to f32
    %5 = arith.addf %4, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<30x64xf32>
  %3 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<30x64xf16>) outs(%1 : tensor<30x64xf32>) {
  ^bb0(%a: f16, %o: f32):
    %4 = arith.extf %a : f16 to f32
    linalg.yield %4 : f32
  } -> tensor<30x64xf32>
  return %0, %2, %3 : tensor<32x40xf32>, tensor<30x64xf32>, tensor<30x64xf32>
}

// -----

// Of one row, the bytes of the weights are what takes time: vectors of them are extended where they are read, the
// numbers of the row before.
// HALVES-LABEL: func.func @one_row(
// HALVES:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x64xf32>, tensor<64x40xf16>)
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<64x40xf16>) : tensor<64x40xf16>
func.func @one_row(%x: tensor<1x64xf16>, %c: tensor<1x40xf32>) -> tensor<1x40xf32> {
  %w = ml_program.global_load_const @w : tensor<64x40xf16>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x64xf16>, tensor<64x40xf16>) outs(%c : tensor<1x40xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %1 = arith.extf %a : f16 to f32
    %2 = arith.extf %b : f16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<1x40xf32>
  return %0 : tensor<1x40xf32>
}

// -----

// The rows of a softmax: their maximum and what is subtracted from it.
// HALVES-LABEL: func.func @rows(
// HALVES:         %[[X:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x64xf16>)
// HALVES:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4x64xf16>) outs(%{{.*}} : tensor<4x64xf32>)
// HALVES:         linalg.generic {{.*}}"reduction"]} ins(%[[WIDE]] : tensor<4x64xf32>)
// HALVES:         linalg.generic {{.*}} ins(%[[WIDE]], %{{.*}} : tensor<4x64xf32>, tensor<4xf32>)
#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @rows(%f: tensor<4x64xf32>, %c: tensor<4xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf16>
  %x = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%f : tensor<4x64xf32>) outs(%e : tensor<4x64xf16>) {
  ^bb0(%a: f32, %o: f16):
    %2 = arith.truncf %a fastmath<contract> : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<4x64xf16>
  %0 = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x64xf16>) outs(%c : tensor<4xf32>) {
  ^bb0(%a: f16, %o: f32):
    %2 = arith.extf %a fastmath<contract> : f16 to f32
    %3 = arith.maximumf %2, %o : f32
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %0 : tensor<4x64xf16>, tensor<4xf32>) outs(%f : tensor<4x64xf32>) {
  ^bb0(%a: f16, %b: f32, %o: f32):
    %2 = arith.extf %a fastmath<contract> : f16 to f32
    %3 = arith.subf %2, %b : f32
    linalg.yield %3 : f32
  } -> tensor<4x64xf32>
  return %1 : tensor<4x64xf32>
}

// -----

// What is extended is so behind the checks of its sizes: whoever reads it may say that they are the checked ones.
// HALVES-LABEL: func.func @checked(
// HALVES:         cf.assert %{{.*}}, "first"
// HALVES:         cf.assert %{{.*}}, "second"
// HALVES:         linalg.generic {{.*}} ins(%arg0 : tensor<?x?xf16>)
// HALVES:         linalg.generic {{.*}}"reduction"]}
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
func.func @checked(%x: tensor<?x?xf16>, %w: tensor<64x40xf16>, %c: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf16>
  %c40 = arith.constant 40 : index
  %1 = arith.cmpi eq, %rows, %c40 : index
  cf.assert %1, "first"
  %c1 = arith.constant 1 : index
  %columns = tensor.dim %x, %c1 : tensor<?x?xf16>
  %c64 = arith.constant 64 : index
  %2 = arith.cmpi eq, %columns, %c64 : index
  cf.assert %2, "second"
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x?xf16>, tensor<64x40xf16>) outs(%c : tensor<40x40xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %3 = arith.extf %a fastmath<contract> : f16 to f32
    %4 = arith.extf %b fastmath<contract> : f16 to f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %s, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}

// -----

// The windows of few filters, too, read the same element several times.
// HALVES-LABEL: func.func @few_filters(
// HALVES:         linalg.generic {{.*}}"reduction"]} ins({{.*}} : tensor<1x10x10x8xf32>, tensor<3x8x3x3xf32>)
#data = affine_map<(n, y, x, f, c, i, j) -> (n, y + i, x + j, c)>
#filters = affine_map<(n, y, x, f, c, i, j) -> (f, c, i, j)>
#result = affine_map<(n, y, x, f, c, i, j) -> (n, y, x, f)>
func.func @few_filters(%x: tensor<1x10x10x8xf16>, %w: tensor<3x8x3x3xf16>, %c: tensor<1x8x8x3xf32>) -> tensor<1x8x8x3xf32> {
  %0 = linalg.generic {indexing_maps = [#data, #filters, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x10x10x8xf16>, tensor<3x8x3x3xf16>) outs(%c : tensor<1x8x8x3xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %1 = arith.extf %a fastmath<contract> : f16 to f32
    %2 = arith.extf %b fastmath<contract> : f16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<1x8x8x3xf32>
  return %0 : tensor<1x8x8x3xf32>
}

// -----

// Rows that a reduction and something else read are f32 also where products stay those of bf16; what a product reads,
// too, stays as it is.
// HALVES-LABEL: func.func @rows_of_bf16(
// HALVES:         %[[X:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<40x64xbf16>, tensor<40x64xbf16>)
// HALVES:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[X]]#0 : tensor<40x64xbf16>) outs(%{{.*}} : tensor<40x64xf32>)
// HALVES:         linalg.generic {{.*}}"reduction"]} ins(%[[WIDE]] : tensor<40x64xf32>)
// HALVES:         linalg.generic {{.*}} ins(%[[WIDE]], %{{.*}} : tensor<40x64xf32>, tensor<40xf32>)
// HALVES:         linalg.generic {{.*}}"reduction"]} ins(%[[X]]#1 : tensor<40x64xbf16>)
// HALVES:         linalg.generic {{.*}} ins(%[[X]]#1, %{{.*}} : tensor<40x64xbf16>, tensor<64x40xbf16>)
#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
func.func @rows_of_bf16(%f: tensor<40x64xf32>, %w: tensor<64x40xbf16>, %s: tensor<40xf32>, %c: tensor<40x40xf32>)
    -> (tensor<40x64xf32>, tensor<40xf32>, tensor<40x40xf32>) {
  %e = tensor.empty() : tensor<40x64xbf16>
  %x:2 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%f : tensor<40x64xf32>) outs(%e, %e : tensor<40x64xbf16>, tensor<40x64xbf16>) {
  ^bb0(%a: f32, %o: bf16, %p: bf16):
    %4 = arith.truncf %a fastmath<contract> : f32 to bf16
    %5 = arith.negf %a : f32
    %6 = arith.truncf %5 fastmath<contract> : f32 to bf16
    linalg.yield %4, %6 : bf16, bf16
  } -> (tensor<40x64xbf16>, tensor<40x64xbf16>)
  %0 = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x#0 : tensor<40x64xbf16>) outs(%s : tensor<40xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %4 = arith.extf %a fastmath<contract> : bf16 to f32
    %5 = arith.addf %o, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<40xf32>
  %1 = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x#0, %0 : tensor<40x64xbf16>, tensor<40xf32>) outs(%f : tensor<40x64xf32>) {
  ^bb0(%a: bf16, %b: f32, %o: f32):
    %4 = arith.extf %a fastmath<contract> : bf16 to f32
    %5 = arith.subf %4, %b : f32
    linalg.yield %5 : f32
  } -> tensor<40x64xf32>
  %2 = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x#1 : tensor<40x64xbf16>) outs(%s : tensor<40xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %4 = arith.extf %a fastmath<contract> : bf16 to f32
    %5 = arith.addf %o, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<40xf32>
  %3 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x#1, %w : tensor<40x64xbf16>, tensor<64x40xbf16>) outs(%c : tensor<40x40xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %4 = arith.extf %a fastmath<contract> : bf16 to f32
    %5 = arith.extf %b fastmath<contract> : bf16 to f32
    %6 = arith.mulf %4, %5 : f32
    %7 = arith.addf %o, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<40x40xf32>
  return %1, %2, %3 : tensor<40x64xf32>, tensor<40xf32>, tensor<40x40xf32>
}

// -----

// Two products of unsigned bytes and of weights up to 64 fit 16 bits, of weights up to 65 they do not; of two signed
// bytes there is no such product.
// EXACT-LABEL: func.func @exact(
// EXACT:         linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<40x4xi8>, tensor<4x2xi8>) {{.*}}strata.exact_pairs
// EXACT:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<40x4xi16>, tensor<4x2xi16>)
// EXACT-NOT:       strata.exact_pairs
// EXACT:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<40x4xi16>, tensor<4x2xi16>)
// EXACT-NOT:       strata.exact_pairs
// EXACT:         return
// CHECK-LABEL: func.func @exact(
// CHECK-NOT:     strata.exact_pairs
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
func.func @exact(%x: tensor<40x4xi8>, %c: tensor<40x2xi32>) -> (tensor<40x2xi32>, tensor<40x2xi32>, tensor<40x2xi32>) {
  %w = arith.constant dense<[[-64, 64], [1, 2], [3, 4], [64, -64]]> : tensor<4x2xi8>
  %v = arith.constant dense<[[-64, 65], [1, 2], [3, 4], [64, -64]]> : tensor<4x2xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<40x4xi8>, tensor<4x2xi8>) outs(%c : tensor<40x2xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %3 = arith.extui %a : i8 to i32
    %4 = arith.extsi %b : i8 to i32
    %5 = arith.muli %3, %4 : i32
    %6 = arith.addi %s, %5 : i32
    linalg.yield %6 : i32
  } -> tensor<40x2xi32>
  %1 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<40x4xi8>, tensor<4x2xi8>) outs(%c : tensor<40x2xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %3 = arith.extui %a : i8 to i32
    %4 = arith.extsi %b : i8 to i32
    %5 = arith.muli %3, %4 : i32
    %6 = arith.addi %s, %5 : i32
    linalg.yield %6 : i32
  } -> tensor<40x2xi32>
  %2 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<40x4xi8>, tensor<4x2xi8>) outs(%c : tensor<40x2xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %3 = arith.extsi %a : i8 to i32
    %4 = arith.extsi %b : i8 to i32
    %5 = arith.muli %3, %4 : i32
    %6 = arith.addi %s, %5 : i32
    linalg.yield %6 : i32
  } -> tensor<40x2xi32>
  return %0, %1, %2 : tensor<40x2xi32>, tensor<40x2xi32>, tensor<40x2xi32>
}
