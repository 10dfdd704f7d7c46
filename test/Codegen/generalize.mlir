// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-generalize))' | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK-NOT:     linalg.softmax
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK:           arith.maxnumf
// CHECK:           math.exp
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// A copy in another order is a transpose, which stays one.
// CHECK-LABEL: func.func @permute
// CHECK:         linalg.transpose ins(%{{.*}} : tensor<2x3x4xf32>) outs(%{{.*}} : tensor<4x2x3xf32>) permutation = [2, 0, 1]
func.func @permute(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %e = tensor.empty() : tensor<4x2x3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (b, c, a)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x3x4xf32>) outs(%e : tensor<4x2x3xf32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  } -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}

// What adds nothing up starts with the value that its result is filled with.
// CHECK-LABEL: func.func @no_sum
// CHECK:         ^bb0(%[[X:.*]]: f32, %[[W:.*]]: f32, %{{.*}}: f32):
// CHECK:           %[[P:.*]] = arith.mulf %[[X]], %[[W]]
// CHECK:           arith.addf %[[P]], %{{cst.*}} : f32
func.func @no_sum(%x: tensor<3x64xf32>, %w: tensor<64xf32>) -> tensor<64x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x3xf32>) -> tensor<64x3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (b, a)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<3x64xf32>, tensor<64xf32>) outs(%f : tensor<64x3xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x3xf32>
  return %0 : tensor<64x3xf32>
}

// What is read at 0 where its size is one is read at the loop's own place, where that size is the loop's: then it is an
// operand like others.
// CHECK-LABEL: func.func @own_broadcast
// CHECK:         linalg.generic {indexing_maps = [#[[ALL:map[0-9]*]], #[[ALL]], #[[ALL]]]
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<?x1x4xf32>, tensor<?x1x4xf32>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      arith.addf %[[B]], %[[A]] : f32
func.func @own_broadcast(%x: tensor<?x1x4xf32>, %y: tensor<?x1x4xf32>) -> tensor<?x1x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x1x4xf32>
  %m = tensor.dim %y, %c0 : tensor<?x1x4xf32>
  %one = arith.cmpi eq, %n, %c1 : index
  %e = tensor.empty(%n) : tensor<?x1x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y : tensor<?x1x4xf32>) outs(%e : tensor<?x1x4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %a = linalg.index 0 : index
    %b = linalg.index 1 : index
    %c = linalg.index 2 : index
    %at = arith.select %one, %c0, %a : index
    %v = tensor.extract %x[%at, %b, %c] : tensor<?x1x4xf32>
    %s = arith.addf %v, %i : f32
    linalg.yield %s : f32
  } -> tensor<?x1x4xf32>
  return %0 : tensor<?x1x4xf32>
}

// Sizes of which nothing says that they are the same may be one and many; and of a part, or of what is gathered, a loop
// does not read all.
// CHECK-LABEL: func.func @other_broadcasts
// CHECK:         linalg.generic
// CHECK:           %[[AT:.*]] = arith.select
// CHECK:           tensor.extract %{{.*}}[%[[AT]]]
// CHECK:         linalg.generic
// CHECK:           tensor.extract
// CHECK:         linalg.generic
// CHECK:           tensor.extract
// CHECK:           tensor.extract
func.func @other_broadcasts(%x: tensor<?xf32>, %y: tensor<?xf32>, %w: tensor<8xf32>, %ids: tensor<4xindex>) -> (tensor<?xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %one = arith.cmpi eq, %n, %c1 : index
  %e = tensor.empty(%m) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%y : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%i: f32, %o: f32):
    %a = linalg.index 0 : index
    %at = arith.select %one, %c0, %a : index
    %v = tensor.extract %x[%at] : tensor<?xf32>
    %s = arith.addf %v, %i : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %f = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>], iterator_types = ["parallel"]} outs(%f : tensor<4xf32>) {
  ^bb0(%o: f32):
    %a = linalg.index 0 : index
    %v = tensor.extract %w[%a] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>], iterator_types = ["parallel"]} outs(%f : tensor<4xf32>) {
  ^bb0(%o: f32):
    %a = linalg.index 0 : index
    %id = tensor.extract %ids[%a] : tensor<4xindex>
    %v = tensor.extract %w[%id] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<4xf32>, tensor<4xf32>
}

