// RUN: strata-opt %s --strata-fuse-elementwise | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @chain(
// CHECK:         linalg.generic
// CHECK:           math.exp
// CHECK-NEXT:      arith.addf
// CHECK-NOT:     linalg.generic
func.func @chain(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %1 = math.exp %i : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %1 = arith.addf %i, %j : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// A contraction reads its operands many times: not computed again each time.
// CHECK-LABEL: func.func @product(
// CHECK:         math.exp
// CHECK:         linalg.generic
// CHECK:           arith.mulf
func.func @product(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %1 = math.exp %i : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %1 = arith.mulf %i, %j : f32
    %3 = arith.addf %1, %o : f32
    linalg.yield %3 : f32
  } -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// A narrower copy of what others read, too, is made where that is.
// CHECK-LABEL: func.func @conversion(
// CHECK:         %[[R:.*]]:2 = linalg.generic
// CHECK:           %[[E:.*]] = math.exp
// CHECK:           %[[T:.*]] = arith.truncf %[[E]] : f32 to bf16
// CHECK:           linalg.yield %[[E]], %[[T]]
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[R]]#0, %[[R]]#1
func.func @conversion(%x: tensor<?x8xf32>, %e: tensor<?x8xf32>, %n: tensor<?x8xbf16>) -> (tensor<?x8xf32>, tensor<?x8xbf16>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %1 = math.exp %i : f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<?x8xf32>) outs(%n : tensor<?x8xbf16>) {
  ^bb0(%i: f32, %o: bf16):
    %1 = arith.truncf %i : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<?x8xbf16>
  return %0, %2 : tensor<?x8xf32>, tensor<?x8xbf16>
}
