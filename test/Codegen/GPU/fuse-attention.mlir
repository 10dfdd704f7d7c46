// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-fuse-attention,strata-fuse-device-rows,canonicalize,cse))' | FileCheck %s

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, d, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#all = affine_map<(b, h, i, j) -> (b, h, i, j)>
#row = affine_map<(b, h, i, j) -> (b, h, i)>
#same = affine_map<(b, h, i) -> (b, h, i)>
#mask = affine_map<(b, h, i, j) -> (i, j)>

// All of it moves into one iteration. K is read, and the result is written, as memory has them; softmax stays with its
// products.
// CHECK-DAG:   #[[Q:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG:   #[[K:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
// CHECK-DAG:   #[[V:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
// CHECK-DAG:   #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d3)>
// CHECK-LABEL: func.func @attention(
// CHECK-SAME:      %[[QS:.*]]: tensor<2x4x?x64xf32>, %[[KS:.*]]: tensor<2x?x4x64xf32>, %[[VS:.*]]: tensor<2x4x?x64xf32>, %[[MASK:[^:]*]]:
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[ALL:.*]] = scf.forall (%[[I:.*]]) in (1) shared_outs(%[[O:.*]] = %{{.*}}) -> (tensor<2x?x4x64xf32>)
// CHECK:           %[[PART:.*]] = tensor.extract_slice %[[O]][%[[I]], 0, 0, 0]
// CHECK:           %[[SCORES:.*]] = linalg.generic {indexing_maps = [#[[Q]], #[[K]], {{.*}} ins(%[[QS]], %[[KS]] : {{.*}}strata.attention = "scores"
// CHECK:           linalg.generic {{.*}} ins(%[[SCORES]], %[[MASK]] : {{.*}}strata.attention = "score"
// CHECK:           strata.attention = "maximum"
// CHECK:           strata.attention = "exponential"
// CHECK:           strata.attention = "sum"
// CHECK:           strata.attention = "inverse"
// CHECK:           %[[WEIGHT:.*]] = linalg.generic {{.*}}strata.attention = "weight"
// CHECK:           linalg.fill {{.*}} outs(%[[PART]] :
// CHECK:           %[[VALUES:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[V]], #[[OUT]]], {{.*}} ins(%[[WEIGHT]], %[[VS]] : {{.*}}strata.attention = "values"
// CHECK:           tensor.parallel_insert_slice %[[VALUES]] into %[[O]][%[[I]], 0, 0, 0]
// CHECK:         } {mapping = [#gpu.block<x>]}
// CHECK-NEXT:    return %[[ALL]]
func.func @attention(%q: tensor<2x4x?x64xf32>, %k: tensor<2x?x4x64xf32>, %v: tensor<2x4x?x64xf32>, %m: tensor<?x?xf32>, %ni: index, %nj: index) -> tensor<2x?x4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %ek = tensor.empty(%nj) : tensor<2x4x64x?xf32>
  %kt = linalg.transpose ins(%k : tensor<2x?x4x64xf32>) outs(%ek : tensor<2x4x64x?xf32>) permutation = [0, 2, 3, 1]
  %es = tensor.empty(%ni, %nj) : tensor<2x4x?x?xf32>
  %er = tensor.empty(%ni) : tensor<2x4x?xf32>
  %ev = tensor.empty(%ni) : tensor<2x4x?x64xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x4x?x?xf32>) -> tensor<2x4x?x?xf32>
  %1 = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %kt : tensor<2x4x?x64xf32>, tensor<2x4x64x?xf32>) outs(%0 : tensor<2x4x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.mulf %a, %b : f32
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> tensor<2x4x?x?xf32>
  %2 = linalg.generic {indexing_maps = [#all, #mask, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %m : tensor<2x4x?x?xf32>, tensor<?x?xf32>) outs(%es : tensor<2x4x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.addf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<2x4x?x?xf32>
  %3 = linalg.fill ins(%lowest : f32) outs(%er : tensor<2x4x?xf32>) -> tensor<2x4x?xf32>
  %4 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%2 : tensor<2x4x?x?xf32>) outs(%3 : tensor<2x4x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x = arith.maximumf %o, %a : f32
    linalg.yield %x : f32
  } -> tensor<2x4x?xf32>
  %5 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %4 : tensor<2x4x?x?xf32>, tensor<2x4x?xf32>) outs(%es : tensor<2x4x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<2x4x?x?xf32>
  %6 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x4x?xf32>) -> tensor<2x4x?xf32>
  %7 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%5 : tensor<2x4x?x?xf32>) outs(%6 : tensor<2x4x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x = arith.addf %o, %a : f32
    linalg.yield %x : f32
  } -> tensor<2x4x?xf32>
  %8 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<2x4x?xf32>) outs(%er : tensor<2x4x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x = arith.divf %one, %a : f32
    linalg.yield %x : f32
  } -> tensor<2x4x?xf32>
  %9 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5, %8 : tensor<2x4x?x?xf32>, tensor<2x4x?xf32>) outs(%es : tensor<2x4x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.mulf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<2x4x?x?xf32>
  %10 = linalg.fill ins(%zero : f32) outs(%ev : tensor<2x4x?x64xf32>) -> tensor<2x4x?x64xf32>
  %11 = linalg.generic {indexing_maps = [#p, #v, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%9, %v : tensor<2x4x?x?xf32>, tensor<2x4x?x64xf32>) outs(%10 : tensor<2x4x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.mulf %a, %b : f32
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> tensor<2x4x?x64xf32>
  %et = tensor.empty(%ni) : tensor<2x?x4x64xf32>
  %12 = linalg.transpose ins(%11 : tensor<2x4x?x64xf32>) outs(%et : tensor<2x?x4x64xf32>) permutation = [0, 2, 1, 3]
  return %12 : tensor<2x?x4x64xf32>
}

// -----

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#v = affine_map<(i, d, j) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// What a maximum of something else is subtracted from is no softmax: rows and products as before.
// CHECK-LABEL: func.func @other(
// CHECK-NOT:     strata.attention
// CHECK:         return
func.func @other(%q: tensor<64x32xf32>, %k: tensor<128x32xf32>, %v: tensor<128x32xf32>, %x: tensor<64x128xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<64x128xf32>
  %er = tensor.empty() : tensor<64xf32>
  %ev = tensor.empty() : tensor<64x32xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%es : tensor<64x128xf32>) -> tensor<64x128xf32>
  %1 = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k : tensor<64x32xf32>, tensor<128x32xf32>) outs(%0 : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %y = arith.addf %o, %m : f32
    linalg.yield %y : f32
  } -> tensor<64x128xf32>
  %2 = linalg.fill ins(%lowest : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %3 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x128xf32>) outs(%2 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %o, %a : f32
    linalg.yield %m : f32
  } -> tensor<64xf32>
  %4 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%1, %3 : tensor<64x128xf32>, tensor<64xf32>) outs(%es : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.subf %a, %b : f32
    %y = math.exp %m : f32
    linalg.yield %y : f32
  } -> tensor<64x128xf32>
  %5 = linalg.fill ins(%zero : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %6 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%4 : tensor<64x128xf32>) outs(%5 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.addf %o, %a : f32
    linalg.yield %m : f32
  } -> tensor<64xf32>
  %7 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%4, %6 : tensor<64x128xf32>, tensor<64xf32>) outs(%es : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.divf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<64x128xf32>
  %8 = linalg.fill ins(%zero : f32) outs(%ev : tensor<64x32xf32>) -> tensor<64x32xf32>
  %9 = linalg.generic {indexing_maps = [#p, #v, #s], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7, %v : tensor<64x128xf32>, tensor<128x32xf32>) outs(%8 : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %y = arith.addf %o, %m : f32
    linalg.yield %y : f32
  } -> tensor<64x32xf32>
  return %9 : tensor<64x32xf32>
}

// -----

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#all = affine_map<(b, h, i, j) -> (b, h, i, j)>
#row = affine_map<(b, h, i, j) -> (b, h, i)>
#once = affine_map<(b, h, g, j, d) -> (b, h, j, d)>
#many = affine_map<(b, h, g, j, d) -> (b, h, g, j, d)>

// Six heads of Q share two of K and V, which are repeated three times: the heads' loop is two, and K and V have the
// outer one.
// CHECK-DAG:   #[[Q:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>
// CHECK-DAG:   #[[K:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>
// CHECK-DAG:   #[[V:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d5, d4)>
// CHECK-LABEL: func.func @repeated(
// CHECK-SAME:      %[[QS:.*]]: tensor<?x6x40x32xf32>, %[[KS:.*]]: tensor<?x2x70x32xf32>, %[[VS:.*]]: tensor<?x2x70x32xf32>
// CHECK-NOT:     linalg.generic
// CHECK:         %[[SPLIT:.*]] = tensor.expand_shape %[[QS]] {{\[\[}}0], [1, 2], [3], [4]]
// CHECK-NOT:     linalg.generic
// CHECK:         %[[ALL:.*]] = scf.forall
// CHECK:           linalg.generic {indexing_maps = [#[[Q]], #[[K]], {{.*}} ins(%[[SPLIT]], %[[KS]] : {{.*}}strata.attention = "scores"
// CHECK:           linalg.generic {indexing_maps = [#{{.*}}, #[[V]], {{.*}} ins(%{{.*}}, %[[VS]] : {{.*}}strata.attention = "values"
// CHECK:         %[[R:.*]] = tensor.collapse_shape %[[ALL]] {{\[\[}}0], [1, 2], [3], [4]] : tensor<?x2x3x40x32xf32> into tensor<?x6x40x32xf32>
// CHECK-NEXT:    return %[[R]]
func.func @repeated(%q: tensor<?x6x40x32xf32>, %k: tensor<?x2x70x32xf32>, %v: tensor<?x2x70x32xf32>, %n: index) -> tensor<?x6x40x32xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %em = tensor.empty(%n) : tensor<?x2x3x70x32xf32>
  %km = linalg.generic {indexing_maps = [#once, #many], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<?x2x70x32xf32>) outs(%em : tensor<?x2x3x70x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x2x3x70x32xf32>
  %kr = tensor.collapse_shape %km [[0], [1, 2], [3], [4]] : tensor<?x2x3x70x32xf32> into tensor<?x6x70x32xf32>
  %vm = linalg.generic {indexing_maps = [#once, #many], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v : tensor<?x2x70x32xf32>) outs(%em : tensor<?x2x3x70x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x2x3x70x32xf32>
  // Batch and heads as one, as PyTorch has them, and apart again.
  %vf = tensor.collapse_shape %vm [[0, 1, 2], [3], [4]] : tensor<?x2x3x70x32xf32> into tensor<?x70x32xf32>
  %vr = tensor.expand_shape %vf [[0, 1], [2], [3]] output_shape [%n, 6, 70, 32] : tensor<?x70x32xf32> into tensor<?x6x70x32xf32>
  %es = tensor.empty(%n) : tensor<?x6x40x70xf32>
  %er = tensor.empty(%n) : tensor<?x6x40xf32>
  %ev = tensor.empty(%n) : tensor<?x6x40x32xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%es : tensor<?x6x40x70xf32>) -> tensor<?x6x40x70xf32>
  %1 = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %kr : tensor<?x6x40x32xf32>, tensor<?x6x70x32xf32>) outs(%0 : tensor<?x6x40x70xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.mulf %a, %b : f32
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> tensor<?x6x40x70xf32>
  %3 = linalg.fill ins(%lowest : f32) outs(%er : tensor<?x6x40xf32>) -> tensor<?x6x40xf32>
  %4 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%1 : tensor<?x6x40x70xf32>) outs(%3 : tensor<?x6x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x = arith.maximumf %o, %a : f32
    linalg.yield %x : f32
  } -> tensor<?x6x40xf32>
  %5 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %4 : tensor<?x6x40x70xf32>, tensor<?x6x40xf32>) outs(%es : tensor<?x6x40x70xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<?x6x40x70xf32>
  %6 = linalg.fill ins(%zero : f32) outs(%er : tensor<?x6x40xf32>) -> tensor<?x6x40xf32>
  %7 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%5 : tensor<?x6x40x70xf32>) outs(%6 : tensor<?x6x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x = arith.addf %o, %a : f32
    linalg.yield %x : f32
  } -> tensor<?x6x40xf32>
  %9 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5, %7 : tensor<?x6x40x70xf32>, tensor<?x6x40xf32>) outs(%es : tensor<?x6x40x70xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.divf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<?x6x40x70xf32>
  %10 = linalg.fill ins(%zero : f32) outs(%ev : tensor<?x6x40x32xf32>) -> tensor<?x6x40x32xf32>
  %11 = linalg.generic {indexing_maps = [#p, #v, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%9, %vr : tensor<?x6x40x70xf32>, tensor<?x6x70x32xf32>) outs(%10 : tensor<?x6x40x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.mulf %a, %b : f32
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> tensor<?x6x40x32xf32>
  return %11 : tensor<?x6x40x32xf32>
}
