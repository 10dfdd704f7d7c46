// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-read-gathered))' | FileCheck %s

// Two experts for each of three tokens: the sums of each are zeroed where they are added up.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[W:.*]]: tensor<8x2048x64xf32>, %[[IDS:.*]]: tensor<3x2xi64>, %[[X:.*]]: tensor<3x64xf32>
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<3x2x2048xf32>
// CHECK-NOT:     linalg
// CHECK:         %[[ALL:.*]] = scf.for %[[T:.*]] = %c0{{.*}} to %c3{{.*}} iter_args(%[[S:.*]] = %[[E]])
// CHECK:           scf.for %[[I:.*]] = %c0{{.*}} to %c2{{.*}} iter_args(%[[SUMS:.*]] = %[[S]])
// CHECK:             %[[ID:.*]] = tensor.extract %[[IDS]][%[[T]], %[[I]]]
// CHECK:             %[[AT:.*]] = arith.index_cast %[[ID]]
// CHECK:             %[[ROW:.*]] = tensor.extract_slice %[[X]][%[[T]], 0] [1, 64] [1, 1]
// CHECK:             %[[MATRIX:.*]] = tensor.extract_slice %[[W]][%[[AT]], 0, 0] [1, 2048, 64] [1, 1, 1] : tensor<8x2048x64xf32> to tensor<2048x64xf32>
// CHECK:             %[[PLACE:.*]] = tensor.extract_slice %[[SUMS]][%[[T]], %[[I]], 0] [1, 1, 2048] [1, 1, 1]
// CHECK:             %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[PLACE]]
// CHECK:             %[[P:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[ROW]], %[[MATRIX]] : tensor<64xf32>, tensor<2048x64xf32>) outs(%[[ZEROS]]
// CHECK:             %[[NEXT:.*]] = tensor.insert_slice %[[P]] into %[[SUMS]][%[[T]], %[[I]], 0]
// CHECK:             scf.yield %[[NEXT]]
// CHECK:         return %[[ALL]]
#out = affine_map<(t, i, n, k) -> (t, i, n)>
#x = affine_map<(t, i, n, k) -> (t, k)>
#g = affine_map<(t, i, n, k) -> (t, i, n, k)>
func.func @main(%w: tensor<8x2048x64xf32>, %ids: tensor<3x2xi64>, %x: tensor<3x64xf32>) -> tensor<3x2x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x2x2048x64xf32>
  %gathered = linalg.generic {indexing_maps = [#g], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<3x2x2048x64xf32>) {
  ^bb0(%o: f32):
    %t = linalg.index 0 : index
    %i = linalg.index 1 : index
    %n = linalg.index 2 : index
    %k = linalg.index 3 : index
    %id = tensor.extract %ids[%t, %i] : tensor<3x2xi64>
    %at = arith.index_cast %id : i64 to index
    %v = tensor.extract %w[%at, %n, %k] : tensor<8x2048x64xf32>
    linalg.yield %v : f32
  } -> tensor<3x2x2048x64xf32>
  %s = tensor.empty() : tensor<3x2x2048xf32>
  %c = linalg.fill ins(%zero : f32) outs(%s : tensor<3x2x2048xf32>) -> tensor<3x2x2048xf32>
  %y = linalg.generic {indexing_maps = [#x, #g, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %gathered : tensor<3x64xf32>, tensor<3x2x2048x64xf32>) outs(%c : tensor<3x2x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<3x2x2048xf32>
  return %y : tensor<3x2x2048xf32>
}

// -----

// Matrices of which others need the copy, too, small ones, and those that are gathered in another order.
// CHECK-LABEL: func.func @stay(
// CHECK-NOT:     scf.for
#out = affine_map<(t, n, k) -> (t, n)>
#x = affine_map<(t, n, k) -> (t, k)>
#g = affine_map<(t, n, k) -> (t, n, k)>
func.func @stay(%w: tensor<8x2048x64xf32>, %few: tensor<8x16x64xf32>, %turned: tensor<8x64x2048xf32>, %ids: tensor<2xindex>, %x: tensor<2x64xf32>,
                %c: tensor<2x2048xf32>, %d: tensor<2x16xf32>)
    -> (tensor<2x2048x64xf32>, tensor<2x2048xf32>, tensor<2x16xf32>, tensor<2x2048xf32>) {
  %e = tensor.empty() : tensor<2x2048x64xf32>
  %copied = linalg.generic {indexing_maps = [#g], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<2x2048x64xf32>) {
  ^bb0(%o: f32):
    %t = linalg.index 0 : index
    %n = linalg.index 1 : index
    %k = linalg.index 2 : index
    %at = tensor.extract %ids[%t] : tensor<2xindex>
    %v = tensor.extract %w[%at, %n, %k] : tensor<8x2048x64xf32>
    linalg.yield %v : f32
  } -> tensor<2x2048x64xf32>
  %y = linalg.generic {indexing_maps = [#x, #g, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %copied : tensor<2x64xf32>, tensor<2x2048x64xf32>) outs(%c : tensor<2x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x2048xf32>
  %e2 = tensor.empty() : tensor<2x16x64xf32>
  %small = linalg.generic {indexing_maps = [#g], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e2 : tensor<2x16x64xf32>) {
  ^bb0(%o: f32):
    %t = linalg.index 0 : index
    %n = linalg.index 1 : index
    %k = linalg.index 2 : index
    %at = tensor.extract %ids[%t] : tensor<2xindex>
    %v = tensor.extract %few[%at, %n, %k] : tensor<8x16x64xf32>
    linalg.yield %v : f32
  } -> tensor<2x16x64xf32>
  %y2 = linalg.generic {indexing_maps = [#x, #g, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %small : tensor<2x64xf32>, tensor<2x16x64xf32>) outs(%d : tensor<2x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x16xf32>
  %e3 = tensor.empty() : tensor<2x2048x64xf32>
  %other = linalg.generic {indexing_maps = [#g], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e3 : tensor<2x2048x64xf32>) {
  ^bb0(%o: f32):
    %t = linalg.index 0 : index
    %n = linalg.index 1 : index
    %k = linalg.index 2 : index
    %at = tensor.extract %ids[%t] : tensor<2xindex>
    %v = tensor.extract %turned[%at, %k, %n] : tensor<8x64x2048xf32>
    linalg.yield %v : f32
  } -> tensor<2x2048x64xf32>
  %y3 = linalg.generic {indexing_maps = [#x, #g, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %other : tensor<2x64xf32>, tensor<2x2048x64xf32>) outs(%c : tensor<2x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x2048xf32>
  return %copied, %y, %y2, %y3 : tensor<2x2048x64xf32>, tensor<2x2048xf32>, tensor<2x16xf32>, tensor<2x2048xf32>
}
