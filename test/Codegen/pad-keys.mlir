// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-fuse-elementwise,strata-pad-keys{bf16-tiles=true},canonicalize,cse))' | FileCheck %s
// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-fuse-elementwise,strata-pad-keys{bf16-tiles=true},strata-defer-division,strata-group-reductions{bf16=true tiles=true},canonicalize,cse))' | FileCheck %s --check-prefix=GROUPS
// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-fuse-elementwise,strata-pad-keys,canonicalize,cse))' | FileCheck %s --check-prefix=NONE

// Without the unit everything stays as it is.
// NONE-NOT: strata.padded_keys

// K and V, rounded, are filled up with zeros to whole blocks of 32 keys; the scores of what is filled up are -inf.
// CHECK-LABEL: func.func @attention(
// CHECK-DAG:     %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : bf16
// CHECK-DAG:     %[[NK:.*]] = tensor.dim %arg1, %c1
// CHECK-DAG:     %[[MORE:.*]] = affine.apply #{{.*}}()[%[[NK]]]
// CHECK-DAG:     %[[Q:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<2x?x16xf32>) outs(%{{.*}} : tensor<2x?x16xbf16>)
// The sum that K is, rounded at once.
// CHECK-DAG:     %[[K:.*]] = linalg.generic {{.*}} ins(%arg1, %arg2 : tensor<2x?x16xf32>, tensor<2x?x16xf32>) outs(%{{.*}} : tensor<2x?x16xbf16>)
// CHECK:         %[[KEYS:.*]] = tensor.pad %[[K]] low[0, 0, 0] high[0, %{{.*}}, 0]
// CHECK:           tensor.yield %[[ZERO]]
// CHECK:         %[[S:.*]] = linalg.generic {{.*}} ins(%[[Q]], %[[KEYS]] : {{.*}} attrs = {strata.padded_keys}
// CHECK:         %[[SEEN:.*]] = linalg.fill
// CHECK:         %[[BOUND:.*]] = tensor.pad %[[SEEN]] low[0] high
// CHECK:           tensor.yield %[[INF]]
// CHECK:         %[[HIDDEN:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[BOUND]] :
// CHECK:         ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-DAG:       %[[SCALED:.*]] = arith.mulf %[[A]], %{{.*}}
// CHECK-DAG:       %[[IS_NONE:.*]] = arith.cmpf olt, %[[B]], %{{.*}}
// CHECK:           %[[CHOSEN:.*]] = arith.select %[[IS_NONE]], %[[B]], %[[SCALED]]
// CHECK:           linalg.yield %[[CHOSEN]]
// CHECK:         %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[HIDDEN]] :
// CHECK:         %[[E:.*]] = linalg.generic {{.*}} ins(%[[HIDDEN]], %[[MAX]] :
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[E]] :
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} ins(%[[E]], %[[SUM]] : {{.*}} outs(%{{.*}} : tensor<2x?x?xbf16>)
// CHECK:         %[[VALUES:.*]] = tensor.pad %{{.*}} low[0, 0, 0] high[0, %{{.*}}, 0]
// CHECK:         linalg.generic {{.*}} ins(%[[W]], %[[VALUES]] : tensor<2x?x?xbf16>, tensor<2x?x16xbf16>) {{.*}} attrs = {strata.padded_keys}

// The loop over the keys is one over blocks, and in each over 16 pairs.
// GROUPS-LABEL: func.func @attention(
// GROUPS:         %[[PAIRS:.*]] = tensor.expand_shape {{.*}} into tensor<2x?x?x16x2xbf16>
// GROUPS:         %[[VALUES:.*]] = tensor.expand_shape {{.*}} into tensor<2x?x16x2x16xbf16>
// GROUPS:         linalg.generic {{.*}}"reduction", "reduction", "reduction"]} ins(%[[PAIRS]], %[[VALUES]] :
#query = affine_map<(b, i, k, d) -> (b, i, d)>
#key = affine_map<(b, i, k, d) -> (b, k, d)>
#score = affine_map<(b, i, k, d) -> (b, i, k)>
#weight = affine_map<(b, i, d, k) -> (b, i, k)>
#value = affine_map<(b, i, d, k) -> (b, k, d)>
#result = affine_map<(b, i, d, k) -> (b, i, d)>
#all = affine_map<(b, i, k) -> (b, i, k)>
#row = affine_map<(b, i, k) -> (b, i)>
func.func @attention(%q: tensor<2x?x16xf32>, %k: tensor<2x?x16xf32>, %v: tensor<2x?x16xf32>) -> tensor<2x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %c1 = arith.constant 1 : index
  %nq = tensor.dim %q, %c1 : tensor<2x?x16xf32>
  %nk = tensor.dim %k, %c1 : tensor<2x?x16xf32>
  %wide = tensor.empty(%nq, %nk) : tensor<2x?x?xf32>
  %narrow = tensor.empty(%nq) : tensor<2x?xf32>
  %out = tensor.empty(%nq) : tensor<2x?x16xf32>
  %place = tensor.empty(%nk) : tensor<2x?x16xf32>
  %made = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%k, %v : tensor<2x?x16xf32>, tensor<2x?x16xf32>) outs(%place : tensor<2x?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.addf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<2x?x16xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%wide : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %product = linalg.generic {indexing_maps = [#query, #key, #score], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %made : tensor<2x?x16xf32>, tensor<2x?x16xf32>) outs(%0 : tensor<2x?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x?x?xf32>
  %scores = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%product : tensor<2x?x?xf32>) outs(%wide : tensor<2x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %h = arith.constant 0.25 : f32
    %s = arith.mulf %a, %h : f32
    linalg.yield %s : f32
  } -> tensor<2x?x?xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%narrow : tensor<2x?xf32>) -> tensor<2x?xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x?x?xf32>) outs(%1 : tensor<2x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<2x?xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x?x?xf32>, tensor<2x?xf32>) outs(%wide : tensor<2x?x?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<2x?x?xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%narrow : tensor<2x?xf32>) -> tensor<2x?xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<2x?x?xf32>) outs(%2 : tensor<2x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<2x?xf32>
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %sum : tensor<2x?x?xf32>, tensor<2x?xf32>) outs(%wide : tensor<2x?x?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %p = arith.divf %a, %m : f32
    linalg.yield %p : f32
  } -> tensor<2x?x?xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%out : tensor<2x?x16xf32>) -> tensor<2x?x16xf32>
  %r = linalg.generic {indexing_maps = [#weight, #value, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : tensor<2x?x?xf32>, tensor<2x?x16xf32>) outs(%3 : tensor<2x?x16xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x?x16xf32>
  return %r : tensor<2x?x16xf32>
}

// So many queries that are known are many, without a scale, too.
// CHECK-LABEL: func.func @known(
// CHECK-COUNT-2: attrs = {strata.padded_keys}
func.func @known(%q: tensor<2x48x16xf32>, %k: tensor<2x?x16xf32>, %v: tensor<2x?x16xf32>) -> tensor<2x48x16xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %c1 = arith.constant 1 : index
  %nk = tensor.dim %k, %c1 : tensor<2x?x16xf32>
  %wide = tensor.empty(%nk) : tensor<2x48x?xf32>
  %narrow = tensor.empty() : tensor<2x48xf32>
  %out = tensor.empty() : tensor<2x48x16xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%wide : tensor<2x48x?xf32>) -> tensor<2x48x?xf32>
  %product = linalg.generic {indexing_maps = [#query, #key, #score], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x48x16xf32>, tensor<2x?x16xf32>) outs(%0 : tensor<2x48x?xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x48x?xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%narrow : tensor<2x48xf32>) -> tensor<2x48xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%product : tensor<2x48x?xf32>) outs(%1 : tensor<2x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<2x48xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%product, %max : tensor<2x48x?xf32>, tensor<2x48xf32>) outs(%wide : tensor<2x48x?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<2x48x?xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%narrow : tensor<2x48xf32>) -> tensor<2x48xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<2x48x?xf32>) outs(%2 : tensor<2x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<2x48xf32>
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %sum : tensor<2x48x?xf32>, tensor<2x48xf32>) outs(%wide : tensor<2x48x?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %p = arith.divf %a, %m : f32
    linalg.yield %p : f32
  } -> tensor<2x48x?xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%out : tensor<2x48x16xf32>) -> tensor<2x48x16xf32>
  %r = linalg.generic {indexing_maps = [#weight, #value, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : tensor<2x48x?xf32>, tensor<2x?x16xf32>) outs(%3 : tensor<2x48x16xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x48x16xf32>
  return %r : tensor<2x48x16xf32>
}

// A known number of keys that are no whole blocks, of which bf16 is read already: fourteen more, and no attribute.
// CHECK-LABEL: func.func @uneven(
// CHECK-NOT:     strata.padded_keys
// CHECK:         %[[KEYS:.*]] = tensor.pad %arg1 low[0, 0, 0] high[0, 14, 0]
// CHECK:         } : tensor<2x50x16xbf16> to tensor<2x64x16xbf16>
// CHECK:         %[[S:.*]] = linalg.generic {{.*}} ins(%arg0, %[[KEYS]] : {{.*}} outs(%{{.*}} : tensor<2x48x64xf32>)
// CHECK:         %[[BOUND:.*]] = tensor.pad %{{.*}} low[0] high[14]
// CHECK:         } : tensor<50xf32> to tensor<64xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[S]], %[[BOUND]] :
// CHECK:         %[[VALUES:.*]] = tensor.pad %arg2 low[0, 0, 0] high[0, 14, 0]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[VALUES]] : tensor<2x48x64xbf16>, tensor<2x64x16xbf16>)
// CHECK-NOT:     strata.padded_keys
// CHECK:         return
func.func @uneven(%q: tensor<2x48x16xbf16>, %k: tensor<2x50x16xbf16>, %v: tensor<2x50x16xbf16>) -> tensor<2x48x16xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %wide = tensor.empty() : tensor<2x48x50xf32>
  %half = tensor.empty() : tensor<2x48x50xbf16>
  %narrow = tensor.empty() : tensor<2x48xf32>
  %out = tensor.empty() : tensor<2x48x16xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%wide : tensor<2x48x50xf32>) -> tensor<2x48x50xf32>
  %product = linalg.generic {indexing_maps = [#query, #key, #score], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x48x16xbf16>, tensor<2x50x16xbf16>) outs(%0 : tensor<2x48x50xf32>) {
  ^bb0(%a: bf16, %c: bf16, %o: f32):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %c : bf16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x48x50xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%narrow : tensor<2x48xf32>) -> tensor<2x48xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%product : tensor<2x48x50xf32>) outs(%1 : tensor<2x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<2x48xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%product, %max : tensor<2x48x50xf32>, tensor<2x48xf32>) outs(%wide : tensor<2x48x50xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<2x48x50xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%narrow : tensor<2x48xf32>) -> tensor<2x48xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<2x48x50xf32>) outs(%2 : tensor<2x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<2x48xf32>
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %sum : tensor<2x48x50xf32>, tensor<2x48xf32>) outs(%half : tensor<2x48x50xbf16>) {
  ^bb0(%a: f32, %m: f32, %o: bf16):
    %p = arith.divf %a, %m : f32
    %r = arith.truncf %p : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x48x50xbf16>
  %3 = linalg.fill ins(%zero : f32) outs(%out : tensor<2x48x16xf32>) -> tensor<2x48x16xf32>
  %r = linalg.generic {indexing_maps = [#weight, #value, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : tensor<2x48x50xbf16>, tensor<2x50x16xbf16>) outs(%3 : tensor<2x48x16xf32>) {
  ^bb0(%a: bf16, %c: bf16, %o: f32):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %c : bf16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x48x16xf32>
  return %r : tensor<2x48x16xf32>
}

// For few queries the copies would take longer than the products.
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     strata.padded_keys
// CHECK:         return
func.func @few(%q: tensor<2x47x16xf32>, %k: tensor<2x?x16xf32>, %v: tensor<2x?x16xf32>) -> tensor<2x47x16xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %c1 = arith.constant 1 : index
  %nk = tensor.dim %k, %c1 : tensor<2x?x16xf32>
  %wide = tensor.empty(%nk) : tensor<2x47x?xf32>
  %narrow = tensor.empty() : tensor<2x47xf32>
  %out = tensor.empty() : tensor<2x47x16xf32>
  %place = tensor.empty(%nk) : tensor<2x?x16xf32>
  %made = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%k, %v : tensor<2x?x16xf32>, tensor<2x?x16xf32>) outs(%place : tensor<2x?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.addf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<2x?x16xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%wide : tensor<2x47x?xf32>) -> tensor<2x47x?xf32>
  %product = linalg.generic {indexing_maps = [#query, #key, #score], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %made : tensor<2x47x16xf32>, tensor<2x?x16xf32>) outs(%0 : tensor<2x47x?xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x47x?xf32>
  %scores = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%product : tensor<2x47x?xf32>) outs(%wide : tensor<2x47x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %h = arith.constant 0.25 : f32
    %s = arith.mulf %a, %h : f32
    linalg.yield %s : f32
  } -> tensor<2x47x?xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%narrow : tensor<2x47xf32>) -> tensor<2x47xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x47x?xf32>) outs(%1 : tensor<2x47xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<2x47xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x47x?xf32>, tensor<2x47xf32>) outs(%wide : tensor<2x47x?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<2x47x?xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%narrow : tensor<2x47xf32>) -> tensor<2x47xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<2x47x?xf32>) outs(%2 : tensor<2x47xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<2x47xf32>
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %sum : tensor<2x47x?xf32>, tensor<2x47xf32>) outs(%wide : tensor<2x47x?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %p = arith.divf %a, %m : f32
    linalg.yield %p : f32
  } -> tensor<2x47x?xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%out : tensor<2x47x16xf32>) -> tensor<2x47x16xf32>
  %r = linalg.generic {indexing_maps = [#weight, #value, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : tensor<2x47x?xf32>, tensor<2x?x16xf32>) outs(%3 : tensor<2x47x16xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x47x16xf32>
  return %r : tensor<2x47x16xf32>
}

// What is given may be a cache, and an unknown number of queries one.
// CHECK-LABEL: func.func @cache(
// CHECK-NOT:     strata.padded_keys
// CHECK:         return
func.func @cache(%q: tensor<2x?x16xf32>, %k: tensor<2x?x16xf32>, %v: tensor<2x?x16xf32>) -> tensor<2x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %c1 = arith.constant 1 : index
  %nq = tensor.dim %q, %c1 : tensor<2x?x16xf32>
  %nk = tensor.dim %k, %c1 : tensor<2x?x16xf32>
  %wide = tensor.empty(%nq, %nk) : tensor<2x?x?xf32>
  %narrow = tensor.empty(%nq) : tensor<2x?xf32>
  %out = tensor.empty(%nq) : tensor<2x?x16xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%wide : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %product = linalg.generic {indexing_maps = [#query, #key, #score], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x?x16xf32>, tensor<2x?x16xf32>) outs(%0 : tensor<2x?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x?x?xf32>
  %scores = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%product : tensor<2x?x?xf32>) outs(%wide : tensor<2x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %h = arith.constant 0.25 : f32
    %s = arith.mulf %a, %h : f32
    linalg.yield %s : f32
  } -> tensor<2x?x?xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%narrow : tensor<2x?xf32>) -> tensor<2x?xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x?x?xf32>) outs(%1 : tensor<2x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<2x?xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x?x?xf32>, tensor<2x?xf32>) outs(%wide : tensor<2x?x?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<2x?x?xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%narrow : tensor<2x?xf32>) -> tensor<2x?xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<2x?x?xf32>) outs(%2 : tensor<2x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<2x?xf32>
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %sum : tensor<2x?x?xf32>, tensor<2x?xf32>) outs(%wide : tensor<2x?x?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %p = arith.divf %a, %m : f32
    linalg.yield %p : f32
  } -> tensor<2x?x?xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%out : tensor<2x?x16xf32>) -> tensor<2x?x16xf32>
  %r = linalg.generic {indexing_maps = [#weight, #value, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : tensor<2x?x?xf32>, tensor<2x?x16xf32>) outs(%3 : tensor<2x?x16xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x?x16xf32>
  return %r : tensor<2x?x16xf32>
}
