// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-fuse-elementwise,strata-defer-division,canonicalize,cse))' | FileCheck %s

// The product takes the exponentials; its results are multiplied by the inverse of the sum, and what comes behind it is
// computed with that.
// CHECK-LABEL: func.func @inverse(
// CHECK:         %[[E:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x32x48xf32>, tensor<2x32xf32>)
// CHECK:           math.exp
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[E]] :
// CHECK:         %[[INVERSE:.*]] = linalg.generic {{.*}} ins(%[[SUM]] :
// CHECK:           arith.divf
// CHECK:         %[[P:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[E]], %arg2 :
// CHECK:         linalg.generic {{.*}} ins(%[[P]], %[[INVERSE]], %arg3 :
// CHECK-DAG:       arith.mulf
// CHECK-DAG:       arith.addf
// CHECK-NOT:     linalg.generic
#query = affine_map<(b, i, k, d) -> (b, i, d)>
#key = affine_map<(b, i, k, d) -> (b, k, d)>
#score = affine_map<(b, i, k, d) -> (b, i, k)>
#weight = affine_map<(b, i, d, k) -> (b, i, k)>
#value = affine_map<(b, i, d, k) -> (b, k, d)>
#result = affine_map<(b, i, d, k) -> (b, i, d)>
#all = affine_map<(b, i, k) -> (b, i, k)>
#row = affine_map<(b, i, k) -> (b, i)>
#rows = affine_map<(b, i) -> (b, i)>
func.func @inverse(%q: tensor<2x32x16xf32>, %k: tensor<2x48x16xf32>, %v: tensor<2x48x16xf32>, %r: tensor<2x32x16xf32>) -> tensor<2x32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %wide = tensor.empty() : tensor<2x32x48xf32>
  %narrow = tensor.empty() : tensor<2x32xf32>
  %out = tensor.empty() : tensor<2x32x16xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%wide : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
  %scores = linalg.generic {indexing_maps = [#query, #key, #score], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x32x16xf32>, tensor<2x48x16xf32>) outs(%0 : tensor<2x32x48xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x32x48xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%narrow : tensor<2x32xf32>) -> tensor<2x32xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x32x48xf32>) outs(%1 : tensor<2x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.cmpf ogt, %a, %o : f32
    %m = arith.select %c, %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<2x32xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%wide : tensor<2x32x48xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<2x32x48xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%narrow : tensor<2x32xf32>) -> tensor<2x32xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<2x32x48xf32>) outs(%2 : tensor<2x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<2x32xf32>
  %inverse = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<2x32xf32>) outs(%narrow : tensor<2x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = arith.divf %one, %a : f32
    linalg.yield %i : f32
  } -> tensor<2x32xf32>
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %inverse : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%wide : tensor<2x32x48xf32>) {
  ^bb0(%a: f32, %i: f32, %o: f32):
    %p = arith.mulf %a, %i : f32
    linalg.yield %p : f32
  } -> tensor<2x32x48xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%out : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
  %y = linalg.generic {indexing_maps = [#weight, #value, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : tensor<2x32x48xf32>, tensor<2x48x16xf32>) outs(%3 : tensor<2x32x16xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x32x16xf32>
  %z = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %r : tensor<2x32x16xf32>, tensor<2x32x16xf32>) outs(%out : tensor<2x32x16xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<2x32x16xf32>
  return %z : tensor<2x32x16xf32>
}

// -----

// Weights that are rounded: the exponentials are, as the product's operand was. Of weights that are no numbers zeros
// are made, row by row, by what the weight of the largest score is.
// CHECK-LABEL: func.func @guarded(
// CHECK:         %[[E:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x48xbf16>)
// CHECK:           math.exp
// CHECK:           arith.truncf {{.*}} fastmath<afn>
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[E]] : tensor<?x48xbf16>)
// CHECK:           arith.extf
// CHECK:           arith.addf
// CHECK:         %[[FACTOR:.*]] = linalg.generic {{.*}} ins(%[[SUM]], %{{.*}} : tensor<?xf32>, tensor<?xf32>)
// CHECK:           math.exp
// CHECK:           %[[NONE:.*]] = arith.cmpf uno
// CHECK:           arith.select %[[NONE]], %{{.*}}, %in : f32
// CHECK:         %[[P:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[E]], %arg2 : tensor<?x48xbf16>, tensor<48x16xbf16>)
// CHECK:         linalg.generic {{.*}} ins(%[[P]], %[[FACTOR]] : tensor<?x16xf32>, tensor<?xf32>)
// CHECK:           %[[Q:.*]] = arith.divf
// CHECK:           %[[NO:.*]] = arith.cmpf uno
// CHECK:           arith.select %[[NO]], %{{.*}}, %[[Q]] : f32
#query1 = affine_map<(i, k, d) -> (i, d)>
#key1 = affine_map<(i, k, d) -> (k, d)>
#score1 = affine_map<(i, k, d) -> (i, k)>
#weight1 = affine_map<(i, d, k) -> (i, k)>
#value1 = affine_map<(i, d, k) -> (k, d)>
#result1 = affine_map<(i, d, k) -> (i, d)>
#all1 = affine_map<(i, k) -> (i, k)>
#row1 = affine_map<(i, k) -> (i)>
func.func @guarded(%q: tensor<?x16xbf16>, %k: tensor<48x16xbf16>, %v: tensor<48x16xbf16>) -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x16xbf16>
  %wide = tensor.empty(%n) : tensor<?x48xf32>
  %rounded = tensor.empty(%n) : tensor<?x48xbf16>
  %narrow = tensor.empty(%n) : tensor<?xf32>
  %out = tensor.empty(%n) : tensor<?x16xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%wide : tensor<?x48xf32>) -> tensor<?x48xf32>
  %scores = linalg.generic {indexing_maps = [#query1, #key1, #score1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k : tensor<?x16xbf16>, tensor<48x16xbf16>) outs(%0 : tensor<?x48xf32>) {
  ^bb0(%a: bf16, %c: bf16, %o: f32):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %c : bf16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x48xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%narrow : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.generic {indexing_maps = [#all1, #row1], iterator_types = ["parallel", "reduction"]} ins(%scores : tensor<?x48xf32>) outs(%1 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<?xf32>
  %e = linalg.generic {indexing_maps = [#all1, #row1, #all1], iterator_types = ["parallel", "parallel"]} ins(%scores, %max : tensor<?x48xf32>, tensor<?xf32>) outs(%wide : tensor<?x48xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<?x48xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%narrow : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#all1, #row1], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<?x48xf32>) outs(%2 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %w = linalg.generic {indexing_maps = [#all1, #row1, #all1], iterator_types = ["parallel", "parallel"]} ins(%e, %sum : tensor<?x48xf32>, tensor<?xf32>) outs(%rounded : tensor<?x48xbf16>) {
  ^bb0(%a: f32, %i: f32, %o: bf16):
    %p = arith.divf %a, %i : f32
    %none = arith.cmpf uno, %p, %p : f32
    %g = arith.select %none, %zero, %p : f32
    %t = arith.truncf %g fastmath<afn> : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x48xbf16>
  %3 = linalg.fill ins(%zero : f32) outs(%out : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.generic {indexing_maps = [#weight1, #value1, #result1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w, %v : tensor<?x48xbf16>, tensor<48x16xbf16>) outs(%3 : tensor<?x16xf32>) {
  ^bb0(%a: bf16, %c: bf16, %o: f32):
    %x = arith.extf %a : bf16 to f32
    %z = arith.extf %c : bf16 to f32
    %p = arith.mulf %x, %z : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// Scores of f16: the largest one is a number of theirs.
// CHECK-LABEL: func.func @guarded_halves(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[MAX:.*]] : tensor<?xf32>, tensor<?xf32>)
// CHECK-NEXT:    ^bb0(%{{.*}}: f32, %[[M:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[H:.*]] = arith.truncf %[[M]] : f32 to f16
// CHECK-NEXT:      %[[W:.*]] = arith.extf %[[H]] : f16 to f32
// CHECK-NEXT:      arith.subf %[[W]], %[[M]]
#query2 = affine_map<(i, k, d) -> (i, d)>
#key2 = affine_map<(i, k, d) -> (k, d)>
#score2 = affine_map<(i, k, d) -> (i, k)>
#weight2 = affine_map<(i, d, k) -> (i, k)>
#value2 = affine_map<(i, d, k) -> (k, d)>
#result2 = affine_map<(i, d, k) -> (i, d)>
#all2 = affine_map<(i, k) -> (i, k)>
#row2 = affine_map<(i, k) -> (i)>
func.func @guarded_halves(%q: tensor<?x16xbf16>, %k: tensor<48x16xbf16>, %v: tensor<48x16xbf16>) -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x16xbf16>
  %wide = tensor.empty(%n) : tensor<?x48xf32>
  %rounded = tensor.empty(%n) : tensor<?x48xbf16>
  %narrow = tensor.empty(%n) : tensor<?xf32>
  %out = tensor.empty(%n) : tensor<?x16xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%wide : tensor<?x48xf32>) -> tensor<?x48xf32>
  %scores = linalg.generic {indexing_maps = [#query2, #key2, #score2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k : tensor<?x16xbf16>, tensor<48x16xbf16>) outs(%0 : tensor<?x48xf32>) {
  ^bb0(%a: bf16, %c: bf16, %o: f32):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %c : bf16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x48xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%narrow : tensor<?xf32>) -> tensor<?xf32>
  %half = tensor.empty(%n) : tensor<?x48xf16>
  %given = linalg.generic {indexing_maps = [#all2, #all2], iterator_types = ["parallel", "parallel"]} ins(%scores : tensor<?x48xf32>) outs(%half : tensor<?x48xf16>) {
  ^bb0(%a: f32, %o: f16):
    %t = arith.truncf %a : f32 to f16
    linalg.yield %t : f16
  } -> tensor<?x48xf16>
  %max = linalg.generic {indexing_maps = [#all2, #row2], iterator_types = ["parallel", "reduction"]} ins(%given : tensor<?x48xf16>) outs(%1 : tensor<?xf32>) {
  ^bb0(%h: f16, %o: f32):
    %a = arith.extf %h : f16 to f32
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<?xf32>
  %e = linalg.generic {indexing_maps = [#all2, #row2, #all2], iterator_types = ["parallel", "parallel"]} ins(%given, %max : tensor<?x48xf16>, tensor<?xf32>) outs(%wide : tensor<?x48xf32>) {
  ^bb0(%h: f16, %m: f32, %o: f32):
    %a = arith.extf %h : f16 to f32
    %d = arith.subf %a, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<?x48xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%narrow : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#all2, #row2], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<?x48xf32>) outs(%2 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %w = linalg.generic {indexing_maps = [#all2, #row2, #all2], iterator_types = ["parallel", "parallel"]} ins(%e, %sum : tensor<?x48xf32>, tensor<?xf32>) outs(%rounded : tensor<?x48xbf16>) {
  ^bb0(%a: f32, %i: f32, %o: bf16):
    %p = arith.divf %a, %i : f32
    %none = arith.cmpf uno, %p, %p : f32
    %g = arith.select %none, %zero, %p : f32
    %t = arith.truncf %g fastmath<afn> : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x48xbf16>
  %3 = linalg.fill ins(%zero : f32) outs(%out : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.generic {indexing_maps = [#weight2, #value2, #result2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w, %v : tensor<?x48xbf16>, tensor<48x16xbf16>) outs(%3 : tensor<?x16xf32>) {
  ^bb0(%a: bf16, %c: bf16, %o: f32):
    %x = arith.extf %a : bf16 to f32
    %z = arith.extf %c : bf16 to f32
    %p = arith.mulf %x, %z : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