// Behind a check that two sizes are equal they are one: the first, or a constant. What comes before it, and what is asked
// of both together, is as it was.
// CHECK-LABEL: func.func @checked(
// CHECK:         %[[N:.*]] = tensor.dim %arg0
// CHECK:         %[[M:.*]] = tensor.dim %arg1
// CHECK:         tensor.empty(%[[M]])
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[M]], %[[N]]
// CHECK:         cf.assert %[[SAME]]
// CHECK:         tensor.empty(%[[N]])
// CHECK:         arith.cmpi eq, %[[N]], %c4
// CHECK:         cf.assert
// CHECK:         tensor.empty(%c4)
// CHECK:         scf.if
// CHECK:           arith.cmpi eq, %[[L:.*]], %c7
// CHECK:           cf.assert
// CHECK:           tensor.empty(%c7)
// CHECK:         } else {
// CHECK-NEXT:      tensor.empty(%[[L]])
func.func @checked(%x: tensor<?xf32>, %y: tensor<?xf32>, %l: index, %c: i1)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %before = tensor.empty(%m) : tensor<?xf32>
  %same = arith.cmpi eq, %m, %n : index
  cf.assert %same, "sizes differ"
  %behind = tensor.empty(%m) : tensor<?xf32>
  %four = arith.cmpi eq, %m, %c4 : index
  cf.assert %four, "no four"
  %known = tensor.empty(%n) : tensor<?xf32>
  %choice = scf.if %c -> tensor<?xf32> {
    %seven = arith.cmpi eq, %l, %c7 : index
    cf.assert %seven, "no seven"
    %0 = tensor.empty(%l) : tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  } else {
    %0 = tensor.empty(%l) : tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  }
  return %before, %behind, %known, %choice : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// What is resampled to the sizes that it has, as a check says, stays as it is; what may have others is resampled.
// CHECK-LABEL: func.func @resampled(
// CHECK-SAME:      %[[X:.*]]: tensor<?x8xf32>
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[X]]
func.func @resampled(%x: tensor<?x8xf32>, %n: index, %weights: tensor<?x2xf32>, %places: tensor<?x2xindex>) -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %equal = arith.cmpi eq, %m, %n : index
  cf.assert %equal, "another size"
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, c, t) -> (i, t)>, affine_map<(i, c, t) -> (i, t)>, affine_map<(i, c, t) -> (i, c)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%weights, %places : tensor<?x2xf32>, tensor<?x2xindex>) outs(%f : tensor<?x8xf32>) attrs = {strata.resamples} {
  ^bb0(%w: f32, %at: index, %o: f32):
    %c = linalg.index 1 : index
    %v = tensor.extract %x[%at, %c] : tensor<?x8xf32>
    %p = arith.mulf %w, %v : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @resampled_elsewhere(
// CHECK:         linalg.generic
// CHECK:           tensor.extract
func.func @resampled_elsewhere(%x: tensor<?x8xf32>, %n: index, %places: tensor<?xindex>) -> tensor<?x8xf32> {
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, c) -> (i, c)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x8xf32>) attrs = {strata.resamples} {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %c = linalg.index 1 : index
    %at = tensor.extract %places[%i] : tensor<?xindex>
    %v = tensor.extract %x[%at, %c] : tensor<?x8xf32>
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// A slice of one part is read from that part; one across two parts, or behind a part of unknown size, from the whole.
// CHECK-LABEL: func.func @slices_of_parts(
// CHECK-SAME:      %[[A:.*]]: tensor<4x3xf32>, %[[B:.*]]: tensor<4x5xf32>, %[[C:.*]]: tensor<4x?xf32>
// CHECK:         %[[WHOLE:.*]] = tensor.concat
// CHECK-DAG:     tensor.extract_slice %[[B]][1, 1] [2, 2] [1, 3]
// CHECK-DAG:     tensor.extract_slice %[[WHOLE]][0, 2] [4, 2] [1, 1]
// CHECK-DAG:     tensor.extract_slice %[[WHOLE]][0, 9] [4, 1] [1, 1]
// CHECK:         return %[[A]],
func.func @slices_of_parts(%a: tensor<4x3xf32>, %b: tensor<4x5xf32>, %c: tensor<4x?xf32>)
    -> (tensor<4x3xf32>, tensor<2x2xf32>, tensor<4x2xf32>, tensor<4x1xf32>) {
  %0 = tensor.concat dim(1) %a, %b, %c, %a : (tensor<4x3xf32>, tensor<4x5xf32>, tensor<4x?xf32>, tensor<4x3xf32>) -> tensor<4x?xf32>
  %1 = tensor.extract_slice %0[0, 0] [4, 3] [1, 1] : tensor<4x?xf32> to tensor<4x3xf32>
  %2 = tensor.extract_slice %0[1, 4] [2, 2] [1, 3] : tensor<4x?xf32> to tensor<2x2xf32>
  %3 = tensor.extract_slice %0[0, 2] [4, 2] [1, 1] : tensor<4x?xf32> to tensor<4x2xf32>
  %4 = tensor.extract_slice %0[0, 9] [4, 1] [1, 1] : tensor<4x?xf32> to tensor<4x1xf32>
  return %1, %2, %3, %4 : tensor<4x3xf32>, tensor<2x2xf32>, tensor<4x2xf32>, tensor<4x1xf32>
}
