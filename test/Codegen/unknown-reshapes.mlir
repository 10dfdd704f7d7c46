// RUN: strata-opt %s --strata-fuse-elementwise | FileCheck %s

// Behind a reshape that joins two sizes of which only the run knows the numbers, an operation is computed with what made
// them; along the other dimensions it may read something else.
// CHECK-LABEL: func.func @joined(
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<?x?x8xf32>, tensor<8xf32>) outs(%{{.*}} : tensor<?x?x8xf32>)
// CHECK:           math.absf
// CHECK:           arith.addf
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[R]] {{\[\[0, 1\], \[2\]\]}}
// CHECK:         return %[[C]]
func.func @joined(%x: tensor<?x?x8xf32>, %bias: tensor<8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %w = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %e = tensor.empty(%h, %w) : tensor<?x?x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x?x8xf32>) outs(%e : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.absf %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x?x8xf32>
  %2 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %n = tensor.dim %2, %c0 : tensor<?x8xf32>
  %f = tensor.empty(%n) : tensor<?x8xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%2, %bias : tensor<?x8xf32>, tensor<8xf32>) outs(%f : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %4 = arith.addf %a, %b : f32
    linalg.yield %4 : f32
  } -> tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}

// What it reads along the joined dimension is not split.
// CHECK-LABEL: func.func @joined_with_another(
// CHECK:         %[[C:.*]] = tensor.collapse_shape
// CHECK:         linalg.generic {{.*}} ins(%[[C]], %arg1
func.func @joined_with_another(%x: tensor<?x?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %w = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %e = tensor.empty(%h, %w) : tensor<?x?x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x?x8xf32>) outs(%e : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.absf %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x?x8xf32>
  %2 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %n = tensor.dim %2, %c0 : tensor<?x8xf32>
  %f = tensor.empty(%n) : tensor<?x8xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%2, %y : tensor<?x8xf32>, tensor<?x8xf32>) outs(%f : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %4 = arith.addf %a, %b : f32
    linalg.yield %4 : f32
  } -> tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}

// A dimension of a product's result that is split into two of unknown sizes: the product and what follows it have both
// loops, and its data is reshaped instead; the weights are read as before.
// CHECK-LABEL: func.func @split(
// CHECK-SAME:      %[[X:.*]]: tensor<1x?x16xf32>, %[[W:.*]]: tensor<16x8xf32>, %[[BIAS:.*]]: tensor<8xf32>, %[[H:.*]]: index, %[[V:.*]]: index
// CHECK:         %[[LIST:.*]] = tensor.from_elements %{{.*}}, %[[H]], %[[V]], %{{.*}} : tensor<4xindex>
// CHECK:         %[[DATA:.*]] = tensor.reshape %[[X]](%[[LIST]]) : {{.*}} -> tensor<1x?x?x16xf32>
// CHECK:         %[[FILL:.*]] = linalg.fill {{.*}} -> tensor<1x?x?x8xf32>
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} ins(%[[DATA]], %[[W]] : {{.*}} outs(%[[FILL]] :
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[BIAS]] : {{.*}} outs(%{{.*}} : tensor<1x?x?x8xf32>)
// CHECK-NOT:     tensor.reshape
// CHECK:         return %[[R]]
#data = affine_map<(n, i, j, k) -> (n, i, k)>
#weights = affine_map<(n, i, j, k) -> (k, j)>
#sums = affine_map<(n, i, j, k) -> (n, i, j)>
#all = affine_map<(n, i, j) -> (n, i, j)>
#columns = affine_map<(n, i, j) -> (j)>
func.func @split(%x: tensor<1x?x16xf32>, %w: tensor<16x8xf32>, %bias: tensor<8xf32>, %h: index, %v: index) -> tensor<1x?x?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %x, %c1 : tensor<1x?x16xf32>
  %e = tensor.empty(%n) : tensor<1x?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
  %0 = linalg.generic {indexing_maps = [#data, #weights, #sums], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x?x16xf32>, tensor<16x8xf32>) outs(%f : tensor<1x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x?x8xf32>
  %3 = linalg.generic {indexing_maps = [#all, #columns, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %bias : tensor<1x?x8xf32>, tensor<8xf32>) outs(%e : tensor<1x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %4 = arith.addf %a, %b : f32
    linalg.yield %4 : f32
  } -> tensor<1x?x8xf32>
  %sizes = tensor.from_elements %c1, %h, %v, %c8 : tensor<4xindex>
  %5 = tensor.reshape %3(%sizes) : (tensor<1x?x8xf32>, tensor<4xindex>) -> tensor<1x?x?x8xf32>
  return %5 : tensor<1x?x?x8xf32>
}

// Two operands that are read along the dimension would both have to be reshaped, and there is no product behind them.
// CHECK-LABEL: func.func @split_sum(
// CHECK:         %[[S:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<1x?x8xf32>, tensor<1x?x8xf32>)
// CHECK:         tensor.reshape %[[S]]
func.func @split_sum(%x: tensor<1x?x8xf32>, %y: tensor<1x?x8xf32>, %h: index, %v: index) -> tensor<1x?x?x8xf32> {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %x, %c1 : tensor<1x?x8xf32>
  %e = tensor.empty(%n) : tensor<1x?x8xf32>
  %0 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<1x?x8xf32>, tensor<1x?x8xf32>) outs(%e : tensor<1x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<1x?x8xf32>
  %sizes = tensor.from_elements %c1, %h, %v, %c8 : tensor<4xindex>
  %2 = tensor.reshape %0(%sizes) : (tensor<1x?x8xf32>, tensor<4xindex>) -> tensor<1x?x?x8xf32>
  return %2 : tensor<1x?x?x8xf32>
}

// What is computed once in front of a loop is not computed in each of its steps.
// CHECK-LABEL: func.func @split_in_loop(
// CHECK:         linalg.generic
// CHECK:         scf.for
// CHECK-NOT:     linalg.generic
// CHECK:           tensor.reshape
// CHECK:         return
func.func @split_in_loop(%x: tensor<1x?x16xf32>, %w: tensor<16x8xf32>, %h: index, %v: index, %init: tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %x, %c1 : tensor<1x?x16xf32>
  %e = tensor.empty(%n) : tensor<1x?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
  %0 = linalg.generic {indexing_maps = [#data, #weights, #sums], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x?x16xf32>, tensor<16x8xf32>) outs(%f : tensor<1x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x?x8xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %init) -> tensor<1x?x?x8xf32> {
    %sizes = tensor.from_elements %c1, %h, %i, %c8 : tensor<4xindex>
    %3 = tensor.reshape %0(%sizes) : (tensor<1x?x8xf32>, tensor<4xindex>) -> tensor<1x?x?x8xf32>
    scf.yield %3 : tensor<1x?x?x8xf32>
  }
  return %r : tensor<1x?x?x8xf32>
}
